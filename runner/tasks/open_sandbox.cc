#include "runner/tasks/open_sandbox.h"

#include <algorithm>

namespace guard {

Result<TaskOutput> collect(Task& task, std::size_t bytes_max, Deadline deadline) {
  TaskOutput output;
  for (;;) {
    GUARD_TRY_ASSIGN(const auto piece, task.read(deadline));
    if (!piece) break;
    std::string& kept = piece->stream == Task::Piece::Stream::out ? output.out : output.err;
    const std::size_t room = bytes_max - std::min(bytes_max, kept.size());
    kept.append(piece->bytes, 0, room);
    output.cut = output.cut || piece->bytes.size() > room;
  }
  GUARD_TRY_ASSIGN(output.end, task.end());
  return output;
}

Result<TaskOutput> run_task(OpenSandbox& sandbox, const TaskSpec& spec, std::size_t bytes_max, Deadline deadline) {
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> task, sandbox.start(spec));
  return collect(*task, bytes_max, deadline);
}

}  // namespace guard
