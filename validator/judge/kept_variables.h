// Reads of the environment whose value goes nowhere: compared or asked for only, or put aside and put back. Told from
// the code view, in which a name stands for what it was given: where a name still stands, it was not followed, and
// nothing is known.
#pragma once

#include <cstddef>
#include <map>
#include <string_view>
#include <utility>
#include <vector>

namespace guard {

class KeptVariables {
 public:
  // Of the code view of one file, which must stay as it is.
  KeptVariables() = default;
  explicit KeptVariables(std::string_view code) : code_(code) {}

  // `name`: where fact.reads_variable found one in process.env.NAME, or the `[` of process.env[NAME].
  bool goes_nowhere(std::size_t name, std::size_t end) const;

 private:
  struct Place {
    std::size_t begin;  // of `process`
    std::size_t end;    // behind the name or `]`
  };

  bool is_only_asked(Place read) const;
  bool is_put_back(Place read) const;
  bool is_put_aside(Place read) const;
  std::string_view name_given(std::size_t value) const;
  bool in_block(std::size_t at) const;
  bool opens_block(std::size_t brace) const;
  bool stands_nowhere_else(std::string_view name, std::string_view variable) const;

  struct Change {
    std::size_t at;
    bool block;
  };

  std::string_view code_;
  mutable std::vector<Change> changes_;  // at each brace, in order; made when first needed
  mutable std::map<std::pair<std::string_view, std::string_view>, bool> kept_;  // by name and variable
};

}  // namespace guard
