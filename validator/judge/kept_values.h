// Does a file keep values that are handed to it, where whoever loads it finds them? A variable, a container, a class or
// the one instance of a class of the file's own, which its functions give values to.
#pragma once

#include "validator/judge/code_text.h"

namespace guard {

enum class Keeping { nothing, values, variable };

// `variable`: one that it reads of the environment, in a member of what it imports. One pass over the names.
Keeping keeps_values(const CodeText& code);

}  // namespace guard
