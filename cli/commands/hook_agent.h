// `guard hook agent`: one event in, one answer out.
#pragma once

#include "cli/commands/commands.h"

namespace guard {

// Reads standard input. 0: nothing stands against it. 2: it must not be done, or guard could not tell; these agents
// take every other status for "go on".
int hook_agent(const HookOptions& options, CommandContext& context);

}  // namespace guard
