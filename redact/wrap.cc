#include "redact/wrap.h"

namespace guard {

bool looks_generated(std::string_view text) {
  enum class Class : std::uint8_t { other, lower, upper, digit };
  Class last = Class::other;
  bool digit = false;
  int changes = 0;
  for (const char c : text) {
    const Class now = c >= 'a' && c <= 'z'   ? Class::lower
                      : c >= 'A' && c <= 'Z' ? Class::upper
                      : c >= '0' && c <= '9' ? Class::digit
                                             : Class::other;
    digit = digit || now == Class::digit;
    if (now != last && now != Class::other && last != Class::other) ++changes;
    last = now;
  }
  return text.size() >= 8 && digit && changes >= 3;
}

Wrap wrap_at(const StreamText& text, Offset at, const ByteSet& tail, Offset& next) {
  const Wrap unseen = text.ended() ? Wrap::no : Wrap::undecided;
  if (at == text.end()) return unseen;
  if (!is_line_end(text.at(at)) || at < text.begin() + kWrapLineBytes) return Wrap::no;
  for (Offset before = at - kWrapLineBytes; before < at; ++before) {
    if (is_line_end(text.at(before))) return Wrap::no;
  }
  next = at + 1;
  if (text.at(at) == '\r') {
    if (next == text.end()) return unseen;
    if (text.at(next) != '\n') return Wrap::no;
    ++next;
  }
  const Offset line = next;
  while (next < text.end() && next - line < kWrapBlanksMax && (text.at(next) == ' ' || text.at(next) == '\t')) ++next;
  Offset end = next;
  while (end < text.end() && end - next < kWrapLookBytes && tail.has(text.at(end))) ++end;
  if (end == text.end() && end - next < kWrapLookBytes && !text.ended()) return Wrap::undecided;
  return looks_generated(text.between(next, end)) ? Wrap::yes : Wrap::no;
}

}  // namespace guard
