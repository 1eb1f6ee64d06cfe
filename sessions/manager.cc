#include "sessions/manager.h"

#include <fmt/format.h>

#include <algorithm>

#include "sessions/manager_state.h"

namespace guard::sessions {
namespace {

// A write to the disk for each command would cost more than the command.
constexpr milliseconds kUsesSavedEvery{60'000};
// What can't be done now is tried again, but not at once.
constexpr std::int64_t kTickPauseMinMs = 200;
constexpr std::int64_t kTickPauseMaxMs = 10'000;

}  // namespace

Manager::Manager(std::unique_ptr<State> state) : state_(std::move(state)) {}

Result<std::unique_ptr<Manager>> Manager::open(
    const std::filesystem::path& folder, SandboxFactory factory, const Clock& clock, Options options) {
  GUARD_TRY_ASSIGN(std::unique_ptr<Estate> estate, Estate::open(folder, options.watch));
  const std::int64_t now = clock.now_ms();
  GUARD_TRY_ASSIGN(std::vector<std::string> failed, estate->recover(options.remove_leftover, now));
  auto state = std::make_unique<State>(std::move(estate), std::move(factory), clock, std::move(options));
  state->said = std::move(failed);
  state->probe.since_ms = now;
  GUARD_TRY_ASSIGN(const auto sandboxes, state->estate->ledger().sandboxes());
  GUARD_TRY_ASSIGN(const auto sessions, state->estate->ledger().sessions());
  for (SandboxRow row : sandboxes) {  // could not be removed
    row.state = SandboxState::closing;
    State::Sandbox& sandbox = state->sandboxes[row.id];
    sandbox.held = false;
    sandbox.row = std::move(row);
  }
  for (const SessionRow& row : sessions) {
    State::Session& session = state->sessions[row.id];
    session.row = row;
    session.saved_used_ms = row.used_ms;
  }
  State& shared = *state;
  std::unique_ptr<Manager> manager(new Manager(std::move(state)));
  for (std::size_t i = 0; i < shared.options.policy.starts_max; ++i) {
    GUARD_TRY_ASSIGN(std::thread refiller, new_thread([&shared] { shared.refill(); }));
    shared.refillers.push_back(std::move(refiller));
  }
  return manager;
}

Manager::~Manager() { stop(milliseconds(0)); }

Result<void> Manager::open(const std::string& id) {
  GUARD_TRY(check_session_id(id));
  State::Lock lock(state_->mutex);
  if (state_->stopping) return state_->free_session(lock, id).error();
  if (state_->sessions.count(id) == 0) {
    GUARD_TRY(state_->check_limits(id));
    const std::int64_t now = state_->clock.now_ms();
    State::Session& session = state_->sessions[id];
    session.row.id = id;
    session.row.created_ms = session.row.used_ms = now;
    session.held = true;
    const State::Hold hold(*state_, id);
    const SessionRow row = session.row;
    lock.unlock();
    auto saved = state_->save(row);
    if (!saved) {
      lock.lock();
      session.over = true;
      lock.unlock();
    }
    return saved;
  }
  lock.unlock();
  GUARD_TRY_ASSIGN(const State::Hold hold, state_->hold(id));
  SessionRow row = state_->row_of(id);
  return row.state == SessionState::terminated ? state_->reopen(row) : ok();
}

Result<std::unique_ptr<Task>> Manager::start(const std::string& id, const TaskSpec& given) {
  TaskSpec spec = given;
  const auto title = std::exchange(spec.title, std::nullopt);
  if (spec.kind == TaskOperation::program) spec.env.insert(state_->options.env.begin(), state_->options.env.end());
  for (int tries_left = 1;; --tries_left) {
    GUARD_TRY_ASSIGN(const State::Use use, state_->acquire(id));
    if (spec.kind == TaskOperation::program || spec.kind == TaskOperation::put) {
      if (auto stored = state_->check_storage(id, *use.sandbox); !stored) {
        use.live->end();
        return std::move(stored).error();
      }
    }
    std::unique_ptr<Trace::Step> step;
    if (state_->options.trace && spec.kind == TaskOperation::program && title != "")
      step = begin_step(id, title ? *title : command_text(spec.argv), given.env);
    auto task = use.sandbox->start(spec);
    if (task)
      return std::unique_ptr<Task>(
          std::make_unique<SessionTask>(std::move(*task), use.live, state_->outcomes, std::move(step)));
    use.live->end();
    // It died before anything began.
    if (tries_left == 0 || use.sandbox->alive()) return std::move(task).error();
  }
}

std::unique_ptr<Trace::Step> Manager::begin_step(
    const std::string& id, std::string command, const std::map<std::string, std::string>& env) {
  if (!state_->options.trace) return nullptr;
  std::string folder;
  {
    const std::lock_guard lock(state_->mutex);
    const auto session = state_->sessions.find(id);
    if (session != state_->sessions.end()) folder = session->second.row.workspace;
  }
  auto workspace = state_->estate->workspaces().open_one(folder);
  return state_->options.trace->begin(id, std::move(command), workspace ? std::move(*workspace) : UniqueFd(), env);
}

std::string Manager::trace_place() const { return state_->options.trace ? state_->options.trace->place() : ""; }

Result<TaskOutput> Manager::exec(
    const std::string& id, const TaskSpec& spec, std::size_t output_bytes_max, Deadline deadline) {
  GUARD_TRY_ASSIGN(const std::unique_ptr<Task> task, start(id, spec));
  return collect(*task, output_bytes_max, deadline);
}

Result<void> Manager::close(const std::string& id, Workspace workspace) {
  GUARD_TRY_ASSIGN(const State::Hold hold, state_->hold(id));
  return state_->close(id, workspace);
}

Result<void> Manager::renew(const std::string& id, milliseconds span) {
  GUARD_TRY_ASSIGN(const State::Hold hold, state_->hold(id));
  SessionRow row = state_->row_of(id);
  if (row.state == SessionState::terminated)
    return Error(ErrorCode::file_not_found, fmt::format("session {} is closed", id)).hint("open it first");
  const std::int64_t age_max = state_->options.policy.age_max.count();
  const std::int64_t now = state_->clock.now_ms();
  row.lease_ms = std::min(now + std::clamp<std::int64_t>(span.count(), 0, age_max), row.created_ms + age_max);
  return state_->save(row);
}

std::vector<SessionInfo> Manager::sessions() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<SessionInfo> all;
  for (auto& [id, session] : state_->sessions) {
    state_->count_live(session);
    SessionInfo info{session.row, state_of(session.row), session.fault, session.stored_bytes};
    const auto sandbox = state_->sandboxes.find(session.sandbox);
    if (sandbox != state_->sandboxes.end() && sandbox->second.open && !sandbox->second.open->alive()) {
      info.state = SessionState::error;
      if (const auto fault = sandbox->second.open->fault(); fault) info.fault = fault->to_string();
    }
    all.push_back(std::move(info));
  }
  return all;
}

Stats Manager::stats() const {
  Stats stats;
  for (const SessionInfo& session : sessions()) ++stats.sessions[session.state];
  stats.commands = state_->outcomes->counts();
  const std::lock_guard lock(state_->mutex);
  const Pool pool = state_->pool();
  stats.pooled = pool.pooled;
  stats.starting = pool.refilling + pool.waiting;
  stats.starts = state_->starts;
  stats.last_sweep = state_->report;
  stats.probe = state_->probe;
  return stats;
}

std::vector<std::string> Manager::notes() {
  const std::lock_guard lock(state_->mutex);
  return std::exchange(state_->said, {});
}

void Manager::tick() {
  const std::lock_guard one(state_->ticking);
  state_->reap();
  state_->find_dead();
  state_->check_healths();
  state_->watch_storage();
  state_->sweep_now();
  state_->decide();
  state_->save_uses(kUsesSavedEvery);
  state_->wanted.notify_all();
}

std::int64_t Manager::next_tick() const {
  const std::lock_guard lock(state_->mutex);
  std::vector<SandboxRow> sandboxes;
  std::vector<SessionRow> sessions;
  for (const auto& [id, sandbox] : state_->sandboxes) sandboxes.push_back(sandbox.row);
  for (auto& [id, session] : state_->sessions) {
    state_->count_live(session);
    sessions.push_back(session.row);
  }
  return next_look(
      state_->options.policy, sandboxes, sessions, state_->pool(), state_->swept_ms, state_->clock.now_ms());
}

void Manager::run(const CancelToken& cancel) {
  while (!cancel.cancelled()) {
    tick();
    const std::int64_t pause = std::clamp(next_tick() - state_->clock.now_ms(), kTickPauseMinMs, kTickPauseMaxMs);
    state_->died->wait(cancel.fd(), milliseconds(pause));
  }
}

bool Manager::stopping() const {
  const std::lock_guard lock(state_->mutex);
  return state_->stopping;
}

void Manager::stop(milliseconds grace) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stopping = true;
    state_->wanted.notify_all();
    state_->changed.notify_all();
  }
  for (std::thread& thread : state_->refillers) thread.join();
  state_->refillers.clear();
  const std::lock_guard one(state_->ticking);
  std::vector<std::string> left;
  {
    State::Lock lock(state_->mutex);
    const auto is_still = [&] {
      return std::none_of(
          state_->sessions.begin(), state_->sessions.end(), [](auto& session) { return session.second.held; });
    };
    state_->changed.wait_for(lock, state_->options.wait_max, is_still);
    for (const auto& [id, sandbox] : state_->sandboxes) {
      if (!sandbox.held) left.push_back(id);
    }
  }
  // Side by side, or each would wait for the grace of those before it.
  std::vector<std::thread> closers;
  for (const std::string& id : left) {
    const auto close = [this, id, grace] { state_->noted(state_->retire(id, grace)); };
    if (auto closer = new_thread(close); closer) {
      closers.push_back(std::move(*closer));
    } else {
      close();
    }
  }
  for (std::thread& thread : closers) thread.join();
  state_->save_uses(milliseconds(1));
  {
    const std::lock_guard lock(state_->mutex);
    for (auto& [id, command] : state_->background) {
      if (command.thread.joinable()) closers.push_back(std::move(command.thread));
    }
  }
  for (std::thread& thread : closers) {
    if (thread.joinable()) thread.join();
  }
}

}  // namespace guard::sessions
