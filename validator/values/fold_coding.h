// Codings of constant texts.
#pragma once

#include <string>
#include <string_view>

namespace guard {

std::string encode_base64(std::string_view text);
std::string encode_hex(std::string_view text);

}  // namespace guard
