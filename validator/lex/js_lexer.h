// TypeScript, JavaScript and JSX text as tokens. Total: every text has tokens, however broken, and nothing throws.
//
// No parser stands behind it, so some places can be read two ways: a slash may divide or begin a regular expression,
// `<` may compare or open an element, an opening back quote may never be closed. There one reading is the main one, and
// every other is followed too until it meets a reading that is known. Whoever looks at all tokens, main and
// alternative, sees all that any engine could take for code.
//
// Linear: the work on other readings and on vain look-aheads has a budget in proportion to the text. A text that spends
// it is `undecidable`; the caller has to refuse it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

namespace guard {

// Bytes of text. What a larger one took is given back: the other files of a tree don't need it.
inline constexpr std::size_t kMemoryKeptFor = 256 * 1024;

enum class TokenKind : std::uint8_t {
  word,  // identifier, keyword, #private name
  number,
  string,  // with its quotes; always closed, an unclosed quote is a punctuator
  template_open,
  template_text,
  template_close,
  substitution_open,   // ${
  substitution_close,  // the } of it
  regex,               // with its flags
  punctuator,
  markup_text,  // what stands between JSX tags
};

struct Token {
  std::uint32_t begin = 0;
  std::uint32_t end = 0;
  TokenKind kind = TokenKind::punctuator;
  bool line_before = false;  // a line ended between this token and the one before
  bool escaped = false;      // word, string or template text: holds a backslash
  bool markup = false;       // string: an attribute of a JSX tag, where a backslash is only a backslash
};

enum class Markup : std::uint8_t { no, possible };

struct TokenRange {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

struct LexerMemory;

struct LexedText {
  LexedText();
  ~LexedText();
  LexedText(LexedText&&) noexcept;
  LexedText& operator=(LexedText&&) noexcept;

  std::vector<Token> tokens;                    // the main reading
  std::vector<Token> alternative_tokens;        // the others, each with a few main tokens around it as context
  std::vector<TokenRange> alternatives;         // ranges of alternative_tokens
  std::vector<std::uint32_t> byte_order_marks;  // offsets of U+FEFF between tokens, the first byte of the text left out
  bool undecidable = false;
  std::uint64_t steps = 0;  // bytes looked at, for tests of linearity

  std::unique_ptr<LexerMemory> memory;  // the lexer's own, kept from text to text

  void clear();
};

// JSX exists in .tsx, .jsx, .js, .mjs and .cjs, and in names we don't know. Not in .ts, .mts and .cts.
Markup markup_of(std::string_view path) noexcept;

// `text` must be shorter than 2^31 bytes. `out` is cleared first; its memory is used again.
void lex(std::string_view text, Markup markup, LexedText& out);

// Length in bytes of the white space or line end at `at`, 0 if there is none. `line_end` is set for LF, CR, U+2028,
// U+2029.
std::size_t blank_length(std::string_view text, std::size_t at, bool& line_end) noexcept;

}  // namespace guard
