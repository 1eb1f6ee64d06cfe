// What is known of the programs that start other programs; their names stand in rules/word_lists.toml.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace guard {

// The last part of a path, without `.exe` and the like; the whole of an address.
std::string_view program_name(std::string_view word) noexcept;

// A byte of a shell's variable name.
constexpr bool is_shell_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// NAME=value
bool is_shell_assignment(std::string_view word) noexcept;

// A pattern in the place of a program (n?m, [n]pm) as a program that rules look for; the name itself if there is none.
std::string_view program_of_pattern(std::string_view name);

// The index of the program that the words start in the end: `npm` of `sudo -u me env A=b timeout 5 npm test`. Words
// that name no other program (`env` alone, `command -v npm`) stay.
std::size_t started_program(std::span<const std::string> words) noexcept;

}  // namespace guard
