#include "common/text/cpp_literal.h"

#include <fmt/format.h>

namespace guard {

std::string cpp_literal(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f || c == '?') {
      out += fmt::format("\\{:03o}", byte);  // three digits always: a digit that follows is not swallowed
    } else {
      out += c;
    }
  }
  return out + "\"sv";
}

}  // namespace guard
