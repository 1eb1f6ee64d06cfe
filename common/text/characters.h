// Single characters of a text: UTF-8 and ASCII case.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace guard {

// Length of the UTF-8 sequence at the start of `text`, with its code point; 0 if there is no valid one (RFC 3629: no
// overlong forms, no surrogates, nothing over U+10FFFF).
std::size_t decode_utf8(std::string_view text, char32_t& point) noexcept;

// `point` need not be valid.
void append_utf8(char32_t point, std::string& text);

// Of ASCII letters; all other bytes stay.
std::string lower_case(std::string_view text);

}  // namespace guard
