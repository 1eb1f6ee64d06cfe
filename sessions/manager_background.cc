#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/process/run_folder.h"
#include "sessions/manager_state.h"

namespace guard::sessions {
namespace {

Error no_command(const std::string& command) {
  return Error(ErrorCode::file_not_found, fmt::format("the session has no command {}", printable(command)));
}

}  // namespace

Result<std::string> Manager::start_background(const std::string& id, const TaskSpec& spec) {
  if (spec.kind != TaskOperation::program || spec.input)
    return Error(ErrorCode::input_invalid, "only a program without input can run in the background");
  GUARD_TRY_ASSIGN(const auto before, commands(id));
  CommandRow row;
  GUARD_TRY_ASSIGN(row.id, new_run_id());
  row.session = id;
  row.started_ms = state_->clock.now_ms();
  for (const std::string& argument : spec.argv) row.argv.append(argument).push_back('\0');
  {
    const std::lock_guard lock(state_->mutex);
    // Whoever has read that one has ended can start the next one, though its thread may not be over yet.
    const auto has_ended = [&](const std::string& command) {
      return std::any_of(before.begin(), before.end(),
          [&](const CommandRow& known) { return known.id == command && known.ended_ms != 0; });
    };
    const auto live = std::count_if(state_->background.begin(), state_->background.end(), [&](const auto& command) {
      return command.second.session == id && !command.second.over && !has_ended(command.first);
    });
    if (static_cast<std::size_t>(live) >= state_->options.background_max)
      return Error(ErrorCode::input_invalid, fmt::format("{} commands of the session run in the background", live))
          .detail("limit", "commands")
          .hint("wait until one has ended, or end it with a signal");
    state_->background[row.id].session = id;
  }
  const auto oldest =
      std::find_if(before.begin(), before.end(), [](const CommandRow& command) { return command.ended_ms != 0; });
  const bool is_full = before.size() >= state_->options.commands_kept && oldest != before.end();
  Result<void> begun = is_full ? state_->estate->forget_command(oldest->id) : ok();
  if (begun) begun = begin_background(row, spec);
  if (begun) return row.id;
  state_->noted(state_->estate->forget_command(row.id));
  const std::lock_guard lock(state_->mutex);
  state_->background[row.id].over = true;
  state_->changed.notify_all();
  return std::move(begun).error();
}

Result<void> Manager::begin_background(const CommandRow& row, const TaskSpec& spec) {
  GUARD_TRY(state_->estate->ledger().save(row));
  const std::filesystem::path path = state_->estate->log(row.id);
  UniqueFd log(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!log) return Error::from_errno(ErrorCode::io_error, fmt::format("making {}", path.string()), errno);
  GUARD_TRY_ASSIGN(std::shared_ptr<Task> task, start(row.session, spec));
  const std::lock_guard lock(state_->mutex);
  if (state_->stopping) return Error(ErrorCode::environment_unavailable, "guard is stopping");
  State::Background& command = state_->background[row.id];
  // It waits for the lock before it looks for its task.
  GUARD_TRY_ASSIGN(command.thread,
      new_thread([state = state_.get(), &command, row, fd = std::make_shared<UniqueFd>(std::move(log))] {
        state->follow(command, row, fd->get());
      }));
  command.task = std::move(task);
  return ok();
}

void Manager::State::follow(Background& command, CommandRow row, int log) {
  const std::shared_ptr<Task> task = [&] {
    const std::lock_guard lock(mutex);
    return command.task;
  }();
  for (;;) {
    const auto piece = task->read(Deadline::never());  // ends with the sandbox, at the latest
    if (!piece || !*piece) break;
    const auto room = static_cast<std::size_t>(options.log_bytes_max - row.log_bytes);
    const std::string_view kept = std::string_view((*piece)->bytes).substr(0, row.cut ? 0 : room);
    const bool written = kept.empty() || write_all(log, kept).has_value();
    if (written) row.log_bytes += kept.size();
    row.cut = row.cut || !written || kept.size() < (*piece)->bytes.size();
  }
  const auto end = task->end();
  row.outcome = end ? outcome_text(*end) : std::string(end.error().wire_name());
  row.ended_ms = std::max<std::int64_t>(clock.now_ms(), 1);
  noted(estate->ledger().save(row));
  std::shared_ptr<Task> given_up;
  const std::lock_guard lock(mutex);
  given_up.swap(command.task);
  command.over = true;
  changed.notify_all();
}

void Manager::State::reap() {
  std::vector<std::thread> over;
  {
    const std::lock_guard lock(mutex);
    for (auto at = background.begin(); at != background.end();) {
      if (at->second.over) over.push_back(std::move(at->second.thread));
      at = at->second.over ? background.erase(at) : std::next(at);
    }
  }
  for (std::thread& thread : over) {
    if (thread.joinable()) thread.join();
  }
}

Result<std::vector<CommandRow>> Manager::commands(const std::string& id) const {
  GUARD_TRY(check_session_id(id));
  GUARD_TRY_ASSIGN(auto rows, state_->estate->ledger().commands(id));
  std::set<std::string> over;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->sessions.count(id) == 0)
      return Error(ErrorCode::file_not_found, fmt::format("there is no session {}", id)).hint("open it first");
    for (const CommandRow& row : rows) {
      const auto found = state_->background.find(row.id);
      if (row.ended_ms == 0 && (found == state_->background.end() || found->second.over)) over.insert(row.id);
    }
  }
  if (over.empty()) return rows;
  GUARD_TRY_ASSIGN(rows, state_->estate->ledger().commands(id));  // they may have ended since
  for (CommandRow& row : rows) {
    if (row.ended_ms != 0 || over.count(row.id) == 0) continue;
    row.ended_ms = row.started_ms;  // its end could not be written
    row.outcome = "lost";
  }
  return rows;
}

Result<Log> Manager::read_log(
    const std::string& id, const std::string& command, std::uint64_t offset, std::size_t bytes_max) const {
  GUARD_TRY_ASSIGN(const auto rows, commands(id));
  const auto row = std::find_if(rows.begin(), rows.end(), [&](const CommandRow& one) { return one.id == command; });
  if (row == rows.end()) return no_command(command);
  const std::filesystem::path path = state_->estate->log(command);
  const UniqueFd file(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  struct stat status {};
  if (!file || ::fstat(file.get(), &status) != 0)
    return Error::from_errno(ErrorCode::io_error, fmt::format("reading {}", path.string()), errno);
  Log log;
  const auto size = static_cast<std::uint64_t>(status.st_size);
  offset = std::min(offset, size);
  log.bytes.resize(static_cast<std::size_t>(std::min<std::uint64_t>(size - offset, bytes_max)));
  const ssize_t got = ::pread(file.get(), log.bytes.data(), log.bytes.size(), static_cast<off_t>(offset));
  if (got < 0) return Error::from_errno(ErrorCode::io_error, fmt::format("reading {}", path.string()), errno);
  log.bytes.resize(static_cast<std::size_t>(got));
  log.next = offset + log.bytes.size();
  log.ended = row->ended_ms != 0 && log.next == size;
  return log;
}

Result<void> Manager::signal(const std::string& id, const std::string& command, int signal_number) {
  std::shared_ptr<Task> task;
  {
    const std::lock_guard lock(state_->mutex);
    const auto found = state_->background.find(command);
    if (found != state_->background.end() && found->second.session == id) task = found->second.task;
  }
  if (!task) return no_command(command);
  return task->signal(signal_number);
}

}  // namespace guard::sessions
