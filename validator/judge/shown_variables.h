// Environment variables that a test shows: what it compares, throws, or writes into a title is printed when it fails.
// The ways from the read to there that are followed: names, members, templates, literals, functions that give it back,
// and containers and texts of the language. What an imported function makes of it is not.
#pragma once

#include <cstddef>
#include <set>

#include "validator/judge/code_text.h"

namespace guard {

class ShownVariables {
 public:
  // For all reads of a file together, in bytes and places looked at.
  static constexpr std::size_t kWorkMax = 16'000'000;

  // `code` must outlive it. Without any work left a variable counts as shown.
  explicit ShownVariables(const CodeText& code, std::size_t work = kWorkMax);

  // `begin`, `end`: of a read, "process.env.NAME".
  bool contain(std::size_t begin, std::size_t end);

 private:
  const CodeText& code_;
  std::set<std::string_view> fakes_;  // names that are given a fake function of a test library: f = mock(...)
  std::size_t work_;
};

}  // namespace guard
