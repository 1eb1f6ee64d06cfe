// One secret rule made ready: which literals give a candidate away, and the decision whether a candidate is a secret.
//
// The keys of `redact` in a rule (all as text):
//   prefix    literals of 3 to 60 bytes, separated by blanks; one of them begins every match. "%20" stands for a blank.
//   nocase    "true": letters of the prefix match in either case
//   next      bytes one of which follows the prefix. Needed for prefixes of fewer than 5 bytes: they stand in ordinary
//             text so often that the scan has to look at one byte more before it calls for a decision
//   left      "word" (default): no letter or digit may stand before a match; "any": anything may
//   lead      bytes that may stand before the prefix and belong to the match, at most lead_max of them
//   tail      bytes that go on belonging to the secret after the pattern's group, without limit; "A-Za-z0-9_-" by
//             default
//   except    pattern, anchored at the group's first byte, of values that are no secret
//   needs     sets of bytes, separated by blanks; each has a byte among the first 64 of the value (the group and what
//             of the tail follows it in the window)
//   entropy   the Shannon entropy that these 64 bytes have at least, in bits a byte ("3.5"). Only for a pattern with a
//             group that is followed by the value's end and not by "[": a value cut short by a marker must not count
//   machine   "pem" (the pattern is the first line, the lines after it are followed) or "run" (no pattern and no
//             prefix: `min` or more bytes of `chars` in a row, one of each set in `needs`, then up to two of `pad`)
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "redact/byte_set.h"
#include "rules/rule.h"

namespace guard {

// A pattern that is compiled when it is first needed: most runs print no candidate of most kinds, and compiling all of
// them would cost more than the rest of guard's start. Safe to share between threads.
class LazyPattern {
 public:
  explicit LazyPattern(std::string regex);
  ~LazyPattern();
  LazyPattern(LazyPattern&&) noexcept;

  // Anchored at the first byte of `text`. True with the bounds of group `group` set, false without a match; WITHHELD
  // where the pattern can't be compiled or the group took no part.
  Result<bool> match(std::string_view text, int group, std::size_t& begin, std::size_t& end) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// Bounds in the window that was judged. The tail goes on from `end`. Where a value was excepted, found is false and
// `end` is that of the exception: what begins inside it is the same no-secret again.
struct KindMatch {
  bool found = false;
  std::size_t begin = 0;
  std::size_t end = 0;
};

class SecretKind {
 public:
  enum class Machine : std::uint8_t { token, pem, run };

  static Result<SecretKind> create(const Rule& rule);

  // `left`: what stands before the window (kLeftContextBytes of it, or less at the beginning). `left_masked`: the byte
  // before the window is hidden as part of a known value, so a reader of the output sees a marker's end there.
  // `lead_bytes`: how many bytes of the window stand before the prefix.
  Result<KindMatch> decide(std::string_view left, bool left_masked, std::string_view window,
                           std::size_t lead_bytes) const;

  // Known by a name and by the looks of the value alone.
  bool by_looks() const noexcept { return entropy_min > 0; }

  std::string rule_id;
  std::string name;
  Machine machine = Machine::token;
  std::vector<std::string> prefixes;
  bool fold_case = false;
  ByteSet next;  // empty: any byte, or none, may follow the prefix
  bool any_left = false;
  ByteSet lead;
  std::size_t lead_max = 0;
  ByteSet tail;
  bool has_group = false;  // the secret is a part of the match: a name stands before it
  std::vector<ByteSet> needs;
  double entropy_min = 0;

  // A broken line is put together again only for tokens: what goes on to a quote may go on with prose.
  bool wraps() const noexcept { return machine == Machine::token && !tail.has('!'); }

  // Machine::run
  ByteSet run_chars;
  std::size_t run_min = 0;
  ByteSet run_pad;

 private:
  bool looks_random(std::string_view value) const;
  bool begins(std::string_view text) const;
  struct Shape {
    LazyPattern pattern;
    int group;
  };
  std::vector<Shape> shapes_;
  std::unique_ptr<LazyPattern> except_;
};

// False where the byte before a candidate makes it the inside of a word: `risk-...` is not `sk-...`. What looks like a
// letter but ends an escape (`\n`, `%3D`, `\u003d`, ESC[32m) is no part of a word.
bool at_word_start(std::string_view left);

inline constexpr std::size_t kRunPadMax = 2;

}  // namespace guard
