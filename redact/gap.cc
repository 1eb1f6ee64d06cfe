#include "redact/gap.h"

#include <algorithm>

#include "redact/byte_scan.h"

namespace guard {
namespace {

constexpr char kEscape = '\x1b';
constexpr std::size_t kCsiBytesMax = 64;

constexpr Gap kText{Gap::Kind::none, 0};
constexpr Gap kUndecided{Gap::Kind::undecided, 0};

// Parameters, then intermediates, then one final byte.
Gap csi_at(std::string_view text) {
  std::size_t i = 2;
  while (i < text.size() && i < kCsiBytesMax && text[i] >= '0' && text[i] <= '?') ++i;
  while (i < text.size() && i < kCsiBytesMax && text[i] >= ' ' && text[i] <= '/') ++i;
  if (i == kCsiBytesMax) return kText;
  if (i == text.size()) return kUndecided;
  // Where a secret stood behind an ESC, or behind ESC [ and parameters, a marker stands now: "[REDACTED:...". No program
  // prints ESC [ R alone; it is what terminals answer.
  const bool marker = text[i] == '[' || (text[i] == 'R' && i == 2);
  return text[i] >= '@' && text[i] <= '~' && !marker ? Gap{Gap::Kind::escape, i + 1} : kText;
}

// Up to BEL or ESC \.
Gap osc_at(std::string_view text) {
  for (std::size_t i = 2; i < Gap::kBytesMax; ++i) {
    if (i == text.size()) return kUndecided;
    if (text[i] == '\a') return {Gap::Kind::escape, i + 1};
    if (text[i] == kEscape) {
      if (i + 1 == text.size()) return kUndecided;
      return text[i + 1] == '\\' ? Gap{Gap::Kind::escape, i + 2} : kText;
    }
    if (static_cast<unsigned char>(text[i]) < ' ') return kText;
  }
  return kText;
}

Gap escape_at(std::string_view text) {
  if (text.size() < 2) return kUndecided;
  if (text[1] == '[') return csi_at(text);
  if (text[1] == ']') return osc_at(text);
  if (text[1] == '(' || text[1] == ')') {
    if (text.size() < 3) return kUndecided;
    return text[2] > ' ' && text[2] <= '~' ? Gap{Gap::Kind::escape, 3} : kText;
  }
  return std::string_view("78=>DEHM").find(text[1]) != std::string_view::npos ? Gap{Gap::Kind::escape, 2} : kText;
}

// The last byte of the characters that begin with `lead`, all of them of no width.
struct Range {
  std::string_view lead;
  unsigned char first;
  unsigned char last;
};
constexpr Range kInvisible[] = {
    {"\xc2", 0xad, 0xad},      // soft hyphen
    {"\xcd", 0x8f, 0x8f},      // grapheme joiner
    {"\xd8", 0x9c, 0x9c},      // Arabic letter mark
    {"\xe1\xa0", 0x8b, 0x8e},  // Mongolian variation selectors and vowel separator
    {"\xe2\x80", 0x8b, 0x8f},  // zero-width space, joiners, marks of direction
    {"\xe2\x80", 0xaa, 0xae},  // embeddings
    {"\xe2\x81", 0xa0, 0xaf},  // word joiner, invisible operators, isolates
    {"\xef\xb8", 0x80, 0x8f},  // variation selectors
    {"\xef\xbb", 0xbf, 0xbf},  // byte order mark
    {"\xef\xbf", 0xb9, 0xbb},  // interlinear annotation
    {"\xf3\xa0\x80", 0x80, 0xbf},  // tags
    {"\xf3\xa0\x81", 0x80, 0xbf},
    {"\xf3\xa0\x84", 0x80, 0xbf},  // more variation selectors
    {"\xf3\xa0\x85", 0x80, 0xbf},
    {"\xf3\xa0\x86", 0x80, 0xbf},
    {"\xf3\xa0\x87", 0x80, 0xaf},
};

Gap invisible_at(std::string_view text) {
  Gap found = kText;
  for (const Range& range : kInvisible) {
    const std::size_t seen = std::min(text.size(), range.lead.size());
    if (text.substr(0, seen) != range.lead.substr(0, seen)) continue;
    if (text.size() <= range.lead.size()) {
      found = kUndecided;
      continue;
    }
    const auto last = static_cast<unsigned char>(text[range.lead.size()]);
    if (last >= range.first && last <= range.last) return {Gap::Kind::invisible, range.lead.size() + 1};
  }
  return found;
}

// Terminals print nothing for these: NUL, ENQ, BEL, backspace, changes of character set, DEL.
bool is_silent_control(char c) {
  return c == '\0' || c == 0x05 || c == '\a' || c == '\b' || c == 0x0e || c == 0x0f || c == 0x7f;
}

// Ticks, arrows and boxes share their first byte with what is invisible, and stand in every test report.
bool is_visible(std::string_view text) {
  if (text.size() < 2) return false;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  return (first == 0xe2 && second != 0x80 && second != 0x81) || (first == 0xe1 && second != 0xa0);
}

}  // namespace

Gap gap_at(std::string_view text, bool ended) {
  Gap found = kText;
  if (is_silent_control(text.front())) {
    found = {Gap::Kind::invisible, 1};
  } else if (text.front() == kEscape) {
    found = escape_at(text);
  } else if (static_cast<unsigned char>(text.front()) >= 0x80) {
    found = invisible_at(text);
  }
  return found.kind == Gap::Kind::undecided && ended ? kText : found;
}

std::size_t next_gap_byte(std::string_view text) {
  static const ByteScan begins(*ByteSet::parse("\\x00\\x05\\x07\\x08\\x0e\\x0f\\x1b\\x7f\\xc2\\xcd\\xd8\\xe1\\xe2\\xef\\xf3"));
  for (std::size_t at = begins.find(text); at < text.size(); at += 1 + begins.find(text.substr(at + 1))) {
    if (!is_visible(text.substr(at))) return at;
  }
  return text.size();
}

}  // namespace guard
