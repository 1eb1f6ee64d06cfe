// Names that mean something to the validator wherever they stand, looked up with one hash.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace guard {

// What a function of this name does with what it is given. A name tells little about the function, so these only choose
// how its arguments are read; they never excuse an act.
enum CalleeTrait : std::uint16_t {
  kRunsText = 1,       // runs a text as code: eval, Function, Worker, setTimeout
  kRunsCommand = 2,    // runs a text or an array as a command: exec, spawn, $
  kAsserts = 4,        // of a test library: names or compares what it is given
  kPassive = 8,        // writes, creates or asks about a path, or only computes with it
  kFolds = 16,         // its value can be computed: atob, join, fromCharCode
  kWritesFirst = 32,   // writes the file that it is given the path of: writeFileSync
  kWritesSecond = 64,  // writes what its second argument is the path of: copyFileSync
};
using CalleeTraits = std::uint16_t;

// `callee` as the code view spells it; its last name decides.
CalleeTraits traits_of(std::string_view callee) noexcept;

// Is `name` a global or module root that rules speak of?
bool is_root_name(std::string_view name) noexcept;

// A global that stands for itself behind globalThis.
bool is_known_global(std::string_view name) noexcept;

// Does a program that the rules speak of stand in `text` as a word?
bool names_program(std::string_view text) noexcept;

// A byte of an ASCII name in JavaScript.
constexpr bool is_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '$';
}

// A byte of any name: every byte above ASCII may belong to one.
constexpr bool is_word_byte(char c) noexcept { return is_name_byte(c) || static_cast<unsigned char>(c) >= 0x80; }

// Can `text` be written behind a dot?
bool is_identifier(std::string_view text) noexcept;

// globalThis and its other names.
constexpr bool is_global_object(std::string_view name) noexcept {
  return name == "globalThis" || name == "global" || name == "self" || name == "window";
}

// b of a.b
constexpr std::string_view last_name(std::string_view path) noexcept { return path.substr(path.rfind('.') + 1); }

// A cheap hash of a name: its ends and its length.
constexpr std::uint64_t hash_name(std::string_view name) noexcept {
  const auto eight_at = [name](std::size_t at) {  // one load
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < 8; ++i)
      value |= static_cast<std::uint64_t>(static_cast<unsigned char>(name.data()[at + i])) << (8 * i);
    return value;
  };
  std::uint64_t head = 0;
  std::uint64_t tail = 0;
  if (name.size() >= 8) {
    head = eight_at(0);
    tail = eight_at(name.size() - 8);
  } else {
    for (std::size_t i = 0; i < name.size(); ++i) head = head << 8 | static_cast<unsigned char>(name[i]);
  }
  std::uint64_t hash = (head ^ (tail * 0x9e3779b97f4a7c15ULL) ^ name.size()) * 0xff51afd7ed558ccdULL;
  hash ^= hash >> 32;
  return hash * 0xc4ceb9fe1a85ec53ULL;
}

// The first eight bytes as a number, for switches over short words.
constexpr std::uint64_t packed_name(std::string_view word) noexcept {
  std::uint64_t value = 0;
  if (word.size() > 8) return value;
  for (const char c : word) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace guard
