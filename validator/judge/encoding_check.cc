#include "validator/judge/encoding_check.h"

#include <algorithm>
#include <cstring>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::string_view kSaveAsUtf8 = "Save the file as UTF-8 without a byte order mark.";

// Offset of the first byte that is not part of valid UTF-8. Called only where there is one.
std::size_t first_invalid(std::string_view bytes) {
  std::size_t good = 0;
  std::size_t bad = bytes.size();
  // The longest valid prefix that ends at a character; halving keeps it simple and is done once per bad file.
  while (good + 1 < bad) {
    std::size_t middle = good + (bad - good) / 2;
    std::size_t cut = middle;
    while (cut > good && (static_cast<unsigned char>(bytes[cut]) & 0xc0) == 0x80 && middle - cut < 4) --cut;
    if (cut > good && is_utf8(bytes.substr(good, cut - good))) {
      good = cut;
    } else if (cut <= good) {
      break;
    } else {
      bad = cut;
    }
  }
  return good;
}

// UTF-16 without a mark: every other byte of a text in a Latin script is zero.
bool looks_like_utf16(std::string_view bytes) noexcept {
  const std::string_view head = bytes.substr(0, 1024);
  std::size_t zeros[2] = {0, 0};
  for (std::size_t i = 0; i < head.size(); ++i) zeros[i % 2] += head[i] == '\0' ? 1 : 0;
  const std::size_t half = head.size() / 2;
  return head.size() >= 8 && (zeros[0] * 10 >= half * 6 || zeros[1] * 10 >= half * 6);
}

// U+202A..U+202E and U+2066..U+2069. Zero-width joiners are left alone: emoji need them.
std::size_t find_bidi_control(std::string_view bytes) noexcept {
  // One search for the byte that all of them begin with: a search for each prefix would read the whole rest again
  // behind every dash of a text.
  for (std::size_t at = bytes.find('\xe2'); at != std::string_view::npos; at = bytes.find('\xe2', at + 1)) {
    if (at + 2 >= bytes.size()) break;
    const char second = bytes[at + 1];
    const auto last = static_cast<unsigned char>(bytes[at + 2]);
    if (second == '\x80' && last >= 0xaa && last <= 0xae) return at;
    if (second == '\x81' && last >= 0xa6 && last <= 0xa9) return at;
  }
  return std::string_view::npos;
}

}  // namespace

std::vector<EncodingFault> check_encoding(std::string_view bytes) {
  std::vector<EncodingFault> faults;
  const bool utf32 = bytes.substr(0, 4) == std::string_view("\xff\xfe\0\0", 4) ||
      bytes.substr(0, 4) == std::string_view("\0\0\xfe\xff", 4);
  const bool utf16 = bytes.substr(0, 2) == "\xff\xfe" || bytes.substr(0, 2) == "\xfe\xff" || looks_like_utf16(bytes);
  if (utf32 || utf16) {
    faults.push_back({"encoding.not_utf8", utf32 ? "the file is UTF-32" : "the file is UTF-16", kSaveAsUtf8, 0,
        std::min<std::size_t>(bytes.size(), 2)});
  } else if (!is_utf8(bytes)) {
    const std::size_t at = first_invalid(bytes);
    faults.push_back({"encoding.invalid_utf8", "bytes that are not UTF-8", "Save the file as UTF-8.", at, at + 1});
  }
  const void* const zero = bytes.empty() ? nullptr : std::memchr(bytes.data(), '\0', bytes.size());
  if (zero != nullptr) {
    const auto at = static_cast<std::size_t>(static_cast<const char*>(zero) - bytes.data());
    faults.push_back(
        {"encoding.nul_byte", "a NUL byte", "Write \\0 in a string instead of the byte itself.", at, at + 1});
  }
  const std::size_t bidi = find_bidi_control(bytes);
  if (bidi != std::string_view::npos) {
    faults.push_back(
        {"encoding.bidi_control", "a bidirectional control character, which makes code look like something else",
            "Remove it; in a string write it as an escape (\\u202e).", bidi, bidi + 3});
  }
  return faults;
}

}  // namespace guard
