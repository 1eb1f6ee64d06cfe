// RE2 over bytes: the exact span and captures of one pattern, leftmost and longest. The only file that sees RE2.
//
// Safe to use from several threads.
#pragma once

#include <cstddef>
#include <memory>
#include <string_view>

#include "common/result.h"

namespace guard {

struct ExactSpan {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::size_t captured_begin = 0;  // the wanted group; the whole match where the group took no part
  std::size_t captured_end = 0;
};

class Re2Matcher {
 public:
  // `regex` as rewrite_regex() leaves it. RULES_INVALID with RE2's reason.
  static Result<Re2Matcher> create(std::string_view regex);
  Re2Matcher(Re2Matcher&&) noexcept;
  Re2Matcher& operator=(Re2Matcher&&) noexcept;
  ~Re2Matcher();

  // The leftmost of the matches within [from, to), and the longest of those. What stands before and after is seen by
  // anchors and \b, so a window says the same as the whole text, if it holds the match. False: there is none.
  // Linear in to - from: where RE2's automaton runs out of memory it goes on with a slower one, it never gives up.
  Result<bool> find(std::string_view text, std::size_t from, std::size_t to, unsigned capture, ExactSpan& span) const;

  unsigned groups() const noexcept;
  bool matches_empty() const;

 private:
  struct State;
  explicit Re2Matcher(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace guard
