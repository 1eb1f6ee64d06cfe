// `guard mcp install`: the settings with which a coding agent starts `guard mcp` in this project.
#pragma once

#include <array>
#include <string_view>

#include "cli/commands/commands.h"

namespace guard::mcp {

inline constexpr std::array<std::string_view, 4> kClientNames = {"claude", "cursor", "vscode", "gemini"};

// Prints what it would change; changes it with --yes. 0: done, or nothing to do; 1: not written. USAGE; INPUT_INVALID
// for settings that are no JSON.
Result<int> install(const Options& options, CommandContext& context);

}  // namespace guard::mcp
