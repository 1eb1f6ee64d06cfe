#include "sessions/estate.h"

#include <fmt/format.h>

#include <set>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard::sessions {

namespace fs = std::filesystem;

Recovery recovery(
    std::span<const SandboxRow> sandboxes, std::span<const SessionRow> sessions, std::span<const CommandRow> commands) {
  Recovery left;
  std::set<std::string_view> kept;
  std::set<std::string_view> there;
  for (const SessionRow& session : sessions) {
    if (!session.removing) there.insert(session.id);
    kept.insert(session.workspace);
    kept.insert(session.moving_from);
    if (session.removing) {
      left.removals.push_back(session);
    } else if (!session.moving_from.empty()) {
      left.moves.push_back(session);
    }
  }
  for (const SandboxRow& sandbox : sandboxes) left.sandboxes.push_back({sandbox, kept.count(sandbox.id) > 0});
  for (const CommandRow& command : commands) {
    if (there.count(command.session) == 0) {
      left.orphans.push_back(command);
    } else if (command.ended_ms == 0) {
      left.lost.push_back(command);
    }
  }
  return left;
}

Result<std::unique_ptr<Estate>> Estate::open(const fs::path& state, const StepWatch& watch) {
  GUARD_TRY_ASSIGN(Owner owner, Owner::take(state));
  GUARD_TRY_ASSIGN(std::unique_ptr<Ledger> ledger, Ledger::open(state, watch));
  GUARD_TRY_ASSIGN(Workspaces workspaces, Workspaces::open(state, watch));
  GUARD_TRY(make_folders(state / "logs", 0700));
  return std::unique_ptr<Estate>(new Estate(state, std::move(owner), std::move(ledger), std::move(workspaces)));
}

Result<void> Estate::forget(const SandboxRow& sandbox, bool has_session) {
  if (!has_session) GUARD_TRY(workspaces_.remove(sandbox.id));
  return ledger_->forget_sandbox(sandbox.id);
}

Result<SessionRow> Estate::finish_move(SessionRow session) {
  GUARD_TRY(workspaces_.move(session.moving_from, session.workspace)
                .context(fmt::format("moving the workspace of session {}", session.id)));
  session.moving_from.clear();
  GUARD_TRY(ledger_->save(nullptr, &session));
  return session;
}

Result<void> Estate::forget_command(const std::string& id) {
  GUARD_TRY(remove_tree(log(id)));
  return ledger_->forget_command(id);
}

Result<void> Estate::finish_removal(const SessionRow& session) {
  for (const std::string* folder : {&session.moving_from, &session.workspace}) {
    if (!folder->empty()) GUARD_TRY(workspaces_.remove(*folder));
  }
  GUARD_TRY_ASSIGN(const auto commands, ledger_->commands(session.id));
  for (const CommandRow& command : commands) GUARD_TRY(forget_command(command.id));
  return ledger_->forget_session(session.id);
}

Result<std::vector<std::string>> Estate::recover(const RemoveLeftover& remove_leftover, std::int64_t now) {
  GUARD_TRY_ASSIGN(const auto sandboxes, ledger_->sandboxes());
  GUARD_TRY_ASSIGN(const auto sessions, ledger_->sessions());
  GUARD_TRY_ASSIGN(const auto commands, ledger_->commands(""));
  Recovery left = recovery(sandboxes, sessions, commands);
  std::vector<std::string> failed;
  std::set<std::string> alive;  // sessions and folders that something may still write to
  const auto note = [&](const auto& done) {
    if (!done) failed.push_back(done.error().to_string());
    return done.has_value();
  };
  for (const auto& [sandbox, has_session] : left.sandboxes) {
    if ((remove_leftover && !note(remove_leftover(sandbox.id))) || !note(forget(sandbox, has_session))) {
      alive.insert(sandbox.id);
      alive.insert(sandbox.session);
    }
  }
  for (const SessionRow& session : left.moves) {
    if (alive.count(session.id) == 0 && alive.count(session.workspace) == 0) note(finish_move(session));
  }
  for (const SessionRow& session : left.removals) {
    if (alive.count(session.id) == 0 && alive.count(session.workspace) == 0) note(finish_removal(session));
  }
  for (CommandRow& command : left.lost) {
    command.ended_ms = now;
    command.outcome = "lost";
    std::error_code absent;
    const auto size = fs::file_size(log(command.id), absent);
    command.log_bytes = absent ? 0 : size;
    note(ledger_->save(command));
  }
  for (const CommandRow& command : left.orphans) note(forget_command(command.id));
  std::set<std::string> known;
  for (const SandboxRow& sandbox : sandboxes) known.insert(sandbox.id);
  for (const SessionRow& session : sessions) known.insert({session.workspace, session.moving_from});
  GUARD_TRY_ASSIGN(const auto folders, workspaces_.list());
  for (const std::string& folder : folders) {
    if (known.count(folder) == 0)
      failed.push_back(fmt::format(
          "{} is no session's workspace, and was left alone", printable((state_ / "workspaces" / folder).native())));
  }
  return failed;
}

}  // namespace guard::sessions
