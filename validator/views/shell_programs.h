// What is known of the programs that start other programs; their names stand in rules/word_lists.toml.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace guard {

// The last part of a path, without `.exe` and the like; the whole of an address.
std::string_view program_name(std::string_view word) noexcept;

// A row of a list of programs: "timeout ks 1".
struct ProgramRow {
  std::string_view value_options;  // letters of short options that take a value
  char operands = '0';             // what the list says of them
};
std::optional<ProgramRow> program_row(std::string_view list, std::string_view name) noexcept;

// Is the value of the option the word behind it? Of -iu it is, of -ume not.
bool takes_next(std::string_view value_options, std::string_view option) noexcept;

// A byte of a shell's variable name.
constexpr bool is_shell_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// NAME=value, NAME+=value, NAME[index]=value
bool is_shell_assignment(std::string_view word) noexcept;

// A pattern of a shell as one of glob_matches(): a bracket expression stands for one byte, whichever.
std::string glob_of(std::string_view name);

// A pattern in the place of a program (n?m, [n]pm) as a program that rules look for; the name itself if there is none.
std::string_view program_of_pattern(std::string_view name);

// The index of the program that the words start in the end: `npm` of `sudo -u me env A=b timeout 5 npm test`. Words
// that name no other program (`env` alone, `command -v npm`) stay.
std::size_t started_program(std::span<const std::string> words) noexcept;

}  // namespace guard
