// Writes the code and strings views from tokens (what they hold is said in source_view.h).
//
// One pass over the tokens with a stack of open brackets. It follows expressions only as far as their values are
// constant; what it can't follow is written as it stands. Never fails: brackets that don't match are ignored.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validator/lex/js_lexer.h"
#include "validator/lex/mapped_text.h"
#include "validator/values/constant_folder.h"
#include "validator/values/name_table.h"
#include "validator/views/view_text.h"

namespace guard {

// Marks of the strings view.
constexpr char kEntryBegin = '\x1e';
constexpr char kEntryText = '\x1d';
constexpr char kEntryEnd = '\x1f';
constexpr char kEntryJoined = '\v';

// A text that the file runs as code: the argument of eval, a data: URL, what `bun -e` is given.
struct NestedText {
  std::string_view text;  // in the Arena: it is read when the builder is gone
  TextSpan span;          // of the file
};

// How many texts that could be code are kept; one more says that there were more.
constexpr std::size_t kTextsMax = 2'000;

// What is written for one file.
struct ViewTexts {
  MappedText code;
  MappedText strings;
  MappedText commands;
  MappedText uses;
  std::vector<TextSpan> escaped_names;
  std::vector<NestedText> nested;
  bool keeps_texts = false;
  std::vector<NestedText> texts;  // what could be code; read as such where a function that runs text is handed around

  struct Mark {
    std::size_t code, strings, commands, uses, escaped_names, nested, texts;
  };
  Mark mark() const noexcept;
  void cut(const Mark& to);  // drops what was written after `to`
  void clear();
  std::uint64_t size() const noexcept { return code.size() + strings.size() + commands.size() + uses.size(); }
};

class ViewBuilder {
 public:
  // With `origin`, all that is read stands for that span of the file.
  ViewBuilder(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, ViewTexts& out, bool typed,
      std::optional<TextSpan> origin = std::nullopt);
  ~ViewBuilder();

  // Appends the reading of the tokens of the file, or of an alternative, to the views.
  void read(std::span<const Token> tokens);

  // How many bytes were read into these views so far, this text among them; without it, only this text.
  void set_read_bytes(std::uint64_t bytes) noexcept { read_bytes_ = bytes; }

  // Looks around, in bytes of callees and tokens of import clauses; for tests of linearity.
  std::uint64_t steps() const noexcept { return callee_bytes_ + clause_tokens_; }

  // The views grew out of all proportion to the text, and reading stopped.
  bool over_budget() const noexcept { return over_budget_; }

  // An entry of the strings view. `joined`: of words that stand apart, and may be no command.
  void add_entry(
      std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end, bool joined = false);

 private:
  // An expression that is being read. `sum` is what stood before the last `+`.
  struct Expression {
    Value sum;
    Value operand;
    Value receiver;                   // x of x.method
    std::string_view method;          // its name; both while the operand ends in a member
    std::string_view declared;        // the name that is given this value
    std::string_view word;            // the operand, if it is a single name
    std::uint32_t pattern_first = 0;  // tokens of { a, b: c } that are given this value
    std::uint32_t pattern_end = 0;
    std::size_t operand_begin = 0;  // in the code view
    std::size_t type_begin = 0;     // of ` as T`, 0 if there is none
    std::uint32_t source_begin = 0;
    std::int32_t angles = 0;  // open < of a type
    bool has_sum = false;
    bool open = false;      // an operand has begun
    bool prefixed = false;  // an operator stands before it
    bool after_dot = false;
    bool in_type = false;
    bool declares = false;         // a declared name is due
    bool declaration = false;      // inside const/let/var
    bool annotated = false;        // the declared name has no value yet
    bool opaque = false;           // a value we don't compute is part of it
    bool made = false;             // `new` stands before it
    bool tracked = false;          // the operand may begin with a root of the surface
    bool negative = false;         // an odd number of minus signs stands before it
    bool compared = false;         // only looked at by the operator behind it
    bool ambient = false;          // `declare const x`: only a type
    std::uint32_t name_token = 0;  // of the declared name
    std::string_view qualified;    // the operand as a.b.c, if it begins with a name of the file
    std::string_view target;       // what stood before `=`
    char lead = ';';               // what stands before it: ( [ { , : = . | > r(eturn) ;

    // Begins anew behind `before`. Member by member: a copy of a fresh one costs several times as much.
    void reset(char before) noexcept {
      sum = operand = receiver = Value{};
      method = declared = word = qualified = target = std::string_view();
      pattern_first = pattern_end = source_begin = name_token = 0;
      operand_begin = type_begin = 0;
      angles = 0;
      has_sum = open = prefixed = after_dot = in_type = declares = declaration = annotated = opaque = made = tracked =
          negative = compared = ambient = false;
      lead = before;
    }

    // Was there a value, and nothing in it that could be a root under another name?
    bool operand_known() const noexcept { return open || has_sum; }
  };

  // A root object that was handed to a call which is still open.
  struct HandedRoot {
    std::size_t group = 0;     // groups_.size() inside of the call
    std::size_t argument = 0;  // which one
    std::string path;
    std::uint32_t begin = 0;
    std::uint32_t end = 0;
  };

  // A declaration that hides a global of the same name, as far as its scope goes.
  struct Shadow {
    std::string_view name;
    std::size_t depth = 0;    // groups_.size() of the scope; it ends when fewer are open
    std::uint32_t first = 0;  // tokens of the scope, where known
    std::uint32_t end = UINT32_MAX;
  };

  struct Group {
    char open = '(';
    bool call = false;            // f( or x[
    bool tagged = false;          // f`
    bool condition = false;       // if (, while (: what follows is a statement
    Expression* outer = nullptr;  // that it is a part of
    std::size_t args_begin = 0;
    std::size_t code_begin = 0;    // size of the code view before it was opened
    std::size_t callee_begin = 0;  // in the code view
    std::size_t first_arg_end = 0;
    std::uint32_t source_begin = 0;
    std::uint32_t token = 0;
    std::string_view scope;  // { of a constant, enum, namespace or class of this name
    std::string_view key;    // of the property that is being read
    bool raw = false;        // String.raw`
  };

  std::string_view source_of(const Token& token) const noexcept;
  void write(MappedText& to, std::string_view text, std::uint32_t begin, std::uint32_t end);
  std::size_t put(std::string_view text, const Token& token);
  void token(std::uint32_t index);
  void word(std::uint32_t index);
  bool keyword(std::string_view name, std::uint32_t index);
  void member(std::string_view name, const Token& at);
  void name(std::string_view name, std::uint32_t index);
  void begin_operand(const Token& at, const Value& value, std::size_t code_begin);
  void string_literal(std::uint32_t index);
  void template_piece(std::uint32_t index);
  void punctuator(std::uint32_t index);
  void begin_pattern(std::uint32_t index);
  void open_group(char open, std::uint32_t index);
  void close_group(char open, std::uint32_t index);
  void close_call(Group& group, const Token& at);
  void close_plain(Group& group, const Token& at);
  void close_square(Group& group, const Token& at);
  void replace_code(std::size_t from, std::string_view text, std::uint32_t begin, std::uint32_t end);
  bool load_module(const Group& group, std::string_view callee, const Value& specifier, bool direct, const Token& at);
  std::uint32_t end_of_cast(std::uint32_t index) const noexcept;
  std::uint32_t end_of_function_type(std::uint32_t index) const noexcept;

  Value finish(bool last);
  void bind(const Value& total, bool last);
  Value end_argument();
  std::string_view callee_here() const noexcept;
  std::string_view called(const Group& group) const noexcept;
  std::string_view ends_of(std::string_view callee) const noexcept;
  std::string_view path_of_operand() const;
  std::uint32_t import_clause(std::uint32_t index);
  std::uint32_t matching_bracket(std::uint32_t index) const noexcept;
  Value literal_value(const Token& token);
  bool spent_too_much() const noexcept;
  void add_folded(const Value& value);
  void add_command(std::span<const Value> words, std::uint32_t begin, std::uint32_t end);
  void add_commands(std::string_view callee, std::string_view text, bool argv, std::uint32_t begin, std::uint32_t end);

  // view_bindings.cc: values that pass through names, patterns and properties.
  std::string_view path_of(std::string_view code) const;
  void add_alias(std::string_view name, std::string_view path, std::uint32_t begin, std::uint32_t end);
  void bind_name(std::string_view name, const Value& value, const Token& at);
  std::string_view property_name(std::string_view object, std::string_view key);
  void bind_pattern(std::uint32_t first, std::uint32_t end, std::string_view path, std::string_view object);
  void name_property(const Value& value);
  std::string_view scope_of_object();
  void arrow(std::uint32_t index);
  void name_function(std::uint32_t index);
  void replace_operand(const Value& path, std::size_t code_begin, const Token& at);

  // view_uses.cc: what the file does with the objects that lead to the world.
  void add_use(
      std::string_view kind, std::string_view path, std::string_view detail, std::uint32_t begin, std::uint32_t end);
  void note_member(std::string_view owner, std::string_view name, std::uint32_t begin, std::uint32_t end);
  void note_module(std::string_view specifier, std::uint32_t begin, std::uint32_t end);
  void note_value(bool last);
  bool is_arrow_head(std::uint32_t index, bool in_condition) const noexcept;
  bool is_parameter_list(const Group& group) const noexcept;
  void flush_handed_roots(std::string_view callee, std::string_view member);
  bool is_shadowed(std::string_view name, std::uint32_t index) const noexcept;
  void declare_shadow(std::string_view name, std::uint32_t index);
  void shadow_parameters(std::uint32_t index);
  std::uint32_t scope_end(std::uint32_t index, bool one_line);
  void note_attributes(std::uint32_t index);
  void note_reexport(std::uint32_t index, std::string_view specifier);
  bool is_own_name(std::string_view callee) const;
  void note_computed_global(const Group& group, std::uint32_t close);
  bool is_symbol_of_global(const Group& group);

  std::string_view source_;
  std::uint64_t read_bytes_ = source_.size();
  mutable std::uint64_t callee_bytes_ = 0;
  std::uint64_t clause_tokens_ = 0;
  std::span<const Token> vain_clause_;  // from an `import` without a module's name to the end of what is read
  const Token* vain_clause_stop_ = nullptr;
  mutable std::array<char, kOperandCodeMax + 1> far_callee_{};
  NameTable& names_;
  Arena& arena_;
  ValueLists& lists_;
  ViewTexts& out_;
  MappedText& code_;
  MappedText& strings_;
  bool typed_;  // TypeScript: f<T>(x) is a call
  std::optional<TextSpan> origin_;

  std::span<const Token> tokens_;
  std::deque<Expression> expressions_{
      1};  // that of the text, and one for each open group; later ones are kept for their memory
  Expression* now_ = &expressions_.front();
  std::vector<Group> groups_;
  std::vector<Value> args_;
  std::vector<HandedRoot> handed_roots_;
  std::vector<Shadow> shadows_;
  std::string scratch_;

  std::uint32_t closed_first_ = 0;  // tokens of the round group that was closed last
  std::uint32_t closed_end_ = 0;
  bool closed_condition_ = false;   // it was that of if, while, for, ...
  std::uint64_t looked_ahead_ = 0;  // tokens, while scopes were sought
  std::uint32_t index_ = 0;         // of the token that is being read
  std::uint32_t skip_until_ = 0;    // tokens before this were dealt with
  bool second_reading_ = false;
  bool masked_load_ = false;  // the next import() stands in a type
  bool over_budget_ = false;
  std::uint64_t list_bytes_ = 0;
};

}  // namespace guard
