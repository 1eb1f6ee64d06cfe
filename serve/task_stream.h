// Tasks of a session over one connection, any number side by side: `guard serve` stands in for the sandbox's init and
// speaks as it does (runner/tasks/task_protocol.h), but for the hello. So the one at the other end has the same
// Task interface, flow control included, as one that has the sandbox itself. Begun by
// POST /v1/sessions/T/C/tasks with "Upgrade: guard-tasks".
#pragma once

#include <functional>
#include <string>

#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/tasks/open_sandbox.h"

namespace guard::serve {

inline constexpr const char* kTaskStream = "guard-tasks";

// serve's end. Returns once the other one has gone, speaks nonsense, or `stopping` holds and no task runs any more:
// what still runs is killed. Does not own `connection`.
void serve_tasks(int connection, const StartTask& start, const std::function<bool()>& stopping);

// The other end. The connection ends with the function and its copies, and so do the tasks that still run; they end
// with ENVIRONMENT_UNAVAILABLE where serve goes first, and `gone` is called then, once, from another thread.
StartTask tasks_over(UniqueFd connection, std::function<void()> gone = {});

}  // namespace guard::serve
