#include "validator/values/fold_coding.h"

#include <cstdint>

namespace guard {

std::string encode_base64(std::string_view text) {
  static constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  std::uint32_t bits = 0;
  int count = 0;
  for (const char c : text) {
    bits = (bits << 8 | static_cast<unsigned char>(c)) & 0xffffff;
    for (count += 8; count >= 6; count -= 6) out.push_back(kDigits[bits >> (count - 6) & 63]);
  }
  if (count > 0) out.push_back(kDigits[bits << (6 - count) & 63]);
  while (out.size() % 4 != 0) out.push_back('=');
  return out;
}

std::string encode_hex(std::string_view text) {
  std::string out;
  for (const char c : text) {
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) >> 4]);
    out.push_back("0123456789abcdef"[static_cast<unsigned char>(c) & 15]);
  }
  return out;
}

}  // namespace guard
