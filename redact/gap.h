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
    escape,     // CSI, OSC, a change of character set: stays in the output, because a colour has to end
    invisible,  // no width, or a control that prints nothing: inside a secret it is hidden with it
  };
  Kind kind = Kind::none;
  std::size_t size = 0;

  static constexpr std::size_t kBytesMax = 256;  // a longer sequence is text: links are the longest in use
};

// `ended`: nothing follows, so nothing is undecided.
Gap gap_at(std::string_view text, bool ended);

// Where the first byte is that may begin a gap; text.size() if there is none. Reads many bytes at a time.
std::size_t next_gap_byte(std::string_view text);

}  // namespace guard
