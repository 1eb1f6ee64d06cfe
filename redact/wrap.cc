#include "redact/wrap.h"

#include <algorithm>

namespace guard {
namespace {

// Where the line behind the one that ends at `at` begins, behind its blanks; no where that is no line end, or of a line
// too short to have been broken.
Wrap next_line(const StreamText& text, Offset at, Offset& next) {
  const Wrap unseen = text.ended() ? Wrap::no : Wrap::undecided;
  if (at == text.end()) return unseen;
  if (!is_line_end(text.at(at)) || at < text.begin() + kWrapLineBytes) return Wrap::no;
  for (Offset before = at - kWrapLineBytes; before < at; ++before) {
    if (is_line_end(text.at(before))) return Wrap::no;
  }
  next = at + 1;
  if (text.at(at) == '\r') {
    if (next == text.end()) return unseen;
    if (text.at(next) != '\n') return Wrap::no;  // a line that is written anew
    ++next;
  }
  const Offset line = next;
  while (next < text.end() && next - line < kWrapBlanksMax && (text.at(next) == ' ' || text.at(next) == '\t')) ++next;
  return Wrap::yes;
}

// A line of its own, `piece`, behind the one that ends at `at`: as wide as the piece there or, where that is a line of its
// own, too, shorter (it would be the last) with a digit.
bool continues(const StreamText& text, Offset at, const ByteSet& chars, std::string_view piece) {
  Offset begin = at;
  while (begin > text.begin() && at - begin < kWrapLookBytes - 1 && chars.has(text.at(begin - 1))) --begin;
  if (piece.size() < kWrapLineBytes || piece.size() > at - begin) return false;
  if (piece.size() == at - begin) return true;
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  return (begin == text.begin() || is_line_end(text.at(begin - 1))) && std::any_of(piece.begin(), piece.end(), is_digit);
}

}  // namespace

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
  const Wrap line = next_line(text, at, next);
  if (line != Wrap::yes) return line;
  Offset end = next;
  while (end < text.end() && end - next < kWrapLookBytes && tail.has(text.at(end))) ++end;
  if (end == text.end() && end - next < kWrapLookBytes && !text.ended()) return Wrap::undecided;
  const std::string_view piece = text.between(next, end);
  const bool is_line = end == text.end() || is_line_end(text.at(end));
  return looks_generated(piece) || (is_line && continues(text, at, tail, piece)) ? Wrap::yes : Wrap::no;
}

}  // namespace guard
