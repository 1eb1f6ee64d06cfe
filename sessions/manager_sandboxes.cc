// How a session comes to a sandbox, and how that goes.
#include <fmt/format.h>

#include "runner/process/run_folder.h"
#include "sessions/manager_state.h"

namespace guard::sessions {

Result<Way> Manager::State::place(const std::string& id) {
  GUARD_TRY(retire_of(id, milliseconds(0)));
  SessionRow row = row_of(id);
  if (row.state == SessionState::terminated) GUARD_TRY(reopen(row));
  if (!row.moving_from.empty()) {
    GUARD_TRY_ASSIGN(row, estate->finish_move(row));
    show(row);
  }
  Way way = Way::pool;
  std::string sandbox = take_pooled();
  if (sandbox.empty()) {
    way = Way::cold;
    Lock lock(mutex);
    ++waiting;
    const auto begun = begin_start(Start::on_demand);
    lock.unlock();
    wanted.notify_all();
    auto started = begun ? finish_start(*begun) : Result<void>(begun.error());
    lock.lock();
    --waiting;
    lock.unlock();
    GUARD_TRY(std::move(started));
    sandbox = *begun;
  }
  auto claimed = claim(row, sandbox);
  if (claimed) return way;
  noted(retire(sandbox, milliseconds(0)));
  return std::move(claimed).error();
}

Result<std::string> Manager::State::begin_start(Start start) {
  if (stopping) return Error(ErrorCode::environment_unavailable, "guard is stopping, no sandbox is started");
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  Sandbox& sandbox = sandboxes[id];
  sandbox.row.id = id;
  sandbox.row.started_ms = sandbox.row.checked_ms = clock.now_ms();
  sandbox.refill = start == Start::for_pool;
  return id;
}

Result<void> Manager::State::finish_start(const std::string& id) {
  const auto make = [&]() -> Result<void> {
    SandboxRow row;
    {
      const std::lock_guard lock(mutex);
      row = sandboxes.at(id).row;
    }
    GUARD_TRY(estate->ledger().save(&row, nullptr));
    GUARD_TRY(estate->workspaces().make(id));
    GUARD_TRY_ASSIGN(std::shared_ptr<OpenSandbox> open, factory(id, estate->workspaces().path(id)));
    open->on_end([died = died] { died->ring(); });
    bool is_refill = false;
    {
      const std::lock_guard lock(mutex);
      Sandbox& sandbox = sandboxes.at(id);
      sandbox.open = open;
      is_refill = sandbox.refill;
    }
    GUARD_TRY_ASSIGN(const std::unique_ptr<Task> check, begin_check(*open, options.check_deadline));
    GUARD_TRY(finish_check(*check, Deadline::after(options.check_deadline)));
    if (!is_refill) return ok();
    row.state = SandboxState::pooled;
    GUARD_TRY(estate->ledger().save(&row, nullptr));
    const std::lock_guard lock(mutex);
    Sandbox& sandbox = sandboxes.at(id);
    sandbox.row.state = SandboxState::pooled;
    sandbox.held = false;
    return ok();
  };
  auto made = make();
  if (!made) noted(retire(id, milliseconds(0)));
  const std::lock_guard lock(mutex);
  const std::int64_t now = clock.now_ms();
  failed_ms = made ? 0 : now;
  const Probe shown = made                          ? Probe::allowed
      : made.error().details().contains("unproved") ? Probe::violation
                                                    : Probe::unknown;
  if (shown != probe.probe) probe = {shown, now};
  return std::move(made).context("starting a sandbox");
}

std::string Manager::State::take_pooled() {
  const std::lock_guard lock(mutex);
  Sandbox* oldest = nullptr;
  for (auto& [id, sandbox] : sandboxes) {
    if (sandbox.row.state != SandboxState::pooled || sandbox.held || !sandbox.open->alive()) continue;
    if (oldest == nullptr || sandbox.row.started_ms < oldest->row.started_ms) oldest = &sandbox;
  }
  if (oldest == nullptr) return {};
  oldest->held = true;
  oldest->row.state = SandboxState::claimed;
  wanted.notify_all();
  return oldest->row.id;
}

Result<void> Manager::State::claim(SessionRow session, const std::string& id) {
  GUARD_TRY_ASSIGN(const bool is_empty, estate->workspaces().is_empty(id));
  if (!is_empty) return Error(ErrorCode::environment_unavailable, "a new sandbox has files in its workspace already");
  SandboxRow row;
  {
    const std::lock_guard lock(mutex);
    row = sandboxes.at(id).row;
  }
  row.state = SandboxState::claimed;
  row.session = session.id;
  session.moving_from = session.workspace;
  session.workspace = id;
  session.state = SessionState::idle;
  GUARD_TRY(estate->ledger().save(&row, &session));
  if (options.on_claim) options.on_claim(id, session.id);
  show(session);
  {
    const std::lock_guard lock(mutex);
    sandboxes.at(id).row = row;
  }
  if (!session.moving_from.empty()) {
    GUARD_TRY_ASSIGN(session, estate->finish_move(session));
    show(session);
  }
  const std::lock_guard lock(mutex);
  if (stopping) return Error(ErrorCode::environment_unavailable, "guard is stopping, no session can be used");
  sessions.at(session.id).sandbox = id;
  sandboxes.at(id).held = false;
  return ok();
}

Result<void> Manager::State::retire(const std::string& id, milliseconds grace) {
  SandboxRow row;
  std::shared_ptr<OpenSandbox> open;
  {
    const std::lock_guard lock(mutex);
    const auto found = sandboxes.find(id);
    if (found == sandboxes.end()) return ok();
    Sandbox& sandbox = found->second;
    sandbox.held = true;
    sandbox.row.state = SandboxState::closing;
    row = sandbox.row;
    open = std::move(sandbox.open);
    sandbox.open.reset();
    const auto session = sessions.find(row.session);
    if (session != sessions.end() && session->second.sandbox == id) session->second.sandbox.clear();
  }
  // It has to go whatever the ledger says; its row stays until it is gone.
  noted(estate->ledger().save(&row, nullptr));
  bool is_clean = false;
  if (open) is_clean = noted(open->close(grace));
  open.reset();
  auto gone = is_clean || !options.remove_leftover ? ok() : options.remove_leftover(id);
  if (gone) gone = estate->forget(row, !row.session.empty());
  const std::lock_guard lock(mutex);
  if (gone) {
    sandboxes.erase(id);
  } else {
    sandboxes.at(id).held = false;
  }
  changed.notify_all();
  wanted.notify_all();
  return gone;
}

Result<void> Manager::State::retire_of(const std::string& session, milliseconds grace) {
  std::vector<std::string> ids;
  {
    Lock lock(mutex);
    const auto is_free = [&] {
      ids.clear();
      for (const auto& [id, sandbox] : sandboxes) {
        if (sandbox.row.session != session) continue;
        if (sandbox.held) return false;
        ids.push_back(id);
      }
      return true;
    };
    if (!changed.wait_for(lock, options.wait_max, is_free))
      return Error(ErrorCode::execution_timeout, fmt::format("the last sandbox of session {} does not go", session));
    for (const std::string& id : ids) sandboxes.at(id).held = true;
  }
  Result<void> done;
  for (const std::string& id : ids) {
    if (auto retired = retire(id, grace); !retired && done) done = std::move(retired);
  }
  return done;
}

Pool Manager::State::pool() const {
  Pool pool;
  for (const auto& [id, sandbox] : sandboxes) {
    if (sandbox.row.state == SandboxState::pooled) ++pool.pooled;
    if (sandbox.row.state == SandboxState::starting && sandbox.refill) ++pool.refilling;
  }
  pool.waiting = waiting;
  pool.failed_ms = failed_ms;
  return pool;
}

void Manager::State::refill() {
  Lock lock(mutex);
  while (!stopping) {
    if (starts_due(options.policy, pool(), clock.now_ms()) == 0) {
      wanted.wait(lock);
      continue;
    }
    const auto begun = begin_start(Start::for_pool);
    if (!begun) failed_ms = clock.now_ms();
    lock.unlock();
    if (noted(begun)) noted(finish_start(*begun));
    lock.lock();
  }
}

}  // namespace guard::sessions
