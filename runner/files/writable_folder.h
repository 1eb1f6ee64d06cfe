// A folder of a project that a program may write to for real: nothing of it is a copy, and what is written stays.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"

namespace guard {

// `name` relative to `project`, as "out/pages". INPUT_INVALID for the project itself and what lies outside of it, for a
// link in the path, and for .git, node_modules and .env* in the path or anywhere in the folder; also for sockets, pipes
// and devices in it, through which a program could reach what is not its own.
Result<std::string> writable_folder(const std::filesystem::path& project, std::string_view name);

}  // namespace guard
