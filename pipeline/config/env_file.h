// Variables for the sandbox from a file of NAME=VALUE lines, as --env-file names it.
//
// Blank lines and lines that begin with # are left out, as is `export ` before a name. A value in single quotes is
// taken as it is; in double quotes \n, \r, \t, \", \\ and \$ stand for their characters. Both may go on over lines. An
// unquoted one ends at the line's end or before " #". Nothing is expanded: $HOME is five characters.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "pipeline/config/config.h"

namespace guard {

// As if each stood in an --env of its own. INPUT_INVALID with `file_name` and the line for everything else; an error
// never quotes the text, which may be a secret.
Result<std::vector<ConfigOverride>> parse_env_file(std::string_view text, std::string_view file_name);

Result<std::vector<ConfigOverride>> read_env_file(const std::string& path);

}  // namespace guard
