// A command of a sandbox that somebody works with on the terminal that guard was started on.
#pragma once

#include <functional>
#include <string_view>

#include "cli/commands/commands.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

// The exit status for a command's end: its own; 124 where its time was over, 128 and the signal's number where one
// ended it, which is said, too.
int status_of(std::string_view kind, int value, CommandContext& context);

struct TerminalTask {
  StartTask start;
  TaskSpec spec;
};

// Runs what `prepare` answers on the terminal; it is asked once it is known that there is one. USAGE.
Result<int> work_on_terminal(const std::function<Result<TerminalTask>()>& prepare, CommandContext& context);

}  // namespace guard
