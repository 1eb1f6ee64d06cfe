// TOML as plain values with places, for rules, guard.toml and plans. The only file that sees toml++.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

struct TomlMember;

struct TomlValue {
  enum class Kind : std::uint8_t { string, integer, floating, boolean, array, table, other };
  Kind kind = Kind::table;
  std::string text;          // string
  std::int64_t integer = 0;  // integer
  double number = 0;         // floating, and integer as a double
  bool boolean = false;
  std::vector<TomlValue> items;     // array
  std::vector<TomlMember> members;  // table, in the order of the file
  std::uint32_t line = 0;           // 1-based place of the value
  std::uint32_t column = 0;

  const TomlValue* find(std::string_view key) const noexcept;
  std::string_view kind_name() const noexcept;  // "a string", "a table", ...
};

struct TomlMember {
  std::string key;
  std::uint32_t line = 0;  // place of the key
  std::uint32_t column = 0;
  TomlValue value;
};

// `name` is what messages call the text. Syntax errors are CONFIG_INVALID: "name:line:column: sentence". The text must
// be UTF-8 without NUL.
Result<TomlValue> parse_toml(std::string_view text, std::string_view name);

// "name:line:column: sentence", the one form of a complaint about a place in a file.
std::string toml_complaint(std::string_view name, std::uint32_t line, std::uint32_t column, std::string_view sentence);

}  // namespace guard
