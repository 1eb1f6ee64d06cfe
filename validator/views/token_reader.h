// Reads tokens as expressions and writes the views from them (what these hold is said in source_view.h).
//
// One pass over the tokens, a call for each open bracket. An expression is a sum of operands (operand.h); it is
// followed as far as its value is constant or something of the listed surface, and what can't be followed is written as
// it stands. Never fails: brackets that don't match are ignored. Text with more than kDepthMax open brackets, or whose
// views grow out of all proportion, is `over_budget`; the caller has to refuse it.
#pragma once

#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validator/lex/js_lexer.h"
#include "validator/values/name_table.h"
#include "validator/views/operand.h"
#include "validator/views/view_writer.h"

namespace guard {

class TokenReader {
 public:
  static constexpr std::size_t kDepthMax = 1'000;

  // With `origin`, all that is read stands for that span of the file. `typed`: TypeScript, where f<T>(x) is a call.
  TokenReader(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, ViewTexts& out, bool typed,
      std::optional<TextSpan> origin = std::nullopt);

  // Appends the reading of the tokens of the file, or of an alternative, to the views.
  void read(std::span<const Token> tokens);

  // How many bytes were read into these views so far, this text among them; without it, only this text.
  void set_read_bytes(std::uint64_t bytes) noexcept { read_bytes_ = bytes; }
  // Tokens that were looked ahead at; for tests of linearity.
  std::uint64_t steps() const noexcept { return looked_ahead_; }
  bool over_budget() const noexcept { return over_budget_; }
  ViewWriter& writer() noexcept { return writer_; }

 private:
  // What an expression is given to.
  struct Target {
    std::string_view declared;        // a name
    std::string_view put_back;        // what stands before the `=`: process.exit
    std::uint32_t pattern_first = 0;  // tokens of { a, b: c }
    std::uint32_t pattern_end = 0;
    std::uint32_t name_token = 0;
    bool declaration = false;  // in const, let, var
    bool ambient = false;      // `declare const x`: only a type
  };

  // An expression that is being read. `sum` is what stood before the last `+`.
  struct Expression {
    Operand operand;
    Value sum;
    Target target;
    char lead = ';';    // what stands before it: ( [ { , : = . | > r(eturn) ;
    bool open = false;  // there is an operand
    bool has_sum = false;
    bool prefixed = false;  // an operator stands before it
    bool made = false;      // `new` stands before it
    bool opaque = false;    // a value we don't compute is part of it
    bool negative = false;  // an odd number of minus signs stands before it

    // Begins anew. The operand is nothing until another one begins.
    void restart(char before) noexcept {
      lead = before;
      open = has_sum = prefixed = made = opaque = negative = false;
    }
    std::string_view word() const noexcept { return open ? operand.word : std::string_view(); }
    bool alone() const noexcept { return open && !has_sum && !opaque && !prefixed; }
  };

  // A root object that was handed to a call which is still open.
  struct HandedRoot {
    std::size_t argument = 0;  // which one
    std::string_view path;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  // An open bracket, and the expression that is being read in it.
  struct Frame {
    Frame* outer = nullptr;
    char open = ';';
    bool call = false;       // f( or x[
    bool tagged = false;     // f`
    bool raw = false;        // String.raw`
    bool condition = false;  // if (, while (: what follows is a statement
    bool pattern = false;    // { and [ of names that are declared
    std::uint32_t token = 0;
    std::size_t code_begin = 0;  // size of the code before it was opened
    std::size_t args_begin = 0;  // in args_
    std::string_view called;     // what is called in the end, of a call and of f`
    std::string_view scope;      // { of a constant of this name
    std::string_view key;        // of the property that is being read
    std::vector<HandedRoot> handed;
    Expression now;

    // Begins anew, with the memory that it has.
    void restart(char bracket, Frame* around) noexcept {
      outer = around;
      open = bracket;
      call = tagged = raw = condition = pattern = false;
      called = scope = key = std::string_view();
      handed.clear();
      now.target = Target{};
      now.restart(bracket == '$' ? '`' : bracket);
    }
  };

  // A declaration that hides a global of the same name, for these tokens.
  struct Shadow {
    std::string_view name;
    std::uint32_t first = 0;
    std::uint32_t end = UINT32_MAX;  // or of the bracket that it stands in
  };

  // token_reader.cc: the walk over the tokens, and operands.
  void level();
  void token();
  void word();
  bool keyword(std::string_view text);
  void operator_word(std::string_view text);
  void name(std::string_view text);
  void declarator();
  void type();
  bool ends_type(const Token& at, std::string_view text, std::uint32_t angles) const noexcept;
  void string_literal();
  bool is_script_argument() const noexcept;
  void template_literal();
  void template_text();
  void number();
  void begin_operand(const Value& value, std::string_view name, std::size_t code_begin);
  void member(std::string_view name, const Token& dot, const Token& at);
  void replace_operand(std::string_view path, std::uint32_t end);
  Value finish(bool last, bool compared = false);
  void end_argument();

  // punctuators.cc
  void punctuator();
  void general_operator(std::string_view text);
  void dots(std::string_view text);
  void comma();
  void end_property();
  void colon();
  void assignment();
  void plus();
  void arrow();
  std::uint32_t end_of_cast() const noexcept;

  // brackets.cc
  void group(char open, bool in_type = false, bool pattern = false);
  void close(Frame& frame, const Token& at, bool in_type);
  void close_call(Frame& frame, const Token& at);
  void close_plain(Frame& frame, const Token& at, bool in_type);
  void close_square(Frame& frame, const Token& at, bool in_type);
  void close_index(Frame& frame, Value index, const Token& at);
  void close_template(Frame& frame, const Token& at, bool in_type);
  bool load_module(const Frame& frame, std::string_view called, const Value& specifier, const Token& at);
  bool reflect(std::string_view callee, std::span<const Argument> args, const Token& at);
  Value list_value(std::span<const Argument> args, std::uint32_t begin, std::uint32_t end);
  void add_words_of(std::span<const Argument> args, std::uint32_t end);
  void note_files(const Frame& frame, std::string_view called, std::span<const Argument> args);
  std::string_view callee_here() const noexcept;
  bool is_open(char open) const noexcept;
  bool is_symbol_of_global(const Frame& frame) const noexcept;
  // The bracket that this token closes, or 0.
  char closes(const Token& token) const noexcept {
    if (token.kind == TokenKind::substitution_close) return '$';
    if (token.kind == TokenKind::template_close) return '`';
    if (token.kind != TokenKind::punctuator) return 0;
    const char c = source_[token.begin];
    return c == ')' ? '(' : c == ']' ? '[' : c == '}' ? '{' : '\0';
  }

  // bindings.cc: names, patterns, properties, imports, and names that hide globals.
  void bind(const Value& total, bool last);
  void add_alias(std::string_view name, std::string_view path, std::uint32_t begin, std::uint32_t end);
  void bind_pattern(std::uint32_t first, std::uint32_t end, std::string_view path, std::string_view object);
  std::string_view pattern_key(std::uint32_t& i, std::uint32_t end, std::string_view path);
  std::string_view property_name(std::string_view object, std::string_view key);
  std::string_view scope_of_object();
  void name_property(const Value& value);
  void name_function();
  void import_clause();
  void import_name(std::uint32_t index, std::uint32_t first, std::string_view root);
  bool is_shadowed(std::string_view name) const noexcept;
  void declare_shadow(std::string_view name, std::uint32_t first, std::uint32_t end = UINT32_MAX);
  void shadow_parameters(std::uint32_t body);
  std::uint32_t scope_end(std::uint32_t index);

  // uses.cc: what the file does with the objects of the surface.
  void note_member(std::string_view owner, std::string_view name, std::uint32_t begin, std::uint32_t end);
  void note_module(std::string_view specifier, std::uint32_t begin, std::uint32_t end);
  void note_value(bool last);
  void note_handed(const Frame& frame, std::string_view callee, std::string_view member);
  void note_computed_global(const Frame& frame, std::uint32_t close);
  void note_attributes(std::uint32_t index, const Value& specifier);
  bool loads_as_text(std::uint32_t first, std::uint32_t end);
  void note_reexport(std::string_view specifier);
  bool is_parameter_list(const Frame& frame) const noexcept;

  Expression& now() noexcept { return frame_->now; }
  std::string_view text_of(const Token& token) const noexcept {
    return {source_.data() + token.begin, token.end - token.begin};
  }
  std::string_view text_at(std::uint32_t index) const noexcept {
    if (index >= tokens_.size()) return {};
    return text_of(tokens_[index]);
  }
  std::string_view text_before(std::uint32_t count = 1) const noexcept {
    return at_ < count ? std::string_view() : text_at(at_ - count);
  }
  bool is_word(std::uint32_t index) const noexcept {
    return index < tokens_.size() && tokens_[index].kind == TokenKind::word;
  }
  // name + tail; no copy where they stand like that in the source.
  std::string_view longer(std::string_view name, std::string_view tail);
  std::string_view word_at(std::uint32_t index);
  Value literal_value(const Token& token);
  std::uint32_t matching_bracket(std::uint32_t index) const noexcept;
  std::size_t put(const Token& at) { return writer_.put(text_of(at), at); }
  bool spent_too_much() const noexcept;

  std::string_view source_;
  std::uint64_t read_bytes_ = source_.size();
  NameTable& names_;
  Arena& arena_;
  ValueLists& lists_;
  ViewTexts& out_;
  ViewWriter writer_;
  bool typed_;

  std::span<const Token> tokens_;
  std::uint32_t at_ = 0;      // the token that is read next
  std::deque<Frame> frames_;  // one for each open bracket; later ones are kept for their memory
  Frame* frame_ = nullptr;
  std::size_t depth_ = 0;
  std::vector<Argument> args_;  // of all open brackets
  std::vector<Shadow> shadows_;
  std::uint32_t closed_first_ = 0;  // tokens of the round bracket that was closed last
  std::uint32_t closed_end_ = 0;
  bool masked_load_ = false;                // the next import() stands in a type
  bool closed_condition_ = false;           // it was that of if, while, for, ...
  mutable std::uint64_t looked_ahead_ = 0;  // tokens
  std::uint64_t list_bytes_ = 0;
  std::uint32_t unchecked_ = 0;  // tokens since the budget was looked at
  bool over_budget_ = false;
};

}  // namespace guard
