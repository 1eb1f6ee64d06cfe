// `guard hook agent --install AGENT`: a coding agent's settings that call guard, and the brief in the file of
// instructions it reads.
#pragma once

#include "cli/commands/commands.h"

namespace guard {

// Prints what it would change; changes it with --yes. 0: done, or nothing to do; 1: there is something to do, and --yes
// was not given.
int hook_agent_install(const HookOptions& options, CommandContext& context);

}  // namespace guard
