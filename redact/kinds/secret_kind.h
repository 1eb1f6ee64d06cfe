// One secret rule made ready: which literals give a candidate away, and what is needed to decide whether it is a secret
// (secret_matcher.h).
//
// A pattern sees the line of the match; one in which `\r?\n` stands also the line below, where that of the match ends
// with a name and few signs (decision_window()). The keys of `redact` in a rule (all as text):
//   prefix    literals of 3 to 60 bytes, separated by blanks; one of them begins every match. "%20" stands for a blank.
//   nocase    "true": letters of the prefix match in either case
//   next      bytes one of which follows the prefix. Needed for prefixes of fewer than 5 bytes: they stand in ordinary
//             text so often that the scan has to look at one byte more before it calls for a decision
//   left      "word" (default): no letter or digit may stand before a match; "any": anything may
//   behind    pattern that all of what stands before a match must fit, of which kLeftContextBytes are looked at
//   lead      bytes that may stand before the prefix and belong to the match, at most lead_max of them
//   tail      bytes that go on belonging to the secret after the pattern's group, without limit; "A-Za-z0-9_-" by
//             default
//   except    pattern, anchored at the group's first byte, of values that are no secret
//   needs     sets of bytes, separated by blanks; each has a byte among the first 64 of the value (the group and what
//             of the tail follows it in the window)
//   min       so many bytes the value has at least, all of them of `tail`. That is soon seen, where a name is a common
//             word, and so is whether they are what it needs
//   entropy   the Shannon entropy that these 64 bytes have at least, in bits a byte ("3.5"). Only for a pattern with a
//             group that is followed by the value's end and not by "[": a value cut short by a marker must not count
//   machine   "pem" (the pattern is the first line, the lines after it are followed) or "run" (no pattern and no
//             prefix: `min` or more bytes of `chars` in a row, kRunDistinctMin different ones and one of each set in
//             `needs` among each `min` of them, then up to two of `pad`)
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "redact/kinds/byte_set.h"
#include "redact/stream/stream_text.h"
#include "rules/rule.h"

namespace guard {

struct SecretPattern {
  std::string_view regex;
  int group = 0;  // that is the secret
};

// Plain data, so that the shipped kinds can lie in read-only memory. The texts must outlive it.
struct SecretKind {
  enum class Machine : std::uint8_t { token, pem, run };

  std::string_view rule_id;
  std::string_view name;
  Machine machine = Machine::token;
  std::span<const std::string_view> prefixes;
  bool fold_case = false;
  ByteSet next;  // empty: any byte, or none, may follow the prefix
  bool any_left = false;
  std::string_view behind;  // empty: it does not matter
  ByteSet lead;
  std::size_t lead_max = 0;
  ByteSet tail;
  bool has_group = false;  // the secret is a part of the match: a name stands before it
  Value value = Value::same_line;
  std::span<const ByteSet> needs;
  double entropy_min = 0;
  std::size_t size_min = 0;  // of a value; of a run
  std::span<const SecretPattern> patterns;
  std::string_view except;  // empty: nothing is excepted

  // Machine::run
  ByteSet run_chars;
  ByteSet run_pad;

  // Known by a name and by the looks of the value alone.
  bool by_looks() const noexcept { return entropy_min > 0; }
  // A broken line is put together again only for tokens: what goes on to a quote may go on with prose.
  bool wraps() const noexcept { return machine == Machine::token && !tail.has('!'); }
};

// Where the texts and lists of kinds live that are read from rules.
class KindTexts {
 public:
  std::string_view keep(std::string text) { return texts_.emplace_back(std::move(text)); }
  std::span<const std::string_view> keep(std::vector<std::string_view> list) {
    return lists_.emplace_back(std::move(list));
  }
  std::span<const ByteSet> keep(std::vector<ByteSet> list) { return sets_.emplace_back(std::move(list)); }
  std::span<const SecretPattern> keep(std::vector<SecretPattern> list) {
    return patterns_.emplace_back(std::move(list));
  }

 private:
  std::deque<std::string> texts_;  // deques: what was kept stays where it is
  std::deque<std::vector<std::string_view>> lists_;
  std::deque<std::vector<ByteSet>> sets_;
  std::deque<std::vector<SecretPattern>> patterns_;
};

Result<SecretKind> read_secret_kind(const Rule& rule, KindTexts& texts);

inline constexpr std::size_t kRunPadMax = 2;
// A letter that is repeated and a ruler of a few signs are no secret. Of 101 characters of base64 some 50 differ.
inline constexpr std::size_t kRunDistinctMin = 10;
// More of them in `size_min` bytes make a path. Of 101 characters of base64 one or two are slashes.
inline constexpr std::size_t kRunSlashesMax = 8;

// One of these is missing for `window`, `size_min` bytes, to be a secret; nothing if it is one.
std::optional<ByteSet> missing_in_run(const SecretKind& kind, std::string_view window);

}  // namespace guard
