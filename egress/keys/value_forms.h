// What must not come back of a key that a request was sent with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// Shorter parts of a key stand anywhere.
inline constexpr std::size_t kHiddenBytesMin = 8;

// Of what a header holds ("Bearer KEY", "Basic dXNlcjpwYXNzd29yZA=="): each word of 8 bytes or more, and what Basic
// says encoded, the password also alone.
std::vector<std::string> words_of_key(std::string_view header_value);

// These, and the runs of letters and digits in them of 8 bytes or more; all of them as they are, in base64 wherever it
// begins, in hex, percent-encoded and as texts of JSON. Each once, of 8 bytes at least.
std::vector<std::string> forms_of_key(std::string_view header_value);

}  // namespace guard
