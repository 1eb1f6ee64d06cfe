#include "redact/stream/gap.h"

#include <algorithm>
#include <array>
#include <bit>

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

// What follows reads characters that are written as their numbers.
constexpr std::size_t kEscapingMax = 4;  // backslashes, or percent signs that were escaped: text inside of text
constexpr std::size_t kZerosMax = 6;

unsigned digit_of(char c) {
  if (c >= '0' && c <= '9') return static_cast<unsigned>(c - '0');
  const char lower = static_cast<char>(c | 0x20);
  return lower >= 'a' && lower <= 'f' ? static_cast<unsigned>(lower - 'a') + 10 : 16;
}

class Reader {
 public:
  Reader(std::string_view text, bool ended) : text_(text), ended_(ended) {}

  bool take(std::string_view sign) {
    const std::string_view rest = text_.substr(at_);
    if (rest.size() < sign.size() && sign.starts_with(rest)) cut_ = true;
    if (!rest.starts_with(sign)) return false;
    at_ += sign.size();
    return true;
  }
  // A number of `min` to `max` digits.
  bool number(unsigned base, std::size_t min, std::size_t max) {
    value_ = 0;
    std::size_t size = 0;
    while (size < max && at_ < text_.size() && digit_of(text_[at_]) < base) {
      value_ = value_ * base + digit_of(text_[at_++]);
      ++size;
    }
    if (size < max && at_ == text_.size()) cut_ = true;
    return size >= min;
  }
  // Bytes of more than 0x7f only where the number is one of a byte, not of a character.
  Gap result(bool read, unsigned max) const {
    if (cut_ && !ended_) return kUndecided;
    if (!read || value_ < ' ' || value_ == 0x7f || value_ > max) return kText;
    return {Gap::Kind::written, at_, static_cast<char>(value_)};
  }

 private:
  std::string_view text_;
  bool ended_;
  bool cut_ = false;
  std::size_t at_ = 0;
  unsigned value_ = 0;
};

constexpr unsigned kAscii = 0x7e;
constexpr unsigned kByte = 0xff;

Gap entity_at(Reader reader) {
  if (!reader.take("&#")) return reader.result(false, 0);
  const bool hex = reader.take("x") || reader.take("X");
  const bool read = reader.number(hex ? 16 : 10, 1, kZerosMax + 3);
  if (read) reader.take(";");
  return reader.result(read, kAscii);
}

Gap percent_at(Reader reader) {
  reader.take("%");
  for (std::size_t i = 0; i < kEscapingMax && reader.take("25"); ++i) {
  }
  if (reader.take("u")) return reader.result(reader.number(16, 4, 4), kAscii);
  return reader.result(reader.number(16, 2, 2), kByte);
}

Gap backslash_at(Reader reader) {
  for (std::size_t i = 0; i < kEscapingMax && reader.take("\\"); ++i) {
  }
  if (reader.take("x")) return reader.result(reader.number(16, 2, 2), kByte);
  if (reader.take("U")) return reader.result(reader.number(16, 8, 8), kAscii);
  if (reader.take("u{")) {
    const bool read = reader.number(16, 1, kZerosMax + 2);
    return reader.result(read && reader.take("}"), kAscii);
  }
  if (reader.take("u")) return reader.result(reader.number(16, 4, 4), kAscii);
  return reader.result(reader.number(8, 3, 3), kByte);
}

// The bytes that may begin a gap, a line end or a character that is written as its number.
constexpr std::array<bool, 256> kPlaces = [] {
  std::array<bool, 256> places{};
  for (unsigned byte = 0; byte < 0xa0; ++byte) places[byte] = (byte < ' ' && byte != '\t') || byte >= 0x7f;
  for (const char byte : {'&', '%', '\\', '\xc2', '\xcd', '\xd8', '\xe1', '\xe2', '\xef', '\xf3'})
    places[static_cast<unsigned char>(byte)] = true;
  return places;
}();

// A bit for each of the bytes that is not printable ASCII, or may begin a character that is written as its number: the
// compiler makes vectors of the loop.
constexpr std::size_t kBlockBytes = 32;
std::uint64_t others_of(const char* bytes) {
  std::uint8_t others[kBlockBytes];
  for (std::size_t i = 0; i < kBlockBytes; ++i) {
    const auto byte = static_cast<unsigned char>(bytes[i]);
    others[i] = (byte < ' ') | (byte > '~') | (byte == '&') | (byte == '%') | (byte == '\\');
  }
  return bits_of(others, kBlockBytes);
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

bool is_inside_character(std::string_view left, char byte) {
  if (!is_c1(byte)) return false;
  for (std::size_t back = 1; back <= 3 && back <= left.size(); ++back) {
    const auto lead = static_cast<unsigned char>(left[left.size() - back]);
    if (lead >= 0xc2) return lead < 0xe0 ? back == 1 : lead < 0xf0 ? back <= 2 : lead < 0xf5;
    if (lead < 0x80 || lead > 0xbf) return false;
  }
  return false;
}

Gap written_at(std::string_view text, bool ended) {
  const Reader reader(text, ended);
  return text.front() == '&' ? entity_at(reader) : text.front() == '%' ? percent_at(reader) : backslash_at(reader);
}

std::size_t next_place(std::string_view text, std::size_t from) {
  const auto is_place = [&](std::size_t at) {
    const char byte = text[at];
    if (!kPlaces[static_cast<unsigned char>(byte)]) return false;
    if (static_cast<unsigned char>(byte) < 0x80) return true;
    return !is_visible(text.substr(at)) && !is_inside_character(text.substr(0, at), byte);
  };
  std::size_t at = from;
  for (; at + kBlockBytes <= text.size(); at += kBlockBytes) {
    for (std::uint64_t others = others_of(text.data() + at); others != 0; others &= others - 1) {
      const std::size_t place = at + static_cast<std::size_t>(std::countr_zero(others));
      if (is_place(place)) return place;
    }
  }
  while (at < text.size() && !is_place(at)) ++at;
  return at;
}

}  // namespace guard
