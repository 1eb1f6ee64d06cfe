#include <fmt/format.h>

#include "common/text/text.h"
#include "sessions/manager_state.h"

namespace guard::sessions {
namespace {

constexpr std::size_t kAnswerMax = 8ul << 20;  // of a list: a hundred thousand files
constexpr std::string_view kHome = "/workspace";

Result<std::string> inside(const std::string& path) {
  if (path.empty() || path.find('\0') != std::string::npos)
    return Error(ErrorCode::input_invalid, fmt::format("\"{}\" is no path", printable(path)));
  return path.front() == '/' ? path : fmt::format("{}/{}", kHome, path);
}

TaskSpec operation(TaskOperation kind, std::vector<std::string> argv, Deadline deadline) {
  TaskSpec spec;
  spec.kind = kind;
  spec.argv = std::move(argv);
  if (const milliseconds left = deadline.remaining(); left != milliseconds::max())
    spec.timeout = std::max(left, milliseconds(1));
  return spec;
}

Result<TaskOutput> finished(Result<TaskOutput> output) {
  if (!output) return output;
  const Outcome& outcome = output->end.outcome;
  if (outcome.kind == OutcomeKind::exited && outcome.value == 0) return output;
  if (outcome.kind == OutcomeKind::timed_out)
    return Error(ErrorCode::execution_timeout, "the operation on files took too long")
        .detail("timeout", fmt::format("{}", outcome.value));
  return Error(ErrorCode::execution_failed,
      fmt::format("the operation on files ended as {}: {}", outcome_text(output->end), printable(output->err)));
}

}  // namespace

Result<std::string> Manager::upload(
    const std::string& id, const std::string& path, std::string_view bytes, Deadline deadline) {
  GUARD_TRY_ASSIGN(std::string target, inside(path));
  TaskSpec spec = operation(TaskOperation::put, {target, "644"}, deadline);
  spec.input = true;
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> task, start(id, spec));
  GUARD_TRY(task->write_input(bytes, deadline));
  GUARD_TRY(task->close_input());
  GUARD_TRY(finished(collect(*task, 0, deadline)));
  return target;
}

Result<void> Manager::download(const std::string& id, const std::string& path,
    const std::function<Result<void>(std::string_view)>& take, Deadline deadline) {
  GUARD_TRY_ASSIGN(const std::string source, inside(path));
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> task, start(id, operation(TaskOperation::get, {source}, deadline)));
  for (;;) {
    GUARD_TRY_ASSIGN(const auto piece, task->read(deadline));
    if (!piece) break;
    if (piece->stream == Task::Piece::Stream::out) GUARD_TRY(take(piece->bytes));
  }
  GUARD_TRY(finished(collect(*task, 0, deadline)));
  return ok();
}

Result<std::string> Manager::operate(const std::string& id, TaskOperation kind, std::vector<std::string> paths,
    const std::string& how, Deadline deadline) {
  for (std::string& path : paths) {
    GUARD_TRY_ASSIGN(path, inside(path));
  }
  if (!how.empty()) paths.push_back(how);
  GUARD_TRY_ASSIGN(
      TaskOutput output, finished(exec(id, operation(kind, std::move(paths), deadline), kAnswerMax, deadline)));
  if (output.cut)
    return Error(ErrorCode::file_too_large, "the folder holds too many files for one list")
        .hint("list its folders one by one");
  return std::move(output.out);
}

Result<std::vector<Entry>> Manager::list(
    const std::string& id, const std::string& path, std::size_t depth, Deadline deadline) {
  GUARD_TRY_ASSIGN(
      const std::string said, operate(id, TaskOperation::list, {path}, fmt::format("{}", depth), deadline));
  return parse_entries(said);
}

Result<Entry> Manager::stat(const std::string& id, const std::string& path, Deadline deadline) {
  GUARD_TRY_ASSIGN(const std::string said, operate(id, TaskOperation::stat, {path}, {}, deadline));
  GUARD_TRY_ASSIGN(auto entries, parse_entries(said));
  if (entries.size() != 1) return Error(ErrorCode::protocol_error, "the sandbox answered not one file");
  return std::move(entries.front());
}

Result<void> Manager::move(const std::string& id, const std::string& from, const std::string& to, Deadline deadline) {
  GUARD_TRY(operate(id, TaskOperation::move, {from, to}, {}, deadline));
  return ok();
}

Result<void> Manager::remove(const std::string& id, const std::string& path, Deadline deadline) {
  GUARD_TRY(operate(id, TaskOperation::remove, {path}, {}, deadline));
  return ok();
}

Result<void> Manager::make_folder(const std::string& id, const std::string& path, Deadline deadline) {
  GUARD_TRY(operate(id, TaskOperation::make_folder, {path}, {}, deadline));
  return ok();
}

}  // namespace guard::sessions
