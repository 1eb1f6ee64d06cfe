// A regular expression for bytes, anchored at the first.
#pragma once

#include <cstddef>
#include <memory>
#include <mutex>
#include <string_view>

#include "common/result.h"

namespace re2 {
class RE2;
}

namespace guard {

// A pattern that is compiled when it is first needed: most runs print no candidate of most kinds, and compiling all of
// them would cost more than the rest of guard's start. Safe to share between threads.
class LazyPattern {
 public:
  explicit LazyPattern(std::string_view regex);  // must outlive this
  ~LazyPattern();

  // Anchored at the first byte of `text`. True with the bounds of group `group` set, false without a match; WITHHELD
  // where the pattern can't be compiled or the group took no part.
  Result<bool> match(std::string_view text, int group, std::size_t& begin, std::size_t& end) const;

 private:
  std::string_view regex_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<re2::RE2> compiled_;
};

}  // namespace guard
