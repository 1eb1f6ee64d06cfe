// Reads of the environment whose value goes nowhere: compared or asked for only, or put aside and put back. Told from
// the code view, in which a name stands for what it was given: where a name still stands, it was not followed, and
// nothing is known.
#pragma once

#include <map>
#include <string_view>
#include <utility>

#include "validator/judge/code_text.h"

namespace guard {

class KeptVariables {
 public:
  // `code` must outlive it.
  explicit KeptVariables(const CodeText& code) : code_(code) {}

  // `name`: where fact.reads_variable found one in process.env.NAME, or the `[` of process.env[NAME].
  bool goes_nowhere(std::size_t name, std::size_t end);

 private:
  struct Place {
    std::size_t begin;  // of `process`
    std::size_t end;    // behind the name or `]`
  };

  bool is_only_asked(Place read) const;
  bool is_put_back(Place read) const;
  bool is_put_aside(Place read);
  std::string_view name_given(std::size_t value) const;
  bool in_block(std::size_t at) const;
  bool stands_nowhere_else(std::string_view name, std::string_view variable) const;

  const CodeText& code_;
  std::map<std::pair<std::string_view, std::string_view>, bool> kept_;  // by name and variable
};

}  // namespace guard
