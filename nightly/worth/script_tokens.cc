#include "nightly/worth/script_tokens.h"

#include <algorithm>
#include <iterator>

namespace guard::nightly {
namespace {

bool is_one_of(std::string_view word, std::initializer_list<std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Behind these an expression begins, though they are words.
bool expects_operand(std::string_view word) {
  return is_one_of(word,
      {"return", "typeof", "case", "in", "of", "instanceof", "new", "delete", "void", "throw", "await", "yield", "else",
          "do", "extends", "as", "satisfies"});
}

}  // namespace

ScriptTokens::ScriptTokens(std::string_view path, std::string_view text) : text_(text) {
  // The lexer counts in 31 bits; nothing so long is a script.
  constexpr std::size_t kBytesMax = 64u << 20;
  if (text.size() > kBytesMax) {
    lexed_.undecidable = true;
    return;
  }
  lex(text, markup_of(path), lexed_);
  partners_.assign(size(), kNone);
  openers_.assign(size(), kNone);
  std::vector<std::size_t> open;
  for (std::size_t i = 0; i < size(); ++i) {
    const TokenKind kind = token(i).kind;
    const bool punctuator = kind == TokenKind::punctuator;
    const bool closes = kind == TokenKind::template_close || kind == TokenKind::substitution_close ||
        (punctuator && is_one_of(at(i), {")", "]", "}"}));
    if (closes && !open.empty()) {
      const std::size_t begin = open.back();
      const std::string_view wanted = is_kind(begin, TokenKind::template_open) ? "`"
          : is_kind(begin, TokenKind::substitution_open)                       ? "}"
          : is(begin, "(")                                                     ? ")"
          : is(begin, "[")                                                     ? "]"
                                                                               : "}";
      if (at(i) == wanted) {
        partners_[i] = begin;
        partners_[begin] = i;
        open.pop_back();
      }
    }
    openers_[i] = open.empty() ? kNone : open.back();
    if (kind == TokenKind::template_open || kind == TokenKind::substitution_open ||
        (punctuator && is_one_of(at(i), {"(", "[", "{"})))
      open.push_back(i);
  }
}

std::string_view ScriptTokens::at(std::size_t i) const {
  return i < size() ? text_.substr(token(i).begin, token(i).end - token(i).begin) : std::string_view();
}

bool ScriptTokens::is_any(std::size_t i, std::initializer_list<std::string_view> words) const {
  return is_one_of(at(i), words);
}

bool ScriptTokens::only_blanks(std::size_t first, std::size_t last) const {
  for (std::size_t i = first; i < last && i + 1 < size(); ++i) {
    for (std::size_t at = token(i).end; at < token(i + 1).begin;) {
      bool line_end = false;
      const std::size_t length = blank_length(text_, at, line_end);
      if (length == 0) return false;
      at += length;
    }
  }
  return true;
}

bool ScriptTokens::ends_operand(std::size_t i) const {
  if (i >= size()) return false;
  switch (token(i).kind) {
    case TokenKind::word: return !expects_operand(at(i));
    case TokenKind::number:
    case TokenKind::string:
    case TokenKind::template_close:
    case TokenKind::regex: return true;
    case TokenKind::punctuator: return is_one_of(at(i), {")", "]", "}", "++", "--"});
    default: return false;
  }
}

std::size_t ScriptTokens::expression_end(std::size_t first, bool at_comma) const {
  std::size_t last = kNone;
  std::size_t choices = 0;
  for (std::size_t i = first; i < size(); ++i) {
    const bool punctuator = is_kind(i, TokenKind::punctuator);
    if (punctuator && (is(i, ";") || is_one_of(at(i), {")", "]", "}"}))) return last;
    if (is_kind(i, TokenKind::substitution_close)) return last;
    if (punctuator && is(i, ",") && at_comma) return last;
    // A colon without a question mark belongs to what stands around it.
    if (punctuator && is(i, "?")) ++choices;
    if (punctuator && is(i, ":") && choices-- == 0) return last;
    // A line end ends it only where neither side leads on; a bracket or a template on the next line would be taken in.
    if (i > first && token(i).line_before && ends_operand(i - 1)) {
      const bool leads_on = (punctuator && !is_one_of(at(i), {"}", "@", "#", "++", "--"})) ||
          is_kind(i, TokenKind::template_open) || is_one_of(at(i), {"in", "of", "instanceof", "as", "satisfies"});
      if (!leads_on) return last;
    }
    // What is assigned here may belong to something that began before.
    if (punctuator && is(i, "=")) return kNone;
    last = i;
    if (punctuator || is_kind(i, TokenKind::template_open)) {
      if (is_one_of(at(i), {"(", "[", "{", "`"})) {
        const std::size_t close = partner(i);
        if (close == kNone || close < i) return kNone;
        i = last = close;
      }
    }
    if (is_kind(i, TokenKind::markup_text)) return kNone;
  }
  return last;
}

}  // namespace guard::nightly
