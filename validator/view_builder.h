// Writes the code and strings views from tokens (what they hold is said in source_view.h).
//
// One pass over the tokens with a stack of open brackets. It follows expressions only as far as their values are
// constant; what it can't follow is written as it stands. Never fails: brackets that don't match are ignored.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "validator/constant_folder.h"
#include "validator/js_lexer.h"
#include "validator/mapped_text.h"
#include "validator/name_table.h"

namespace guard {

// Marks of the strings view.
constexpr char kEntryBegin = '\x1e';
constexpr char kEntryText = '\x1d';
constexpr char kEntryEnd = '\x1f';

class ViewBuilder {
 public:
  ViewBuilder(std::string_view source, NameTable& names, Arena& arena, ValueLists& lists, MappedText& code,
              MappedText& strings, std::vector<TextSpan>& escaped_names);
  ~ViewBuilder();

  // Appends the reading of `tokens` to the views.
  void read(std::span<const Token> tokens);

  // A name was given its meaning behind a place where it was used: read again with the same NameTable, frozen.
  bool wants_second_reading() const noexcept { return second_reading_; }

  // The views grew out of all proportion to the text, and reading stopped.
  bool over_budget() const noexcept { return over_budget_; }

  // Uses of names that may stand for more than one thing; each is read again with every other meaning.
  void read_other_meanings(std::span<const Token> tokens);

  // An entry of the strings view.
  void add_entry(std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end);

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
    bool declares = false;     // a declared name is due
    bool declaration = false;  // inside const/let/var
    bool annotated = false;    // the declared name has no value yet
    bool opaque = false;       // a value we don't compute is part of it
  };

  struct Group {
    char open = '(';
    bool call = false;       // f( or x[
    bool tagged = false;     // f`
    bool condition = false;  // if (, while (: what follows is a statement
    Expression outer;
    std::size_t args_begin = 0;
    std::size_t code_begin = 0;    // size of the code view before it was opened
    std::size_t callee_begin = 0;  // in the code view
    std::size_t first_arg_end = 0;
    std::uint32_t source_begin = 0;
  };

  struct OtherMeaning {
    std::uint32_t token;
    std::uint32_t index;  // into the aliases of its name
  };

  std::string_view source_of(const Token& token) const noexcept;
  std::size_t put(std::string_view text, const Token& token);
  void token(std::uint32_t index);
  void word(std::uint32_t index);
  bool keyword(std::string_view name, std::uint32_t index);
  void member(std::string_view name, const Token& at);
  void name(std::string_view name, std::uint32_t index);
  void begin_operand(const Token& at, Value value, std::size_t code_begin);
  void string_literal(std::uint32_t index);
  void template_piece(std::uint32_t index);
  void punctuator(std::uint32_t index);
  void open_group(char open, std::uint32_t index);
  void close_group(char open, std::uint32_t index);
  void close_round(Group& group, Value total, const Token& at);
  void close_call(Group& group, const Token& at);
  void close_plain(Group& group, const Token& at);
  void close_square(Group& group, const Token& at);
  void replace_code(std::size_t from, std::string_view text, std::uint32_t begin, std::uint32_t end);
  bool load_module(const Group& group, std::string_view callee, const Value& specifier, const Token& at);

  Value finish(bool last);
  void bind(const Value& total, bool last);
  void bind_pattern(std::string_view path);
  Value end_argument();
  std::string_view callee_here() const noexcept;
  std::string_view path_of_operand() const;
  std::string_view root_path(std::string_view path);
  std::uint32_t import_clause(std::uint32_t index);
  std::uint32_t matching_brace(std::uint32_t index) const noexcept;
  Value literal_value(const Token& token);
  bool spent_too_much() const noexcept;
  void add_folded(const Value& value);
  void add_command(std::span<const Value> words, std::uint32_t begin, std::uint32_t end);

  std::string_view source_;
  NameTable& names_;
  Arena& arena_;
  ValueLists& lists_;
  MappedText& code_;
  MappedText& strings_;
  std::vector<TextSpan>& escaped_names_;

  std::span<const Token> tokens_;
  Expression now_;
  std::vector<Group> groups_;
  std::vector<Value> args_;
  std::vector<OtherMeaning> other_meanings_;
  std::uint32_t skip_until_ = 0;  // tokens before this were dealt with
  std::uint32_t forced_token_ = UINT32_MAX;
  std::uint32_t forced_index_ = 0;
  bool second_reading_ = false;
  bool masked_load_ = false;  // the next import() stands in a type
  bool over_budget_ = false;
  std::uint64_t list_bytes_ = 0;
};

}  // namespace guard
