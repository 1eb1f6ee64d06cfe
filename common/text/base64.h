// Base64 of RFC 4648, for what other programs' formats carry in it.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace guard {

// The alphabet of section 5 ('-' and '_'), padded.
std::string base64url_encode(std::string_view bytes);
// That of section 4 ('+' and '/'), padded.
std::string base64_encode(std::string_view bytes);

// The alphabet of section 4 ('+' and '/'), with or without padding. Nothing for anything else, line ends too.
std::optional<std::string> base64_decode(std::string_view text);

// As runtimes read it: either alphabet, blanks and padding wherever they stand, a last digit that says nothing.
std::optional<std::string> base64_decode_loosely(std::string_view text);

}  // namespace guard
