// The tokens of a script as the nightly loop reads them: the main reading with its brackets matched. No parser: what
// cannot be told is left alone by those who ask.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "validator/lex/js_lexer.h"

namespace guard::nightly {

inline bool is_declaration(std::string_view path) {
  return path.ends_with(".d.ts") || path.ends_with(".d.mts") || path.ends_with(".d.cts");
}

class ScriptTokens {
 public:
  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);

  // `text` must outlive this.
  ScriptTokens(std::string_view path, std::string_view text);

  // False where the lexer has given up: then nothing here is to be relied on.
  bool is_readable() const noexcept { return !lexed_.undecidable; }

  std::size_t size() const noexcept { return lexed_.tokens.size(); }
  const Token& token(std::size_t i) const { return lexed_.tokens[i]; }
  std::string_view text() const noexcept { return text_; }
  std::string_view at(std::size_t i) const;  // empty outside of the script
  bool is(std::size_t i, std::string_view wanted) const { return at(i) == wanted; }
  bool is_kind(std::size_t i, TokenKind kind) const { return i < size() && token(i).kind == kind; }
  bool is_word(std::size_t i) const { return is_kind(i, TokenKind::word); }
  bool is_punctuator(std::size_t i, std::string_view wanted) const {
    return is_kind(i, TokenKind::punctuator) && at(i) == wanted;
  }
  // Right behind the token before, with nothing in between.
  bool joins(std::size_t i) const { return i > 0 && i < size() && token(i - 1).end == token(i).begin; }

  // The other bracket of ( [ { ${ and of a template; kNone where brackets do not match.
  std::size_t partner(std::size_t i) const { return i < partners_.size() ? partners_[i] : kNone; }
  // i, or the bracket that closes what is opened there.
  std::size_t past(std::size_t i) const { return partner(i) == kNone || partner(i) < i ? i : partner(i); }
  // Any of the words.
  bool is_any(std::size_t i, std::initializer_list<std::string_view> words) const;
  // The bracket that i stands in; kNone at the top.
  std::size_t opener(std::size_t i) const { return i < openers_.size() ? openers_[i] : kNone; }

  // Only blanks stand between the tokens from `first` up to and with `last`: no comment would be lost with them.
  bool only_blanks(std::size_t first, std::size_t last) const;

  // Whether an operand ends with token i, so that an operator may follow: a name, a literal, a closing bracket.
  bool ends_operand(std::size_t i) const;

  // The last token of the expression that begins at `first`, as far as it can be told: it ends at a semicolon, at a
  // closing bracket, at a line end where no operator leads on, or at a comma if `at_comma`. kNone: cannot be told.
  std::size_t expression_end(std::size_t first, bool at_comma) const;

 private:
  std::string_view text_;
  LexedText lexed_;
  std::vector<std::size_t> partners_;
  std::vector<std::size_t> openers_;
};

}  // namespace guard::nightly
