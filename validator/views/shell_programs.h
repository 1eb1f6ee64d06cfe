// What is known of the programs that start other programs.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// The last part of a path, without `.exe` and the like; the whole of an address.
std::string_view program_name(std::string_view word) noexcept;

// Does it run texts that it is given with -c or on its standard input?
bool is_shell_program(std::string_view name) noexcept;

// A byte of a shell's variable name.
constexpr bool is_shell_name_byte(char c) noexcept {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

// NAME=value
bool is_shell_assignment(std::string_view word) noexcept;

// Takes off what only starts the program behind it: `sudo -u me env A=b timeout 5 npm test` is `npm test`. Words that
// name no other program (`env` alone, `command -v npm`) stay.
void strip_wrappers(std::vector<std::string>& words);

// A pattern in the place of a program (n?m, [n]pm) as the program that it can stand for among those that rules look
// for; the name itself if there is none.
std::string_view program_of_pattern(std::string_view name);

}  // namespace guard
