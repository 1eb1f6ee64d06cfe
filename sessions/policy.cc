#include "sessions/policy.h"

#include <algorithm>
#include <tuple>

namespace guard::sessions {
namespace {

// One that is used while it waits for its end is not idle any more; one that is too old stays so.
bool is_too_old(const Policy& policy, const SessionRow& session, std::int64_t now) {
  return now - session.created_ms > policy.age_max.count();
}

bool is_idle_too_long(const Policy& policy, const SessionRow& session, std::int64_t now) {
  return session.lease_ms <= now && now - session.used_ms > policy.idle_max.count();
}

bool is_kept_no_longer(const Policy& policy, const SessionRow& session, std::int64_t now) {
  return state_of(session) == SessionState::terminated && now - session.used_ms > policy.terminated_kept.count();
}

milliseconds wait_after_failure(const Policy& policy, const Pool& pool) {
  return pool.pooled < policy.pool_min ? policy.retry_every : policy.refill_every;
}

}  // namespace

bool has_passed(std::int64_t since, milliseconds span, std::int64_t now) noexcept {
  return now < since || now - since >= span.count();
}

std::size_t starts_due(const Policy& policy, const Pool& pool, std::int64_t now) {
  if (pool.failed_ms != 0 && !has_passed(pool.failed_ms, wait_after_failure(policy, pool), now)) return 0;
  const std::size_t aim = std::min(policy.pool_max, policy.pool_target + pool.waiting);
  const std::size_t coming = pool.pooled + pool.refilling;
  if (coming >= aim || pool.refilling >= policy.starts_max) return 0;
  return std::min(aim - coming, policy.starts_max - pool.refilling);
}

std::vector<std::string> checks_due(const Policy& policy, std::span<const SandboxRow> sandboxes, std::int64_t now) {
  std::vector<std::string> due;
  for (const SandboxRow& sandbox : sandboxes) {
    if (sandbox.state != SandboxState::pooled && sandbox.state != SandboxState::claimed) continue;
    if (has_passed(sandbox.checked_ms, policy.check_every, now)) due.push_back(sandbox.id);
  }
  return due;
}

bool is_storage_due(const Policy& policy, const SessionRow& session, std::int64_t looked_ms, std::int64_t now) {
  return (session.live > 0 || session.used_ms >= looked_ms) && has_passed(looked_ms, policy.storage_every, now);
}

SessionState state_of(const SessionRow& session) noexcept {
  return session.live > 0 ? SessionState::running : session.state;
}

bool is_expired(const Policy& policy, const SessionRow& session, std::int64_t now) {
  const SessionState state = state_of(session);
  if (state == SessionState::running || state == SessionState::terminated) return false;
  return is_too_old(policy, session, now) || is_idle_too_long(policy, session, now);
}

Sweep sweep(const Policy& policy, std::span<const SessionRow> sessions, std::int64_t now) {
  Sweep found;
  std::vector<const SessionRow*> expired;
  for (const SessionRow& session : sessions) {
    if (session.expires_ms == 0 && is_kept_no_longer(policy, session, now))
      found.marks.push_back({session.id, now + policy.removal_grace.count()});
    if (state_of(session) == SessionState::terminated) continue;
    ++found.report.checked;
    if (session.expires_ms == 0 && is_expired(policy, session, now)) expired.push_back(&session);
  }
  std::sort(expired.begin(), expired.end(), [](const SessionRow* one, const SessionRow* other) {
    return std::tie(one->used_ms, one->id) < std::tie(other->used_ms, other->id);
  });
  found.report.expired = expired.size();
  const std::int64_t step = std::max<std::int64_t>(policy.stagger_step.count(), 1);
  const std::int64_t steps = policy.stagger_max.count() / step + 1;
  std::int64_t at = 0;
  for (const SessionRow* session : expired)
    found.marks.push_back({session->id, now + policy.grace.count() + step * (at++ % steps)});
  return found;
}

std::vector<Decision> decisions(const Policy& policy, std::span<const SessionRow> sessions, std::int64_t now) {
  std::vector<Decision> made;
  for (const SessionRow& session : sessions) {
    const SessionState state = state_of(session);
    const bool is_marked = session.expires_ms != 0;
    const bool is_old = is_kept_no_longer(policy, session, now);
    if (session.removing || (is_old && is_marked && session.expires_ms <= now)) {
      made.push_back({session, Fate::remove, false});
    } else if (state != SessionState::running && is_marked && !is_old && !is_expired(policy, session, now)) {
      made.push_back({session, Fate::unmark, false});
    } else if (state == SessionState::running || state == SessionState::terminated) {
      continue;
    } else if (is_marked && session.expires_ms <= now) {
      made.push_back({session, Fate::end, true});
    } else if ((session.lease_ms != 0 && session.lease_ms <= now) ||
        (state == SessionState::error && has_passed(session.used_ms, policy.error_kept, now))) {
      made.push_back({session, Fate::end, false});
    }
  }
  return made;
}

std::int64_t next_look(const Policy& policy, std::span<const SandboxRow> sandboxes,
    std::span<const SessionRow> sessions, const Pool& pool, std::int64_t swept_ms, std::int64_t now) {
  // A refill is begun by the claim; looking every so often finds what died meanwhile.
  std::int64_t next = std::min(now + policy.refill_every.count(), swept_ms + policy.sweep_every.count());
  const std::int64_t retried_ms = pool.failed_ms + wait_after_failure(policy, pool).count();
  if (pool.failed_ms != 0 && retried_ms > now) next = std::min(next, retried_ms);
  for (const SandboxRow& sandbox : sandboxes) {
    if (sandbox.state == SandboxState::pooled || sandbox.state == SandboxState::claimed)
      next = std::min(next, sandbox.checked_ms + policy.check_every.count());
  }
  for (const SessionRow& session : sessions) {
    const SessionState state = state_of(session);
    if (state == SessionState::running || state == SessionState::terminated) continue;
    if (session.expires_ms != 0) next = std::min(next, session.expires_ms);
    if (session.lease_ms != 0) next = std::min(next, session.lease_ms);
    if (state == SessionState::error) next = std::min(next, session.used_ms + policy.error_kept.count());
  }
  return std::max(next, now);
}

}  // namespace guard::sessions
