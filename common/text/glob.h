// Path globs as in .gitignore and CI files: `*` and `?` stay within one segment, `**` spans segments, `[a-z]` and
// `{a,b}` are not special. Paths are relative and joined with '/'.
#pragma once

#include <string_view>

namespace guard {

// Linear in pattern times path.
bool glob_matches(std::string_view pattern, std::string_view path);

}  // namespace guard
