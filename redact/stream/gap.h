// What a reader of a terminal does not see between two characters: escape sequences and characters of no width. A
// secret that is split by one is still a secret.
#pragma once

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
  char shows = 0;  // written: the character
  std::size_t size = 0;

  constexpr Gap() = default;
  constexpr Gap(Kind kind_in, std::size_t size_in, char shows_in = 0) : kind(kind_in), shows(shows_in), size(size_in) {}

  static constexpr std::size_t kBytesMax = 256;  // a longer sequence is text: links are the longest in use
};

// `ended`: nothing follows, so nothing is undecided.
Gap gap_at(std::string_view text, bool ended);

// Is `byte`, which as a byte alone would be a C1 control, a part of a character of UTF-8 that `left` ends in?
bool is_inside_character(std::string_view left, char byte);

constexpr bool may_be_written(char byte) noexcept { return byte == '&' || byte == '\\' || byte == '%'; }

// The character that is written as its number at the beginning of `text`: `&#115;`, `&#x73;`, `\x73`, `\u0073`,
// `\u{73}`, `\163`, `%73`, `%u0073`. Programs that print what others will read do so, whole values of them. Only
// characters that a secret may hold: none that are controls.
Gap written_at(std::string_view text, bool ended);

// The first place from `from` on where a gap, a line end or such a character may begin; text.size() if there is none.
std::size_t next_place(std::string_view text, std::size_t from);

}  // namespace guard
