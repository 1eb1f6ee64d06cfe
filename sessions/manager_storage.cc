// What a session may store. No file system gives a folder a limit, so it is watched.
#include <fmt/format.h>

#include <algorithm>

#include "common/text/text.h"
#include "sessions/manager_state.h"

namespace guard::sessions {
namespace {

constexpr milliseconds kLookMax{60'000};  // a million files, from a slow disk
constexpr std::size_t kAnswerMax = 4096;

TaskSpec look_spec(milliseconds limit = kLookMax) {
  TaskSpec spec;
  spec.kind = TaskOperation::usage;
  spec.argv = {"files"};
  spec.timeout = std::min(limit, kLookMax);
  return spec;
}

Result<SandboxUsage> usage_of(Task& look, Deadline deadline) {
  GUARD_TRY_ASSIGN(const TaskOutput said, collect(look, kAnswerMax, deadline));
  if (said.end.outcome.kind == OutcomeKind::timed_out)
    return Error(ErrorCode::execution_timeout, "looking at what the session stores took too long");
  SandboxUsage usage;
  const std::pair<std::string_view, std::uint64_t*> wanted[] = {{"cpu_ms=", &usage.cpu_ms},
      {"memory_bytes=", &usage.memory_bytes}, {"tmp_bytes=", &usage.tmp_bytes},
      {"workspace_bytes=", &usage.workspace_bytes}};
  const auto lines = pieces_of(said.out);
  for (const auto& [key, number] : wanted) {
    const auto line = std::ranges::find_if(lines, [key = key](std::string_view one) { return one.starts_with(key); });
    const bool is_told = line != lines.end() && read_number(line->substr(key.size()), *number);
    // A program can close its own /tmp to all that look.
    if (!is_told && number != &usage.tmp_bytes)
      return Error(ErrorCode::protocol_error, "the sandbox did not say what the session uses");
  }
  return usage;
}

Result<std::uint64_t> bytes_of(Task& look, Deadline deadline) {
  GUARD_TRY_ASSIGN(const SandboxUsage usage, usage_of(look, deadline));
  return usage.workspace_bytes;
}

}  // namespace

Error Manager::State::stores_too_much(const std::string& session, std::uint64_t bytes) const {
  return Error(
      Error(ErrorCode::input_invalid,
          fmt::format("session {} stores {} bytes in /workspace, {} are allowed", session, bytes, options.storage_max))
          .detail("limit", "storage")
          .hint(fmt::format("remove files (DELETE /v1/sessions/{}/files?path=PATH), or end the session and all "
                            "of it: guard session close {} --remove",
              session, session)));
}

void Manager::State::watch_storage() {
  struct Look {
    std::string session;
    std::string sandbox;
    std::shared_ptr<OpenSandbox> open;  // to be asked; else `answer` is there
    std::shared_ptr<Task> answer;
  };
  std::vector<Look> looks;
  const std::int64_t now = clock.now_ms();
  {
    const std::lock_guard lock(mutex);
    for (auto& [id, session] : sessions) {
      const auto place = sandboxes.find(session.sandbox);
      if (place == sandboxes.end()) {
        session.look.reset();
      } else if (session.look && session.look->ended()) {
        looks.push_back({id, session.sandbox, nullptr, std::exchange(session.look, nullptr)});
      } else if (!session.look && is_storage_due(options.policy, session.row, session.looked_ms, now)) {
        looks.push_back({id, session.sandbox, place->second.open, nullptr});
      }
    }
  }
  // None is waited for: what was begun now is read by a later tick.
  for (Look& look : looks) {
    std::shared_ptr<Task> begun;
    if (look.open) {
      if (auto task = look.open->start(look_spec()); task) begun = std::move(*task);
    }
    const auto bytes =
        look.answer ? bytes_of(*look.answer, Deadline::after(milliseconds(0))) : Result<std::uint64_t>(0);
    {
      const std::lock_guard lock(mutex);
      const auto session = sessions.find(look.session);
      if (session == sessions.end() || session->second.sandbox != look.sandbox) continue;
      if (begun) session->second.looked_ms = now;
      if (begun) session->second.look = std::move(begun);
      if (look.answer && bytes) session->second.stored_bytes = *bytes;
    }
    if (look.answer && bytes && *bytes > options.storage_max)
      set_faulty(look.sandbox, stores_too_much(look.session, *bytes).message());
  }
}

Result<void> Manager::State::check_storage(const std::string& id, OpenSandbox& sandbox) {
  const auto stored = [&]() -> std::uint64_t& { return sessions.at(id).stored_bytes; };
  {
    const std::lock_guard lock(mutex);
    if (sessions.count(id) == 0 || stored() <= options.storage_max) return ok();
  }
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> look, sandbox.start(look_spec()));
  GUARD_TRY_ASSIGN(const std::uint64_t bytes, bytes_of(*look, Deadline::after(kLookMax)));
  {
    const std::lock_guard lock(mutex);
    if (sessions.count(id) > 0) stored() = bytes;
  }
  return bytes <= options.storage_max ? ok() : Result<void>(stores_too_much(id, bytes));
}

Result<std::optional<SandboxUsage>> Manager::usage(const std::string& id, Deadline deadline) const {
  std::shared_ptr<OpenSandbox> open;
  SandboxRow row;
  {
    const std::lock_guard lock(state_->mutex);
    const auto session = state_->sessions.find(id);
    if (session == state_->sessions.end())
      return Error(ErrorCode::file_not_found, fmt::format("there is no session {}", printable(id)));
    const auto sandbox = state_->sandboxes.find(session->second.sandbox);
    if (sandbox != state_->sandboxes.end()) open = sandbox->second.open;
    if (open) row = sandbox->second.row;
  }
  if (!open || !open->alive()) return std::optional<SandboxUsage>();
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> look, open->start(look_spec(deadline.remaining())));
  GUARD_TRY_ASSIGN(SandboxUsage usage, usage_of(*look, deadline));
  usage.sandbox = row.id;
  usage.started_ms = row.started_ms;
  return std::optional(std::move(usage));
}

}  // namespace guard::sessions
