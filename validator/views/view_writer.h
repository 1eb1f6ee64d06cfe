// Writes the views of a text (what they hold is said in source_view.h): pieces of code, and entries of the others.
//
// It knows nothing of expressions: who calls it says what a piece stands for, and what function it is handed to.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validator/lex/js_lexer.h"
#include "validator/lex/mapped_text.h"
#include "validator/values/constant_folder.h"
#include "validator/values/name_table.h"

namespace guard {

// Marks of the entries.
constexpr char kEntryBegin = '\x1e';
constexpr char kEntryText = '\x1d';
constexpr char kEntryEnd = '\x1f';
constexpr char kEntryJoined = '\v';
constexpr char kEntryReads = '@';

inline constexpr std::string_view kKeyCallee = "key";        // of texts that are names of properties
inline constexpr std::string_view kWritesCallee = "=>";      // of paths to which something is written
inline constexpr std::string_view kTextCallee = "Bun.file";  // of modules that are loaded as texts

// A text that the file runs as code: the argument of eval, a data: URL, what `bun -e` is given.
struct NestedText {
  std::string_view text;  // in the Arena: it is read when the reader is gone
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
  bool hands_runner = false;      // eval or its kin is handed around
  std::vector<NestedText> texts;  // what could be code; read as such where a function that runs text is handed around

  struct Mark {
    std::size_t code, strings, commands, uses, escaped_names, nested, texts;
  };
  Mark mark() const noexcept;
  void cut(const Mark& to);  // drops what was written after `to`
  void clear();
  std::uint64_t size() const noexcept { return code.size() + strings.size() + commands.size() + uses.size(); }
};

// Is a callee whose last name is well known more than that: a method of something, or a function that the file
// declares?
bool is_own_name(std::string_view callee, const NameTable& names);

class ViewWriter {
 public:
  // With `origin`, all that is written stands for that span of the file.
  ViewWriter(ViewTexts& out, const NameTable& names, Arena& arena, std::optional<TextSpan> origin)
      : out_(out), names_(names), arena_(arena), origin_(origin) {}

  // Writes code, behind the blank that keeps it apart from the word before. Gives the place where it begins.
  std::size_t put(std::string_view text, const Token& token);
  std::size_t code_size() const noexcept { return out_.code.size(); }
  // Drops the code behind `size`.
  void cut_code(std::size_t size) { out_.code.truncate(size); }
  // Writes [begin, end) of the code, its last part, again from `to` on, behind `prefix`: without a bracket between
  // them.
  std::size_t move_code(
      std::size_t to, std::size_t begin, std::size_t end, const Token& place, std::string_view prefix = {});

  enum class Text : std::uint8_t {
    whole,
    joined,    // of words that stand apart, and may be no command
    argument,  // of a script, and no command of its own
  };
  // `callee` is the function that the text is handed to, as the code view spells it.
  void add_string(
      std::string_view callee, std::string_view text, std::uint32_t begin, std::uint32_t end, Text kind = Text::whole);
  // The path of a file that `callee` is handed by a way of its own.
  void add_path(std::string_view callee, const Value& path);
  // A program and its arguments. `in_options`: { cmd: [..] }.
  void add_words(
      std::string_view callee, std::span<const Value> words, bool in_options, std::uint32_t begin, std::uint32_t end);
  // A text for a shell. `certain`: the callee is known to run commands.
  void add_commands(
      std::string_view callee, std::string_view text, bool certain, std::uint32_t begin, std::uint32_t end);
  void add_use(
      std::string_view kind, std::string_view path, std::string_view detail, std::uint32_t begin, std::uint32_t end);
  void add_escaped_name(const Token& at);

 private:
  TextSpan span_of(std::uint32_t begin, std::uint32_t end) const noexcept {
    return origin_ ? *origin_ : TextSpan{begin, end};
  }
  void write_commands(std::string_view callee, std::string_view commands, std::span<const std::string> files,
      bool certain, std::uint32_t begin, std::uint32_t end);
  void write(MappedText& to, std::string_view text, std::uint32_t begin, std::uint32_t end);

  ViewTexts& out_;
  const NameTable& names_;
  Arena& arena_;
  std::optional<TextSpan> origin_;
  std::string scratch_;
};

}  // namespace guard
