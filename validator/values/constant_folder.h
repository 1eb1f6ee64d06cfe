// Values of constant expressions: what a string is once escapes are decoded, pieces joined and everyday codings undone.
//
// Pure functions over values that live in an Arena. An unknown part of a text is one kWildcard byte, so "/proc/" + pid
// is
// "/proc/?" and still tells where it leads. Texts and lists have an upper size; what would be longer is unknown.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

constexpr char kWildcard = '\x1a';  // stands for any unknown text, in values and in the strings view

// Memory for values of one file; clear() keeps what was allocated.
class Arena {
 public:
  std::string_view copy(std::string_view text);
  // a followed by b; in place where `a` is what was allocated last.
  std::string_view concat(std::string_view a, std::string_view b);
  void clear() noexcept;
  std::uint64_t used_bytes() const noexcept { return total_; }

 private:
  char* allocate(std::size_t size);

  static constexpr std::size_t kBlockBytes = 64 * 1024;
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };
  std::vector<Block> blocks_;
  std::size_t block_ = 0;  // the one in use
  std::size_t used_ = 0;   // of it
  std::uint64_t total_ = 0;
};

struct Value {
  enum class Kind : std::uint8_t { unknown, text, list, number, path, own };
  std::string_view text;  // also the path: "process", "fs.readFileSync"
  std::int64_t number = 0;
  std::uint32_t list = 0;   // index into ValueLists
  std::uint32_t begin = 0;  // place in the source
  std::uint32_t end = 0;
  Kind kind = Kind::unknown;
  bool lone = false;  // a single literal, which is in the strings view already

  bool is_text() const noexcept { return kind == Kind::text; }
  bool is_known_text() const noexcept { return is_text() && text.find(kWildcard) == std::string_view::npos; }
};

using ValueLists = std::vector<std::vector<Value>>;

constexpr std::size_t kTextMax = 4096;
constexpr std::size_t kListMax = 256;

// Values that were computed; unknown where they would be too long.
Value text_value(std::string_view text, Arena& arena);
Value make_list(std::vector<Value> items, ValueLists& lists);

// The text between the quotes, escapes decoded. An escape that is not valid stands for the character behind the
// backslash.
std::string decode_escapes(std::string_view inner);
// \uXXXX and \u{X} in an identifier.
std::string decode_identifier(std::string_view word);

Value number_value(std::string_view literal);

// "a" + b: wildcards for what is unknown. Not text if neither side is.
Value join_values(const Value& a, const Value& b, Arena& arena);

// What `callee(args)` is, for the functions that build strings: atob, String.fromCharCode, path.join, new URL, ...
Value fold_function(std::string_view callee, std::span<const Value> args, ValueLists& lists, Arena& arena);

// What `receiver.method(args)` is: concat, slice, split, reverse, join, toString
Value fold_method(
    const Value& receiver, std::string_view method, std::span<const Value> args, ValueLists& lists, Arena& arena);

// What a text in hex or base64 says, if that is plain text; empty otherwise.
std::string decoded_text(std::string_view text);

// `//`, `/./` and `/x/../` taken out; empty if there is nothing to take out.
std::string normalized_path(std::string_view path);

// What a shell makes of `text` once quotes and backslashes inside words are gone and $IFS is a blank; empty if nothing
// changes.
std::string shell_reading(std::string_view text);

}  // namespace guard
