// `guard shell`: a person in a sandbox, to find out why a test fails.
#include <fmt/format.h>

#include <array>

#include "cli/commands/commands.h"
#include "cli/sessions/project_sandbox.h"
#include "cli/sessions/session_service.h"
#include "cli/sessions/work_on_terminal.h"

namespace guard {
namespace {

constexpr milliseconds kLookLimit{10'000};

// What there is to work with: images of guard's own have no shell.
Result<std::vector<std::string>> find_shell(const StartTask& start) {
  constexpr std::array kShells = {"/bin/bash", "/usr/bin/bash", "/bin/sh", "/usr/bin/sh"};
  for (const char* shell : kShells) {
    TaskSpec look;
    look.kind = TaskOperation::stat;
    look.argv = {shell};
    look.working_dir = "/";
    GUARD_TRY_ASSIGN(const auto task, start(look));
    if (collect(*task, 4096, Deadline::after(kLookLimit))) return std::vector<std::string>{shell};
  }
  return std::vector<std::string>{"bun", "repl"};
}

Result<TerminalTask> prepare(const Options& options, CommandContext& context) {
  TerminalTask task;
  if (options.arguments.empty()) {
    GUARD_TRY_ASSIGN(task, project_sandbox(options, context, {}, options.record));
  } else {
    GUARD_TRY_ASSIGN(task.start, session_tasks(options, context, options.arguments.front()));
  }
  GUARD_TRY_ASSIGN(task.spec.argv, find_shell(task.start));
  if (!options.quiet) {
    const bool repl = task.spec.argv.front() == "bun";
    context.streams.err.print("guard: {} in the sandbox, in {}; Ctrl-D ends it\n",
        repl ? "the image has no shell, so this is `bun repl`" : task.spec.argv.front(), task.spec.working_dir);
  }
  return task;
}

}  // namespace

Result<int> cmd_shell(const Options& options, CommandContext& context) {
  if (!options.arguments.empty()) {
    GUARD_TRY(sessions::check_session_id(options.arguments.front()));
    if (!options.record.empty())
      return Error(ErrorCode::usage, "a session is no recorded run").hint("leave the session or --record out");
  }
  return work_on_terminal([&] { return prepare(options, context); }, context);
}

}  // namespace guard
