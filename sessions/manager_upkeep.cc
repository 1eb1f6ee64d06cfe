// What a tick does.
#include <fmt/format.h>

#include <cerrno>

#include "sessions/manager_state.h"

namespace guard::sessions {

Result<std::unique_ptr<Task>> begin_check(OpenSandbox& sandbox, milliseconds timeout) {
  TaskSpec spec;
  spec.kind = TaskOperation::usage;
  spec.timeout = timeout;
  return sandbox.start(spec);
}

Result<void> finish_check(Task& task, Deadline deadline) {
  constexpr std::size_t kAnswerMax = 4096;
  GUARD_TRY_ASSIGN(const TaskOutput answer, collect(task, kAnswerMax, deadline));
  if (answer.end.outcome.kind == OutcomeKind::exited && answer.end.outcome.value == 0) return ok();
  return Error(ErrorCode::environment_unavailable,
      fmt::format("the sandbox's health check ended as {}", outcome_text(answer.end)));
}

void Manager::State::find_dead() {
  std::vector<std::string> leftovers;
  std::vector<std::pair<std::string, std::string>> dead;
  {
    const std::lock_guard lock(mutex);
    for (auto& [id, session] : sessions) count_live(session);
    for (auto& [id, sandbox] : sandboxes) {
      if (sandbox.held) continue;
      if (sandbox.row.state == SandboxState::closing) {
        leftovers.push_back(id);
      } else if (!sandbox.open->alive()) {
        const auto fault = sandbox.open->fault();
        dead.emplace_back(id, fault ? fault->to_string() : "its sandbox is gone");
      }
    }
  }
  for (const std::string& id : leftovers) {
    {
      const std::lock_guard lock(mutex);
      const auto found = sandboxes.find(id);
      if (found == sandboxes.end() || found->second.held) continue;
      found->second.held = true;
    }
    noted(retire(id, milliseconds(0)));
  }
  for (const auto& [id, why] : dead) set_faulty(id, why);
}

void Manager::State::set_faulty(const std::string& id, const std::string& why) {
  std::string session;
  {
    const std::lock_guard lock(mutex);
    const auto found = sandboxes.find(id);
    if (found == sandboxes.end() || found->second.held) return;
    session = found->second.row.session;
    if (session.empty()) found->second.held = true;
  }
  if (session.empty()) {
    note(why);
    noted(retire(id, milliseconds(0)));
    return;
  }
  const auto held = try_hold(session);
  if (!held) return;  // whoever holds it finds out too
  SessionRow row = row_of(session);
  row.state = SessionState::error;
  row.used_ms = clock.now_ms();
  {
    const std::lock_guard lock(mutex);
    if (sessions.at(session).sandbox != id) return;
    sessions.at(session).fault = why;
  }
  if (!noted(save(row))) show(row);
  noted(retire_of(session, milliseconds(0)));
}

void Manager::State::check_healths() {
  struct Check {
    std::string id;
    std::shared_ptr<OpenSandbox> open;
    Result<std::unique_ptr<Task>> task = std::unique_ptr<Task>();
  };
  std::vector<Check> checks;
  const std::int64_t now = clock.now_ms();
  {
    const std::lock_guard lock(mutex);
    std::vector<SandboxRow> rows;
    for (const auto& [id, sandbox] : sandboxes) {
      if (!sandbox.held) rows.push_back(sandbox.row);
    }
    for (std::string& id : checks_due(options.policy, rows, now)) {
      auto open = sandboxes.at(id).open;
      checks.push_back({std::move(id), std::move(open)});
    }
  }
  // All at once, so that one that hangs costs the others nothing.
  for (Check& check : checks) check.task = begin_check(*check.open, options.check_deadline);
  const Deadline deadline = Deadline::after(options.check_deadline);
  for (Check& check : checks) {
    const auto answer = check.task ? finish_check(**check.task, deadline) : Result<void>(check.task.error());
    // One that has as many tasks or processes as it may is busy, not ill.
    const bool is_busy = !answer && check.open->alive() &&
        (answer.error().details().contains("limit") || answer.error().sys_errno() == EAGAIN);
    if (!answer && !is_busy) {
      set_faulty(check.id, answer.error().to_string());
      continue;
    }
    const std::lock_guard lock(mutex);
    const auto found = sandboxes.find(check.id);
    if (found != sandboxes.end()) found->second.row.checked_ms = now;
  }
}

void Manager::State::sweep_now() {
  const std::int64_t now = clock.now_ms();
  if (!has_passed(swept_ms, options.policy.sweep_every, now)) return;
  const std::vector<SessionRow> all = rows();
  const Sweep found = sweep(options.policy, all, now);
  {
    const std::lock_guard lock(mutex);
    swept_ms = now;
    report = found.report;
  }
  for (const auto& mark : found.marks) {
    const auto held = try_hold(mark.session);
    if (!held) continue;  // it is used
    SessionRow row = row_of(mark.session);
    row.expires_ms = mark.expires_ms;
    noted(save(row));
  }
}

void Manager::State::decide() {
  const std::int64_t now = clock.now_ms();
  const std::vector<SessionRow> all = rows();
  for (const Decision& decision : decisions(options.policy, all, now)) {
    const auto held = try_hold(decision.row.id);
    if (!held) continue;
    SessionRow row = row_of(decision.row.id);
    if (row != decision.row) continue;  // it was used meanwhile
    switch (decision.fate) {
      case Fate::unmark:
        row.expires_ms = 0;
        noted(save(row));
        break;
      case Fate::remove:
        if (noted(close(row.id, Workspace::remove)) && !row.removing)
          note(fmt::format("session {} was unused for too long, and was removed with its workspace", row.id));
        break;
      case Fate::end:
        if (noted(close(row.id, Workspace::keep)) && decision.by_sweep) {
          const std::lock_guard lock(mutex);
          ++report.cleaned;
        }
    }
  }
}

void Manager::State::save_uses(milliseconds late_by) {
  std::vector<std::string> late;
  {
    const std::lock_guard lock(mutex);
    for (const auto& [id, session] : sessions) {
      if (session.row.used_ms - session.saved_used_ms >= late_by.count()) late.push_back(id);
    }
  }
  for (const std::string& id : late) {
    if (const auto held = try_hold(id); held) noted(save(row_of(id)));
  }
}

}  // namespace guard::sessions
