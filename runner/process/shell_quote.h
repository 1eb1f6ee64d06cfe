// Words for a POSIX shell that somebody else starts: the one place where guard writes a shell's language.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// The word as one the shell takes as it is, whatever it holds: in single quotes, each of its own as '\''. An empty word
// stays a word. No word may hold a NUL byte: no argument can.
std::string shell_quoted(std::string_view word);

// The words with blanks between them.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace guard
