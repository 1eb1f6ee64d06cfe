// Pictures, fonts, archives, databases and the like, which tests read: files that are no text and that no reader of
// programs takes.
#pragma once

#include <string_view>

namespace guard {

// True only for a file that has the ending and the first bytes of a known kind, and that cannot be parsed as a program
// from its beginning. bun runs a file of any name where it is given to require() or started by name, and pictures can
// be made that are programs.
bool is_binary_fixture(std::string_view path, std::string_view bytes);

}  // namespace guard
