// What must not come back of a key that a request was sent with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// Shorter parts of a key stand anywhere.
inline constexpr std::size_t kHiddenBytesMin = 8;

// A run of letters and digits that is looked for alone. Whoever can have a server send all texts of a length would
// find a shorter one by its stars, and a key of several runs piece by piece.
inline constexpr std::size_t kHiddenRunMin = 16;
inline constexpr std::size_t kHiddenHexRunMin = 22;  // of hex digits alone

// Of a header that holds `prefix` and `value` ("Bearer ", "KEY"; "Basic ", "dXNlcjpwYXNzd29yZA=="): the value, each
// word of both of 8 bytes or more, and what Basic says encoded, the password also alone.
std::vector<std::string> words_of_key(std::string_view prefix, std::string_view value);

// These, and the long runs of letters and digits in them; all of them as they are, in base64 wherever it begins, in
// hex, percent-encoded, as texts of JSON and HTML, in small and in capital letters. Each once, of 8 bytes at least.
std::vector<std::string> forms_of_key(std::string_view prefix, std::string_view value);

}  // namespace guard
