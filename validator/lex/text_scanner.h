// Finds where things end in JavaScript text: blanks, comments, strings, regular expressions, words, numbers. It knows
// nothing of what stands around them.
//
// Looks ahead that were in vain are counted; the lexer has a budget for them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "validator/lex/byte_scan.h"
#include "validator/lex/js_lexer.h"

namespace guard {

constexpr std::uint8_t kWord = 1;  // may stand in an identifier
constexpr std::uint8_t kDigit = 2;
constexpr std::uint8_t kBlank = 4;  // ASCII white space and line ends

constexpr std::array<std::uint8_t, 256> make_classes() {
  std::array<std::uint8_t, 256> classes{};
  for (std::size_t c = 'a'; c <= 'z'; ++c) classes[c] = kWord;
  for (std::size_t c = 'A'; c <= 'Z'; ++c) classes[c] = kWord;
  for (std::size_t c = '0'; c <= '9'; ++c) classes[c] = kWord | kDigit;
  for (std::size_t c = 0x80; c <= 0xff; ++c) classes[c] = kWord;
  classes['_'] = classes['$'] = classes['#'] = kWord;
  for (const char c : {' ', '\t', '\n', '\r', '\v', '\f'}) classes[static_cast<unsigned char>(c)] = kBlank;
  return classes;
}
constexpr auto kClasses = make_classes();

inline bool has_class(char c, std::uint8_t wanted) noexcept {
  return (kClasses[static_cast<unsigned char>(c)] & wanted) != 0;
}

class TextScanner {
 public:
  // `text` must outlive this.
  explicit TextScanner(std::string_view text) : text_(text), size_(static_cast<std::uint32_t>(text.size())) {}

  std::string_view text() const noexcept { return text_; }
  std::uint32_t size() const noexcept { return size_; }
  char peek(std::size_t at) const noexcept { return at < size_ ? text_[at] : '\0'; }

  std::uint64_t wasted() const noexcept { return wasted_; }
  void waste(std::uint64_t bytes) noexcept { wasted_ += bytes; }
  bool over_budget() const noexcept { return wasted_ > 4ULL * size_ + 65536; }

  // Past blanks and comments. Comments end at every line end that JavaScript knows.
  std::uint32_t skip_blanks(std::uint32_t at, bool& line_before, std::vector<std::uint32_t>* marks = nullptr) {
    while (at < size_) {
      const char first = text_[at];
      if (has_class(first, kBlank)) {
        line_before = line_before || first == '\n' || first == '\r';
        ++at;
        continue;
      }
      if (first != '/' && first != '#' && static_cast<unsigned char>(first) < 0x80) return at;
      bool line_end = false;
      const std::size_t blank = blank_length(text_, at, line_end);
      if (blank != 0) {
        line_before = line_before || line_end;
        if (marks != nullptr && at != 0 && text_[at] == '\xef') marks->push_back(at);
        at += static_cast<std::uint32_t>(blank);
        continue;
      }
      if (text_[at] == '/' && peek(at + 1) == '/') {
        at = line_end_after(at + 2);
        continue;
      }
      if (text_[at] == '/' && peek(at + 1) == '*') {
        const std::uint32_t close = block_comment_end(at + 2);
        if (close == 0) return at;
        line_before = line_before || has_line_end(at, close);
        at = close;
        continue;
      }
      if (at == 0 && text_[at] == '#' && peek(1) == '!') {
        at = line_end_after(2);
        continue;
      }
      return at;
    }
    return at;
  }

  std::uint32_t line_end_after(std::uint32_t at) const noexcept {
    for (;; ++at) {
      at = static_cast<std::uint32_t>(find_any_of<'\n', '\r', '\xe2'>(text_, at));
      if (at >= size_) break;
      const char c = text_[at];
      if (c == '\n' || c == '\r') return at;
      if (c == '\xe2' && is_line_separator(at)) return at;
    }
    return size_;
  }

  // Offset behind the closing quote, or 0 where the line ends first. A backslash takes the next character along, a line
  // end too; U+2028 and U+2029 may stand in a string.
  std::uint32_t string_end(std::uint32_t at, char quote, bool escapes) {
    const std::uint32_t begin = at;
    for (++at;; ++at) {
      at = static_cast<std::uint32_t>(quote == '"' ? find_any_of<'"', '\\', '\n', '\r'>(text_, at)
                                                   : find_any_of<'\'', '\\', '\n', '\r'>(text_, at));
      if (at >= size_) break;
      const char c = text_[at];
      if (c == quote) return at + 1;
      if (!escapes) continue;
      if (c == '\\') {
        if (peek(at + 1) == '\r' && peek(at + 2) == '\n') ++at;
        ++at;
      } else if (c == '\n' || c == '\r') {
        break;
      }
    }
    wasted_ += std::min(at, size_) - begin;
    return 0;
  }

  // Offset behind the flags of the regular expression that begins at `at`, or 0 where its line ends first.
  std::uint32_t regex_end(std::uint32_t at) {
    const std::uint32_t begin = at;
    bool in_class = false;
    for (++at; at < size_; ++at) {
      const char c = text_[at];
      if (c == '\n' || c == '\r' || (c == '\xe2' && is_line_separator(at))) break;
      if (c == '\\') {
        if (peek(at + 1) == '\n' || peek(at + 1) == '\r') break;
        ++at;
      } else if (c == '[') {
        in_class = true;
      } else if (c == ']') {
        in_class = false;
      } else if (c == '/' && !in_class) {
        ++at;
        while (at < size_ && has_class(text_[at], kWord)) ++at;
        return std::min(at, size_);
      }
    }
    wasted_ += std::min(at, size_) - begin;
    return 0;
  }

  bool starts_word(std::uint32_t at) const noexcept {
    if (at >= size_) return false;
    const char c = text_[at];
    if (c == '\\') return peek(at + 1) == 'u';
    if (!has_class(c, kWord) || has_class(c, kDigit)) return false;
    bool line_end = false;
    return static_cast<unsigned char>(c) < 0x80 || blank_length(text_, at, line_end) == 0;
  }

  std::uint32_t word_end(std::uint32_t at, bool& escaped, bool hyphens) const noexcept {
    while (at < size_) {
      const char c = text_[at];
      if (has_class(c, kWord)) {
        bool line_end = false;
        if (static_cast<unsigned char>(c) >= 0xc2 && blank_length(text_, at, line_end) != 0) break;
        ++at;
      } else if (c == '\\' && peek(at + 1) == 'u') {
        escaped = true;
        at += 2;
        if (peek(at) == '{') {
          const std::uint32_t limit = std::min(size_, at + 12);
          while (at < limit && text_[at] != '}') ++at;
          if (at < limit) ++at;
        }
      } else if (hyphens && c == '-') {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

  // Offset behind the number that begins at `begin`.
  std::uint32_t number_end(std::uint32_t begin) const noexcept {
    std::uint32_t at = begin;
    while (at < size_) {
      const char c = text_[at];
      if (has_class(c, kWord) && static_cast<unsigned char>(c) < 0x80) {
        const bool exponent = (c == 'e' || c == 'E') && (peek(at + 1) == '+' || peek(at + 1) == '-') &&
            has_class(peek(at + 2), kDigit) && peek(begin + 1) != 'x';
        at += exponent ? 2 : 1;
      } else if (c == '.' && peek(at + 1) != '.' && (has_class(peek(at + 1), kDigit) || !starts_word(at + 1))) {
        ++at;
      } else {
        break;
      }
    }
    return at;
  }

 private:
  bool is_line_separator(std::uint32_t at) const noexcept {
    return peek(at + 1) == '\x80' && (peek(at + 2) == '\xa8' || peek(at + 2) == '\xa9');
  }

  // Looks no further than `end`: a long line of short comments would otherwise be read once for each.
  bool has_line_end(std::uint32_t begin, std::uint32_t end) const noexcept {
    for (;; ++begin) {
      begin = static_cast<std::uint32_t>(find_any_of<'\n', '\r', '\xe2'>(text_.substr(0, end), begin));
      if (begin >= end) break;
      const char c = text_[begin];
      if (c == '\n' || c == '\r' || (c == '\xe2' && is_line_separator(begin))) return true;
    }
    return false;
  }

  // Offset just behind `*/`, or 0 where the comment never closes.
  std::uint32_t block_comment_end(std::uint32_t at) {
    if (at >= no_comment_end_from_) return 0;
    const std::size_t close = text_.find("*/", at);
    if (close == std::string_view::npos) {
      no_comment_end_from_ = std::min(no_comment_end_from_, at);
      return 0;
    }
    return static_cast<std::uint32_t>(close + 2);
  }

  std::string_view text_;
  std::uint32_t size_;
  std::uint32_t no_comment_end_from_ = UINT32_MAX;
  std::uint64_t wasted_ = 0;
};

}  // namespace guard
