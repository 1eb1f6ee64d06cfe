// What shells and manual readers need to know of the command line: completions and the manual page, both made from the
// table of verbs (verbs.h), so that neither can drift from what is parsed.
//
// Pure functions; the texts end with a line feed.
#pragma once

#include <string>

namespace guard {

std::string bash_completion();
std::string zsh_completion();
std::string fish_completion();

// guard(1), for man(7) macros.
std::string man_page();

}  // namespace guard
