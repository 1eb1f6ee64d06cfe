#include "common/text/base64.h"

#include <cstdint>

namespace guard {
namespace {

constexpr std::string_view kUrlDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

enum class Reading : std::uint8_t { strict, loose };

std::optional<std::string> decode(std::string_view text, Reading reading) {
  std::string bytes;
  std::uint32_t bits = 0;
  int filled = 0;
  for (const char digit : text) {
    const bool loose = reading == Reading::loose;
    if (loose && std::string_view("= \n\r\t").find(digit) != std::string_view::npos) continue;
    std::size_t value = kDigits.find(digit);
    if (loose && value == std::string_view::npos) value = kUrlDigits.find(digit);
    if (value == std::string_view::npos) return std::nullopt;
    bits = bits << 6 | static_cast<std::uint32_t>(value);
    filled += 6;
    if (filled < 8) continue;
    filled -= 8;
    bytes += static_cast<char>(bits >> filled & 0xff);
  }
  return bytes;
}

std::string encode(std::string_view bytes, std::string_view digits) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t group = 0;
    for (std::size_t i = 0; i < 3; ++i)
      group = group << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0);
    for (std::size_t i = 0; i < 4; ++i) text += i <= part.size() ? digits[(group >> (18 - 6 * i)) & 63] : '=';
  }
  return text;
}

}  // namespace

std::string base64url_encode(std::string_view bytes) { return encode(bytes, kUrlDigits); }
std::string base64_encode(std::string_view bytes) { return encode(bytes, kDigits); }

std::optional<std::string> base64_decode(std::string_view text) {
  const std::size_t padding = text.size() - (text.find_last_not_of('=') + 1);
  if (padding > 2 || (padding > 0 && text.size() % 4 != 0)) return std::nullopt;
  text.remove_suffix(padding);
  // One digit alone holds no byte.
  if (text.size() % 4 == 1) return std::nullopt;
  return decode(text, Reading::strict);
}

std::optional<std::string> base64_decode_loosely(std::string_view text) { return decode(text, Reading::loose); }

}  // namespace guard
