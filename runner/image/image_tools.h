// Programs of this machine that the configuration takes into the image: git, tar, a shell.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runner/image/elf_file.h"

namespace guard {

// "git", "g++": a plain file name that no command line takes for an option.
bool is_tool_name(std::string_view name) noexcept;

// Each program as usr/bin/NAME, with its loader and libraries; sorted by target, each once. Looked for in the folders
// that the machine's own packages install programs into. DEPENDENCY_UNSATISFIED for one that is not there;
// INPUT_INVALID for a script, for what runs with more rights than its caller has, and for what another user than root
// may change.
Result<std::vector<LibraryFile>> tool_files(const std::vector<std::string>& names);

}  // namespace guard
