// `guard hook agent`: one event in, one answer out.
#pragma once

#include <array>
#include <string_view>

#include "cli/commands/commands.h"

namespace guard {

// Reads standard input. 0: nothing stands against it. 2: it must not be done, or guard could not tell; these agents
// take every other status for "go on".
Result<int> hook_agent(const Options& options, CommandContext& context);

// The agents whose settings are known.
inline constexpr std::array<std::string_view, 4> kAgentNames = {"claude", "gemini", "copilot", "cursor"};

// `guard hook agent --install AGENT`: a coding agent's settings that call guard, and the brief in the file of
// instructions it reads.
// Prints what it would change; changes it with --yes. 0: done, or nothing to do; 1: there is something to do, and --yes
// was not given.
Result<int> hook_agent_install(const Options& options, CommandContext& context);

}  // namespace guard
