#include "common/text/characters.h"

namespace guard {

std::size_t decode_utf8(std::string_view text, char32_t& point) noexcept {
  const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0U; };
  const unsigned first = byte(0);
  if (first < 0x80) {
    point = first;
    return text.empty() ? 0 : 1;
  }
  const std::size_t size = first < 0xC2 ? 0 : first < 0xE0 ? 2 : first < 0xF0 ? 3 : first < 0xF5 ? 4 : 0;
  if (size == 0) return 0;
  point = first & (0x7Fu >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xC0) != 0x80) return 0;
    point = point << 6 | (byte(i) & 0x3F);
  }
  const bool is_surrogate = point >= 0xD800 && point <= 0xDFFF;
  return (size == 3 && point < 0x800) || (size == 4 && point < 0x10000) || point > 0x10FFFF || is_surrogate ? 0 : size;
}

void append_utf8(char32_t point, std::string& text) {
  const int more = point < 0x80 ? 0 : point < 0x800 ? 1 : point < 0x10000 ? 2 : 3;
  constexpr unsigned kLeads[] = {0, 0xC0, 0xE0, 0xF0};
  text += static_cast<char>(kLeads[more] | (point >> (6 * more)));
  for (int i = more; i-- > 0;) text += static_cast<char>(0x80 | ((point >> (6 * i)) & 0x3F));
}

std::string lower_case(std::string_view text) {
  std::string lower(text);
  for (char& c : lower) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c + ('a' - 'A')) : c;
  return lower;
}

}  // namespace guard
