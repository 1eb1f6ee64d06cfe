// Values that are known to be secret, as text to be searched for.
//
// A value (and its other spellings, spellings.h, its base64 in each of the three alignments, and its hex) of 16 bytes
// or more is hidden wherever 16 bytes in a row of it stand: assertion diffs print halves. A shorter value, of 6 bytes
// or more, is hidden where it stands whole. A value of several lines is hidden line by line, because it may be printed
// with another indentation.
#pragma once

#include <bitset>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "redact/stream/stream_text.h"

namespace guard {

struct KnownSecret;

class KnownValues {
 public:
  static constexpr std::size_t kFragmentBytes = 16;
  static constexpr std::size_t kWholeBytesMin = 6;

  struct Text {
    std::string text;  // no line end in it
    std::uint32_t kind = 0;
  };

  KnownValues();

  // Takes `value` under marker `kind`. Empty, or why it can't be hidden. Call index() after the last.
  std::string add(std::string_view value, std::uint32_t kind);
  void drop(std::uint32_t kind);  // forgets what was added under `kind`
  void index();

  // Where the text's end may be the beginning of a value: four bytes or more of one. The text's end where it can't.
  Offset begun_at_end(const StreamText& text, std::uint32_t& kind) const;

  bool empty() const noexcept { return long_.empty() && short_.empty(); }
  const ByteSet& bytes() const noexcept { return bytes_; }  // that stand in any of them, but for line ends

  // How many bytes at the end of `line` may be a part of a value that goes on behind it; none of those that are whole.
  std::size_t begun_before(std::string_view line) const;
  // Does a value go on behind `line` with `next`?
  bool goes_on(std::string_view line, std::string_view next) const;

  const std::vector<Text>& long_texts() const noexcept { return long_; }    // fragments count
  const std::vector<Text>& short_texts() const noexcept { return short_; }  // whole only

 private:
  friend class KnownFinder;
  static constexpr std::size_t kGramBytes = 8;
  struct Gram {
    std::uint64_t bytes = 0;
    std::uint32_t text = 0;  // into long_
    std::uint32_t offset = 0;
  };
  void add_text(std::string_view text, std::uint32_t kind);
  void add_part(std::string_view part);
  bool has_part(std::string_view part) const;

  std::vector<Text> long_;
  std::vector<Text> short_;
  std::vector<Gram> grams_;  // sorted by bytes
  std::unique_ptr<std::bitset<65536>> filter_;
  ByteSet bytes_;
  std::unique_ptr<std::bitset<65536>> parts_;  // beginnings of up to three bytes, and any four in a row
};

// Finds fragments of the long texts in a stream. Of any 16 bytes in a row, one place among every nine is the beginning
// of eight bytes inside; so every ninth place is looked up, and a hit is widened by at most eight bytes to either side.
class KnownFinder {
 public:
  explicit KnownFinder(const KnownValues& values) : values_(&values) {}

  void advance(const StreamText& text, std::vector<SecretSpan>& spans);

  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return frontier_; }

  // Is the byte before `at` part of a span that begins before `at`? For `at` <= frontier(), and not far behind it.
  bool hides_before(Offset at) const noexcept { return hidden_.hides_before(at); }

 private:
  void probe(const StreamText& text, Offset at, std::vector<SecretSpan>& spans);

  const KnownValues* values_;
  Offset next_ = 0;
  Offset frontier_ = 0;
  HiddenStretches hidden_;
};

}  // namespace guard
