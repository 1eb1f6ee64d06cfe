// Words for a POSIX shell that somebody else starts: the one place where guard writes a shell's language.
#pragma once

#include <string>
#include <vector>

#include "common/text/text.h"

namespace guard {

// The words with blanks between them, each quoted (common/text/text.h), plain ones too: what needs no quotes differs
// between shells. No word may hold a NUL byte: no argument can.
std::string shell_line(const std::vector<std::string>& words);

}  // namespace guard
