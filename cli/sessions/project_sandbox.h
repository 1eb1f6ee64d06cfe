// A fresh sandbox of the project, as `guard run` makes it, for somebody at the terminal.
#pragma once

#include <string>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/sessions/work_on_terminal.h"

namespace guard {

// The sandbox, and a task in its working folder with the environment of a run; argv is to be filled in where `command`
// is empty. `record`, where it is not empty, names an evidence record: then it is the sandbox of that run, or an error.
Result<TerminalTask> project_sandbox(const Options& options, CommandContext& context,
    const std::vector<std::string>& command, const std::string& record);

}  // namespace guard
