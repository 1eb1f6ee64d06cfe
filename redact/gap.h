// What a reader of a terminal does not see between two characters: escape sequences and characters of no width. A
// secret that is split by one is still a secret.
#pragma once

#include <cstdint>
#include <string_view>

namespace guard {

struct Gap {
  enum class Kind : std::uint8_t {
    none,       // the first byte is text
    undecided,  // may become one
    escape,     // CSI, OSC and other strings, ESC with one byte: stays in the output, because a colour has to end
    invisible,  // no width, or any other control: inside a secret it is hidden with it
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

}  // namespace guard
