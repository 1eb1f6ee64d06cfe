// A program as tokens, with just enough understanding to change it without changing what it means: brackets, the ends
// of a chain like a.b(c)[d], and whether a name or a string stands where an expression may stand.
//
// Knows most of the programs that people write, not all of them: what it isn't sure of it refuses, and then there is
// one place less to mutate. Ours alone: the tests would prove nothing if they asked the views that they test.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "validator/lex/js_lexer.h"

namespace guard::mutator {

constexpr std::size_t kNone = static_cast<std::size_t>(-1);

struct Range {
  std::size_t begin = 0;
  std::size_t end = 0;
};

struct Edit {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::string text;
};

// A program, and the places in it that matter: what is found there in the plain form.
struct Program {
  std::string text;
  std::vector<Range> focus;
};

// Edits must not overlap. What is written inside or at the edge of a focus belongs to it from then on.
Program apply(const Program& program, std::vector<Edit> edits);

struct Call {
  std::size_t begin = 0;  // first token of the callee
  std::size_t open = 0;   // (
  std::size_t close = 0;  // )
};

class Source {
 public:
  explicit Source(const Program& program);

  std::string_view text() const { return text_; }
  std::size_t size() const { return lexed_.tokens.size(); }
  const Token& token(std::size_t i) const { return lexed_.tokens[i]; }
  // The text of token i, empty outside of the program; so is(kNone, ...) is false.
  std::string_view at(std::size_t i) const;
  bool is(std::size_t i, std::string_view text) const { return at(i) == text && !text.empty(); }
  bool is_kind(std::size_t i, TokenKind kind) const { return i < size() && token(i).kind == kind; }
  bool is_name(std::size_t i) const;  // a word that is no keyword
  // From the first to behind the last token.
  std::string_view between(std::size_t first, std::size_t last) const;
  Range range(std::size_t first, std::size_t last) const { return {token(first).begin, token(last).end}; }
  bool in_focus(std::size_t i) const;

  std::size_t partner(std::size_t i) const { return i < size() ? partners_[i] : kNone; }
  std::size_t enclosing(std::size_t i) const { return i < size() ? enclosing_[i] : kNone; }

  bool has_word(std::string_view word) const;
  std::string fresh_name(std::size_t choice) const;
  bool is_module() const;  // holds import, export or await: strict

  // A name that is read or called, not declared, not a key, not a type.
  bool is_reference(std::size_t i) const;
  // All references of `name`; false if the name also stands where we don't know what it is.
  bool references(std::string_view name, std::vector<std::size_t>& out) const;
  // A string, or the opening of a template without substitutions, in the place of which any expression may stand.
  bool is_text_expression(std::size_t i) const;
  bool is_module_name(std::size_t i) const;
  // What such a text says; false if it holds escapes or anything but printable ASCII.
  bool plain_value(std::size_t i, std::string& out) const;
  std::size_t text_end(std::size_t i) const;  // its last token

  // First token of the chain that ends at token i (a.b(c)[d] is one chain), kNone if we can't tell.
  std::size_t chain_begin(std::size_t i) const;
  std::size_t chain_end(std::size_t i) const;
  // The chain from `begin` to `end` is only read: nothing is assigned to it, it isn't deleted, constructed or a tag.
  bool is_read(std::size_t begin, std::size_t end) const;
  // A bracket may stand in front of token i without becoming an argument of the line before.
  bool may_open_bracket(std::size_t i) const;
  // A line end or a comment may stand in front of token i.
  bool may_break_line(std::size_t i) const;
  bool may_insert_blank(std::size_t i) const;

  std::vector<Call> calls() const;
  // Expression statements: first and last token (the semicolon).
  std::vector<Range> statements() const;
  // Offset behind the { of a function that holds token i, or the beginning of the text.
  std::size_t body_begin(std::size_t i) const;

 private:
  bool in_type(std::size_t i) const;
  bool in_pattern(std::size_t i) const;

  std::string text_;
  std::vector<Range> focus_;
  LexedText lexed_;
  std::vector<std::size_t> partners_;
  std::vector<std::size_t> enclosing_;
};

}  // namespace guard::mutator
