#include "sessions/manager_state.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/eventfd.h>

#include <algorithm>

namespace guard::sessions {
namespace {

constexpr std::size_t kNotesMax = 100;

Error is_gone(const std::string& id) {
  return Error(ErrorCode::file_not_found, fmt::format("there is no session {}", id))
      .hint("`guard session list` shows those that there are; `guard session open` opens one");
}

}  // namespace

Bell::Bell() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void Bell::ring() const noexcept { static_cast<void>(::eventfd_write(fd_.get(), 1)); }

void Bell::wait(int stop, milliseconds pause_max) const noexcept {
  pollfd fds[] = {{stop, POLLIN, 0}, {fd_.get(), POLLIN, 0}};
  static_cast<void>(::poll(fds, 2, static_cast<int>(pause_max.count())));
  eventfd_t rung = 0;
  static_cast<void>(::eventfd_read(fd_.get(), &rung));
}

Manager::State::Hold::~Hold() {
  if (state_ == nullptr) return;
  const std::lock_guard lock(state_->mutex);
  const auto found = state_->sessions.find(id_);
  found->second.held = false;
  if (found->second.over) state_->sessions.erase(found);
  state_->changed.notify_all();
}

Result<Manager::State::Session*> Manager::State::free_session(Lock& lock, const std::string& id) {
  GUARD_TRY(check_session_id(id));
  Session* found = nullptr;
  const auto is_free = [&] {
    const auto place = sessions.find(id);
    found = place == sessions.end() ? nullptr : &place->second;
    return stopping || found == nullptr || !found->held;
  };
  if (!changed.wait_for(lock, options.wait_max, is_free)) {
    return Error(ErrorCode::execution_timeout, fmt::format("session {} is being worked on, for too long", id))
        .detail("timeout", fmt::format("{}", options.wait_max.count()));
  }
  if (stopping) return Error(ErrorCode::environment_unavailable, "guard is stopping, no session can be used");
  if (found == nullptr) return is_gone(id);
  return found;
}

Result<Manager::State::Hold> Manager::State::hold(const std::string& id) {
  Lock lock(mutex);
  GUARD_TRY_ASSIGN(Session * session, free_session(lock, id));
  session->held = true;
  return Hold(*this, id);
}

std::optional<Manager::State::Hold> Manager::State::try_hold(const std::string& id) {
  const std::lock_guard lock(mutex);
  const auto found = sessions.find(id);
  if (found == sessions.end() || found->second.held) return std::nullopt;
  found->second.held = true;
  return Hold(*this, id);
}

SessionRow Manager::State::row_of(const std::string& id) {
  const std::lock_guard lock(mutex);
  Session& session = sessions.at(id);
  count_live(session);
  return session.row;
}

Result<void> Manager::State::save(const SessionRow& row) {
  GUARD_TRY(estate->ledger().save(nullptr, &row));
  show(row);
  return ok();
}

void Manager::State::show(const SessionRow& row) {
  const std::lock_guard lock(mutex);
  Session& session = sessions.at(row.id);
  session.saved_used_ms = row.used_ms;
  const std::int64_t used_ms = std::max(row.used_ms, session.row.used_ms);
  session.row = row;
  session.row.used_ms = used_ms;
}

Result<void> Manager::State::check_limits(const std::string& id) const {
  std::size_t all = 0;
  std::size_t of_tenant = 0;
  for (const auto& [other, session] : sessions) {
    if (session.row.state == SessionState::terminated) continue;
    ++all;
    if (tenant_of(other) == tenant_of(id)) ++of_tenant;
  }
  if (all < options.sessions_max && of_tenant < options.sessions_per_tenant_max) return ok();
  return Error(ErrorCode::input_invalid,
      of_tenant < options.sessions_per_tenant_max
          ? fmt::format("{} sessions are open, no more are allowed", all)
          : fmt::format("tenant {} has {} open sessions, no more are allowed", tenant_of(id), of_tenant))
      .detail("limit", "sessions")
      .hint("close one: guard session close SESSION");
}

void Manager::State::count_live(Session& session) {
  const std::size_t ended =
      std::erase_if(session.live, [](const std::shared_ptr<Live>& live) { return live->ended(); });
  // While something runs it is used: what ran for a month was not idle for one when guard dies.
  if (ended > 0 || !session.live.empty()) session.row.used_ms = clock.now_ms();
  session.row.live = session.live.size();
}

Result<Manager::State::Use> Manager::State::acquire(const std::string& id) {
  const auto begun = SteadyClock::now();
  Lock lock(mutex);
  GUARD_TRY_ASSIGN(Session * session, free_session(lock, id));
  if (session->row.removing) return is_gone(id);
  const auto take = [&](Way way) -> Result<Use> {
    const auto place = sandboxes.find(session->sandbox);
    if (place == sandboxes.end()) return Error(ErrorCode::environment_unavailable, "the sandbox went with guard");
    const auto us = std::chrono::duration_cast<std::chrono::microseconds>(SteadyClock::now() - begun).count();
    Latencies& latencies = starts[way];
    const auto bound = std::lower_bound(Latencies::kBoundsUs.begin(), Latencies::kBoundsUs.end(), us);
    ++latencies.counts[static_cast<std::size_t>(bound - Latencies::kBoundsUs.begin())];
    ++latencies.count;
    latencies.sum_us += us;
    count_live(*session);  // or they would pile up until the next tick
    session->live.push_back(std::make_shared<Live>());
    session->row.used_ms = clock.now_ms();
    return Use{place->second.open, session->live.back()};
  };
  if (!session->sandbox.empty()) {
    const std::shared_ptr<OpenSandbox>& open = sandboxes.at(session->sandbox).open;
    if (open->alive()) return take(Way::reused);
    const auto fault = open->fault();
    session->fault = fault ? fault->to_string() : "its sandbox is gone";
  }
  session->held = true;
  const Hold hold(*this, id);
  lock.unlock();
  auto way = place(id);
  lock.lock();
  // Before `hold` lets go of it, or it could be closed in between.
  auto taken = way ? take(*way) : Result<Use>(std::move(way).error());
  lock.unlock();
  return taken;
}

Result<void> Manager::State::reopen(SessionRow& row) {
  if (row.removing) return is_gone(row.id);
  const SessionRow before = row;
  {
    const std::lock_guard lock(mutex);
    GUARD_TRY(check_limits(row.id));
    sessions.at(row.id).row.state = SessionState::idle;  // it counts from here on
  }
  row.state = SessionState::idle;
  row.created_ms = row.used_ms = clock.now_ms();
  row.lease_ms = row.expires_ms = 0;
  auto saved = save(row);
  if (!saved) show(before);
  return saved;
}

Result<void> Manager::State::close(const std::string& id, Workspace workspace) {
  SessionRow row = row_of(id);
  row.state = SessionState::terminated;
  row.lease_ms = row.expires_ms = 0;
  row.used_ms = std::max(row.used_ms, clock.now_ms());  // its workspace is kept from here on
  row.removing = row.removing || workspace == Workspace::remove || row.workspace.empty();
  GUARD_TRY(save(row));
  auto retired = retire_of(id, options.close_grace);
  if (options.trace) options.trace->end(id);
  if (!retired || !row.removing) return retired;
  return finish_removal(row);
}

Result<void> Manager::State::finish_removal(const SessionRow& row) {
  {
    Lock lock(mutex);
    const auto is_quiet = [&] {
      return std::none_of(background.begin(), background.end(),
          [&](const auto& command) { return command.second.session == row.id && !command.second.over; });
    };
    if (!changed.wait_for(lock, options.close_grace, is_quiet))
      return Error(ErrorCode::execution_timeout, fmt::format("a command of session {} does not end", row.id));
  }
  GUARD_TRY(estate->finish_removal(row));
  const std::lock_guard lock(mutex);
  sessions.at(row.id).over = true;
  return ok();
}

void Manager::State::note(std::string sentence) {
  const std::lock_guard lock(mutex);
  if (said.size() < kNotesMax) said.push_back(std::move(sentence));
}

std::vector<SessionRow> Manager::State::rows() {
  const std::lock_guard lock(mutex);
  std::vector<SessionRow> all;
  for (auto& [id, session] : sessions) {
    count_live(session);
    all.push_back(session.row);
  }
  return all;
}

}  // namespace guard::sessions
