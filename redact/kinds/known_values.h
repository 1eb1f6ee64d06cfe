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
#include <vector>

#include "redact/stream/stream_text.h"

namespace guard {

struct KnownText {
  std::string text;  // no line end in it
  std::uint32_t kind = 0;
};

// Where the parts of texts stand: of any `whole` bytes in a row of one, one place among every step() is where `gram`
// bytes begin that are in here. So only every so manieth place of a stream is looked up, and a hit is widened.
class GramIndex {
 public:
  GramIndex(std::size_t gram, std::size_t whole)
      : gram_(gram), whole_(whole), mask_(~std::uint64_t{0} >> (64 - 8 * gram)) {}
  void build(const std::vector<KnownText>& texts);  // must outlive this

  bool empty() const noexcept { return grams_.empty(); }
  std::size_t gram() const noexcept { return gram_; }
  std::size_t step() const noexcept { return whole_ - gram_ + 1; }
  // Looks up every step()th place from `at` to `last` and returns the next one. Adds what is found around each: as much
  // of one of the texts as has to stand there. All of it holds the same bytes, so it is one span; what begins first
  // names it.
  Offset look_up(const StreamText& text, Offset at, Offset last, std::vector<SecretSpan>& spans) const;

 private:
  struct Gram {
    std::uint64_t bytes = 0;
    const KnownText* text = nullptr;
    std::size_t offset = 0;
  };
  std::uint64_t load(std::string_view text) const;
  void widen(const StreamText& text, Offset at, std::uint64_t gram, std::vector<SecretSpan>& spans) const;

  std::size_t gram_;
  std::size_t whole_;
  std::uint64_t mask_;
  std::vector<Gram> grams_;  // sorted by bytes
  std::unique_ptr<std::bitset<65536>> filter_;
};

class KnownValues {
 public:
  static constexpr std::size_t kFragmentBytes = 16;
  static constexpr std::size_t kWholeBytesMin = 6;

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
  // Does `text` begin with a short value?
  bool begins_short(std::string_view text) const;

  const std::vector<KnownText>& long_texts() const noexcept { return long_; }    // fragments count
  const std::vector<KnownText>& short_texts() const noexcept { return short_; }  // whole only

 private:
  friend class KnownFinder;
  void add_text(std::string_view text, std::uint32_t kind);
  void add_part(std::string_view part);
  bool has_part(std::string_view part) const;

  std::vector<KnownText> long_;
  std::vector<KnownText> short_;
  GramIndex long_grams_{8, kFragmentBytes};
  GramIndex short_grams_{4, kWholeBytesMin};
  ByteSet bytes_;
  std::unique_ptr<std::bitset<65536>> parts_;  // beginnings of up to three bytes, and any four in a row
};

// Finds the values in a stream.
class KnownFinder {
 public:
  explicit KnownFinder(const KnownValues& values) : long_{&values.long_grams_}, short_{&values.short_grams_} {}

  void advance(const StreamText& text, std::vector<SecretSpan>& spans);

  // Every span that begins before this has been reported.
  Offset frontier() const noexcept { return std::min(long_.frontier, short_.frontier); }

  // Is the byte before `at` part of a span that begins before `at`? For `at` <= frontier(), and not far behind it.
  bool hides_before(Offset at) const noexcept { return hidden_.hides_before(at); }

 private:
  struct Search {
    const GramIndex* index;
    Offset next = 0;  // place to look up
    Offset frontier = 0;
    void advance(const StreamText& text, std::vector<SecretSpan>& spans);
  };
  Search long_;
  Search short_;
  HiddenStretches hidden_;
};

}  // namespace guard
