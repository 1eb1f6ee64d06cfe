// Characters that are written as their numbers: `&#115;`, `&#x73;`, `\x73`, `\u0073`, `\u{73}`, `\163`, `%73`,
// `%u0073`. Programs that print what others will read do so, whole values of them.
#pragma once

#include <cstdint>
#include <string_view>

namespace guard {

struct Written {
  enum class Is : std::uint8_t { no, undecided, yes } is = Is::no;
  std::size_t size = 0;
  char byte = 0;
};

constexpr bool may_be_written(char byte) noexcept { return byte == '&' || byte == '\\' || byte == '%'; }

// What stands at the beginning of `text`. Only characters that a secret may hold: none that are controls.
// `ended`: nothing follows, so nothing is undecided.
Written written_at(std::string_view text, bool ended);

}  // namespace guard
