#include "cli/sessions/work_on_terminal.h"

#include "cli/local_terminal.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr int kKilledBy = 128;  // as shells say it, with the signal's number
constexpr int kTimedOut = 124;  // as timeout(1) does

}  // namespace

int status_of(std::string_view kind, int value, CommandContext& context) {
  if (kind == "exited") return value;
  context.streams.err.print("guard: the command ended: {} {}\n", printable(kind), value);
  return kind == "timed_out" ? kTimedOut : kind == "signaled" ? kKilledBy + value : 2;
}

Result<int> work_on_terminal(const std::function<Result<TerminalTask>()>& prepare, CommandContext& context) {
  GUARD_TRY(need_terminal());
  GUARD_TRY_ASSIGN(TerminalTask task, prepare());
  const std::string type = value_of(context.environment, "TERM");
  if (!type.empty()) task.spec.env.emplace("TERM", type);
  task.spec.terminal = terminal_size();
  GUARD_TRY_ASSIGN(const auto started, task.start(task.spec));
  GUARD_TRY_ASSIGN(const TaskEnd end, run_on_terminal(*started, context.cancel));
  return status_of(to_string(end.outcome.kind), static_cast<int>(end.outcome.value), context);
}

}  // namespace guard
