// Line ends in the middle of a secret: a terminal, a pretty-printer or a mail program broke it at a column.
//
// Each line end is judged by what stands before it and by the next line's first word, behind blanks and what else is
// put before lines (`| `, `12 | `, `web_1  | `, `> `, `// `). It is a seam where
//   - a secret has begun before it and is none yet: a part of its literal or more, or a known value that the next line
//   goes on with;
//   - a whole secret reaches it, and the next line looks like more: a line of its own as wide as the one before, or
//     anything that does not read as words.
// The shadow of the stream (visible_text.h) is without its seams. Nobody else has to know of them.
#pragma once

#include <algorithm>
#include <array>
#include <bitset>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redact/kinds/secret_source.h"
#include "redact/stream/stream_text.h"
#include "redact/stream/trigger_scan.h"

namespace guard {

struct SecretKind;

// Words, numbers, names, dates and versions, joined by signs: "getElementById", "2024-05-01T12", "v1.2", "FAILED".
bool reads_as_words(std::string_view text);

// The lines that were joined so far.
struct Column {
  bool joined = false;
  bool ended = false;                // the last piece was shorter than the one before it
  std::size_t width = 0;             // of the last piece
  std::size_t lead = 0;              // bytes put before the first line
  const SecretKind* kind = nullptr;  // of the whole secret that reached the last seam
};

// What a reader sees before a line end.
struct SeenLine {
  static constexpr std::size_t kBytesMax = 320;
  std::string_view text;  // from the line's beginning, or kBytesMax of it
  Offset begin = 0;       // of it, in the reading that it is seen in
  std::size_t piece = 0;  // bytes of it behind the last seam

  std::string_view last_piece() const { return text.substr(text.size() - std::min(piece, text.size())); }
};

// The beginning of the line behind a line end, as a reader sees it.
struct NextLine {
  static constexpr std::size_t kBytesMax = 96;
  // `any`: the line may go on with anything, not only with a word.
  NextLine(const StreamText& text, Offset line, bool any);

  bool seen = false;  // as far as it is looked at
  bool ends = false;  // with its end in it
  bool known;         // a known value may have begun before it
  Offset begin;
  std::size_t lead = 0;  // bytes of what is put before lines
  std::size_t size = 0;
  std::array<char, kBytesMax> bytes;
  std::array<std::uint16_t, kBytesMax> offsets;

  std::string_view text() const { return {bytes.data(), size}; }
  bool may_go_on() const;  // with a secret; also where not enough is seen
};

struct Seam {
  enum class Is : std::uint8_t { no, undecided, yes } is = Is::no;
  std::size_t live = 0;  // so many bytes of the line may belong to a secret
  Offset line = 0;       // the next line begins here, as far as is known
  Offset word = 0;       // yes: and its first word here
};

// What a line may end in, of all kinds that may be broken. Immutable.
class SeamTable {
 public:
  explicit SeamTable(const SecretSource::State& secrets);  // must outlive this

  // May a literal begin with `rest`, up to three bytes at a line's end? `left` stands before it.
  bool may_begin_with(std::string_view rest, std::string_view left) const;
  // Triggers whose literal begins with `first`.
  std::span<const Trigger> begun_with(char first) const { return begun_[static_cast<unsigned char>(first)]; }

 private:
  // Slots of the first one, two and three bytes of literals; of a kind with a name only of whole literals.
  std::bitset<4096> few_;
  std::bitset<4096> led_;  // of kinds to which bytes before the literal belong
  std::array<std::vector<Trigger>, 256> begun_;
};

class SeamFinder {
 public:
  explicit SeamFinder(const SecretSource::State& secrets);  // must outlive this

  // Most line ends are none by the two bytes around them, if nothing in the line is not shown.
  bool may_stand_at(std::string_view text, std::size_t at) const {
    return at == 0 || (ends_.has(text[at - 1]) && (at + 1 == text.size() || begins_.has(text[at + 1])));
  }

  // And most others by a few. `left`: some bytes before the line end at `at`.
  bool may_be(const StreamText& text, Offset at, const SeenLine& left) const;

  // And most that are left by what stands in the line: between() would find nothing at its end. `triggers` has looked
  // at the line.
  bool may_end(const SeenLine& line, TriggerScan& triggers, const Column& column) const;

  // The line behind the line end at `at`, which may be one.
  NextLine next_line(const StreamText& text, Offset at, const SeenLine& left) const;

  // Of the line end between both. Brings `column` up to date where that is decided.
  Seam between(const SeenLine& line, TriggerScan& triggers, const NextLine& next, Column& column);

 private:
  // What of a secret stands at the end of a line.
  struct End {
    std::size_t live = 0;              // 0: nothing
    const SecretKind* kind = nullptr;  // of a whole one; else one has begun
    bool header = false;               // that of a PEM key
  };
  // `whole`: also a whole one, wherever it begins.
  End end_of(const SeenLine& line, TriggerScan& triggers, const Column& column, bool whole) const;
  // Of a line that was joined, without judging again what was judged a moment ago: in a flood of equal lines each ends
  // as the one before it.
  End end_of_joined(const SeenLine& line, TriggerScan& triggers, const Column& column);
  bool begins_literal(std::string_view text) const;
  Offset next_live(const StreamText& text, TriggerScan& triggers, Offset from) const;
  // A value may also begin behind the last seam: that may be none.
  std::size_t known_before(const SeenLine& line) const;

  const SecretSource::State* secrets_;
  ByteSet ends_;    // what may stand before a seam
  ByteSet begins_;  // and behind it
  // Lines that were joined: all that end_of() looks at, and what it answered.
  struct Judged {
    std::string text;
    std::size_t piece = 0;
    const SecretKind* kind = nullptr;
    End end;
  };
  std::array<Judged, 4> judged_;
  std::size_t next_judged_ = 0;
};

}  // namespace guard
