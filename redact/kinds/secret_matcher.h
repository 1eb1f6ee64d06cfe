// The decision whether a candidate is a secret of its kind.
#pragma once

#include <cstddef>
#include <deque>
#include <string>
#include <string_view>

#include "common/result.h"
#include "redact/kinds/lazy_pattern.h"
#include "redact/kinds/secret_kind.h"

namespace guard {

// Bounds in the window that was judged. The tail goes on from `end`.
struct KindMatch {
  bool found = false;
  std::size_t begin = 0;
  std::size_t end = 0;
};

// What a decision looks at.
struct Candidate {
  std::string_view left;     // before the window: kLeftContextBytes of it, or less at the beginning
  bool left_masked = false;  // the byte before the window is hidden as part of a known value, so a reader of the output
                             // sees a marker's end there
  std::string_view window;
  std::size_t lead_bytes = 0;  // of the window stand before the prefix
};

// What was judged last, and was no secret. In a flood of prefixes each window is the same as the one before it:
// comparing them is much cheaper than judging them.
struct LastRefusal {
  std::string window;
  std::string left;  // where it counts
};

// Compiles the kind's patterns when they are first needed; safe to share between threads.
class SecretMatcher {
 public:
  explicit SecretMatcher(const SecretKind& kind);  // must outlive this
  Result<KindMatch> decide(const Candidate& candidate, LastRefusal* last = nullptr) const;

 private:
  Result<KindMatch> judge(std::string_view window) const;
  const SecretKind* kind_;
  std::deque<LazyPattern> patterns_;
  LazyPattern behind_;
  LazyPattern except_;
};

// False where the byte before a candidate makes it the inside of a word: `risk-...` is not `sk-...`. What looks like a
// letter but ends an escape (`\n`, `%3D`, `\u003d`, ESC[32m) is no part of a word.
bool at_word_start(std::string_view left);

}  // namespace guard
