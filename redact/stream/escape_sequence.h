// What a reader of a terminal does not see between two characters: escape sequences and characters of no width. A
// secret that is split by one is still a secret.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <string_view>

#include "redact/stream/stream_text.h"

namespace guard {

struct Gap {
  enum class Kind : std::uint8_t {
    none,       // the first byte is text
    undecided,  // may become one
    escape,     // CSI, OSC and other strings, ESC with one byte: stays in the output, because a colour has to end
    invisible,  // no width, or any other control: inside a secret it is hidden with it
    written,    // not for a reader, but for a program: a character that is written as its number; all of it is hidden
  };
  Kind kind = Kind::none;
  std::size_t size = 0;

  static constexpr std::size_t kBytesMax = 256;  // a longer sequence is text: links are the longest in use
};

// `ended`: nothing follows, so nothing is undecided.
Gap gap_at(std::string_view text, bool ended);

// Is `byte`, which as a byte alone would be a C1 control, a part of a character of UTF-8 that `left` ends in?
bool is_inside_character(std::string_view left, char byte);

// Where the first byte is that may begin a gap; text.size() if there is none. Reads many bytes at a time.
std::size_t next_gap_byte(std::string_view text);
// One of the bytes that may begin a gap: may it do so behind and before those around it?
bool may_begin_gap(std::string_view text, std::size_t at);

// Finds the same in a stream, and line ends, and what may begin a character that is written as its number. Looks at
// many bytes at a time and remembers what it saw in them.
class PlaceScan {
 public:
  // The first from `from` on; text.end() if there is none. Of one stream, whose text only grows at its end.
  // `line_ends`: which LFs; the others are passed over.
  template <class LineEnds>
  Offset next(const StreamText& text, Offset from, LineEnds line_ends) {
    const std::string_view bytes = text.between(text.begin(), text.end());
    while (from < text.end()) {
      if (from < begin_ || from >= end_) look(text.from(from), from);
      std::size_t word = static_cast<std::size_t>(from - begin_) / 64;
      const std::size_t words = static_cast<std::size_t>(end_ - begin_ + 63) / 64;
      for (std::uint64_t left = words_[word] & (~std::uint64_t{0} << ((from - begin_) % 64));; left = words_[word]) {
        for (; left != 0; left &= left - 1) {
          const Offset at = begin_ + 64 * word + static_cast<std::size_t>(std::countr_zero(left));
          const auto here = static_cast<std::size_t>(at - text.begin());
          const char byte = bytes[here];
          if (byte == '\n' ? line_ends(bytes, here)
                           : static_cast<unsigned char>(byte) < 0x80 || may_begin_gap(bytes, here))
            return at;
        }
        if (++word == words) break;
      }
      from = end_;
    }
    return from;
  }

 private:
  void look(std::string_view block, Offset begin);
  static constexpr std::size_t kWords = 16;
  std::array<std::uint64_t, kWords> words_{};
  Offset begin_ = 0;
  Offset end_ = 0;
};

}  // namespace guard
