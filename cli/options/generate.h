// What shells and manual readers need to know of the command line: completions and the manual page (guard(1), for
// man(7) macros). Each is a template beside this file, filled with the table of verbs (verbs.h), so that none can drift
// from what is parsed.
#pragma once

#include <string>

#include "cli/options/options.h"

namespace guard {

// Of Action::man, bash, zsh or fish. Pure; the text ends with a line feed.
std::string generated_text(Action what);

}  // namespace guard
