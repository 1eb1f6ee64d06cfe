#include "redact/stream/escape_sequence.h"

#include <algorithm>

#include "redact/literals/byte_scan.h"

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
  // Where a secret stood behind an ESC, or behind ESC [ and parameters, a marker stands now: "[REDACTED:...". No
  // program prints ESC [ R alone; it is what terminals answer.
  const bool marker = text[i] == '[' || (text[i] == 'R' && i == 2);
  return text[i] >= '@' && text[i] <= '~' && !marker ? Gap{Gap::Kind::escape, i + 1} : kText;
}

// OSC and the other strings to a terminal, whose introducer has `introducer` bytes: up to BEL, ESC \ or, behind a C1
// control, the C1 control that ends one.
Gap string_at(std::string_view text, std::size_t introducer, std::string_view c1_end) {
  for (std::size_t i = introducer; i < Gap::kBytesMax; ++i) {
    if (i == text.size()) return kUndecided;
    if (text[i] == '\a') return {Gap::Kind::escape, i + 1};
    if (text[i] == kEscape) {
      if (i + 1 == text.size()) return kUndecided;
      return text[i + 1] == '\\' ? Gap{Gap::Kind::escape, i + 2} : kText;
    }
    if (!c1_end.empty() && text.substr(i).starts_with(c1_end)) return {Gap::Kind::escape, i + c1_end.size()};
    if (static_cast<unsigned char>(text[i]) < ' ') return kText;
  }
  return kText;
}

constexpr std::string_view kStrings = "]PX^_";  // OSC, DCS, SOS, PM, APC
constexpr unsigned char kC1First = 0x80;
constexpr unsigned char kC1Last = 0x9f;

Gap escape_at(std::string_view text) {
  if (text.size() < 2) return kUndecided;
  if (text[1] == '[') return csi_at(text);
  if (kStrings.find(text[1]) != std::string_view::npos) return string_at(text, 2, {});
  std::size_t end = 1;
  while (end < text.size() && end < 4 && text[end] >= ' ' && text[end] <= '/') ++end;
  if (end > 1) {  // intermediates: changes of character set and the like
    if (end == text.size()) return kUndecided;
    return text[end] > ' ' && text[end] <= '~' ? Gap{Gap::Kind::escape, end + 1} : kText;
  }
  return std::string_view("0123456789:;<=>?DEHMNOVWZ`cno|}~").find(text[1]) != std::string_view::npos
      ? Gap{Gap::Kind::escape, 2}
      : kText;
}

// A C1 control of `size` bytes, which is the second half of an ESC sequence in one. Most terminals ignore them; those
// that do not take what a program means to send, so a sequence has to be one that is in use.
Gap c1_at(std::string_view text, std::size_t size) {
  const Gap alone{Gap::Kind::invisible, size};
  const char second = static_cast<char>(static_cast<unsigned char>(text[size - 1]) - kC1First + '@');
  if (second == '[') {
    std::size_t i = size;
    while (i < text.size() && i < kCsiBytesMax && text[i] >= '0' && text[i] <= '?') ++i;
    if (i == text.size()) return kUndecided;
    return i > size && text.substr(0, i).find(':') == std::string_view::npos &&
            std::string_view("mKJHABCDGhlr").find(text[i]) != std::string_view::npos
        ? Gap{Gap::Kind::escape, i + 1}
        : alone;
  }
  if (kStrings.find(second) == std::string_view::npos) return alone;
  const Gap string = string_at(text, size, size == 1 ? std::string_view("\x9c") : std::string_view("\xc2\x9c"));
  return string.kind == Gap::Kind::none ? alone : string;
}

bool is_c1(char c) { return static_cast<unsigned char>(c) >= kC1First && static_cast<unsigned char>(c) <= kC1Last; }

// The last byte of the characters that begin with `lead`, all of them of no width.
struct Range {
  std::string_view lead;
  unsigned char first;
  unsigned char last;
};
constexpr Range kInvisible[] = {
    {"\xc2", 0xad, 0xad},          // soft hyphen
    {"\xcd", 0x8f, 0x8f},          // grapheme joiner
    {"\xd8", 0x9c, 0x9c},          // Arabic letter mark
    {"\xe1\xa0", 0x8b, 0x8e},      // Mongolian variation selectors and vowel separator
    {"\xe2\x80", 0x8b, 0x8f},      // zero-width space, joiners, marks of direction
    {"\xe2\x80", 0xaa, 0xae},      // embeddings
    {"\xe2\x81", 0xa0, 0xaf},      // word joiner, invisible operators, isolates
    {"\xef\xb8", 0x80, 0x8f},      // variation selectors
    {"\xef\xbb", 0xbf, 0xbf},      // byte order mark
    {"\xef\xbf", 0xb9, 0xbb},      // interlinear annotation
    {"\xf3\xa0\x80", 0x80, 0xbf},  // tags
    {"\xf3\xa0\x81", 0x80, 0xbf},
    {"\xf3\xa0\x84", 0x80, 0xbf},  // more variation selectors
    {"\xf3\xa0\x85", 0x80, 0xbf},
    {"\xf3\xa0\x86", 0x80, 0xbf},
    {"\xf3\xa0\x87", 0x80, 0xaf},
};

// The bytes that may begin a gap.
#define GUARD_GAP_BYTES "\\x00-\\x08\\x0b\\x0c\\x0e-\\x1f\\x7f-\\x9f\\xc2\\xcd\\xd8\\xe1\\xe2\\xef\\xf3"

// Ticks, arrows and boxes share their first byte with what is invisible, and stand in every test report.
bool is_visible(std::string_view text) {
  if (text.size() < 2) return false;
  const auto first = static_cast<unsigned char>(text[0]);
  const auto second = static_cast<unsigned char>(text[1]);
  return (first == 0xe2 && second != 0x80 && second != 0x81) || (first == 0xe1 && second != 0xa0);
}

Gap invisible_at(std::string_view text) {
  Gap found = kText;
  if (is_visible(text)) return found;
  for (const Range& range : kInvisible) {
    if (range.lead.front() != text.front()) continue;
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

// Nobody prints these between the bytes of a word. Not ESC, tabs and line ends.
bool is_silent_control(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < ' ' && c != '\t' && c != '\n' && c != '\r' && c != kEscape) || byte == 0x7f;
}

}  // namespace

Gap gap_at(std::string_view text, bool ended) {
  Gap found = kText;
  if (is_silent_control(text.front())) {
    found = {Gap::Kind::invisible, 1};
  } else if (text.front() == kEscape) {
    found = escape_at(text);
  } else if (static_cast<unsigned char>(text.front()) >= 0x80) {
    found = is_c1(text[0])                                       ? c1_at(text, 1)
        : text[0] == '\xc2' && text.size() > 1 && is_c1(text[1]) ? c1_at(text, 2)
                                                                 : invisible_at(text);
  }
  if (found.kind != Gap::Kind::undecided || !ended) return found;
  if (is_c1(text[0])) return {Gap::Kind::invisible, 1};
  return text[0] == '\xc2' && text.size() > 1 && is_c1(text[1]) ? Gap{Gap::Kind::invisible, 2} : kText;
}

bool may_begin_gap(std::string_view text, std::size_t at) {
  return static_cast<unsigned char>(text[at]) < 0x80 ||
      (!is_visible(text.substr(at)) && !is_inside_character(text.substr(0, at), text[at]));
}

bool is_inside_character(std::string_view left, char byte) {
  if (!is_c1(byte)) return false;
  for (std::size_t back = 1; back <= 3 && back <= left.size(); ++back) {
    const auto lead = static_cast<unsigned char>(left[left.size() - back]);
    if (lead >= 0xc2) return lead < 0xe0 ? back == 1 : lead < 0xf0 ? back <= 2 : lead < 0xf5;
    if (lead < 0x80 || lead > 0xbf) return false;
  }
  return false;
}

std::size_t next_gap_byte(std::string_view text) {
  static const ByteScan begins(*ByteSet::parse(GUARD_GAP_BYTES));
  for (std::size_t at = begins.find(text); at < text.size(); at += 1 + begins.find(text.substr(at + 1))) {
    if (may_begin_gap(text, at)) return at;
  }
  return text.size();
}

void PlaceScan::look(std::string_view block, Offset begin) {
  static const ByteScan places([] {
    ByteSet set = *ByteSet::parse(GUARD_GAP_BYTES "&%\\\\");
    set.add('\n');
    set.add('\r');
    return set;
  }());
  block = block.substr(0, 64 * kWords);
  places.members(block, words_.data());
  begin_ = begin;
  end_ = begin + block.size();
}

#undef GUARD_GAP_BYTES

}  // namespace guard
