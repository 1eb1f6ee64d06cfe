// When what is to be done: pure functions of the rows and of `now` (system clock, milliseconds since 1970). Nothing
// here reads a clock, a file or a sandbox. A time that lies ahead of `now` (a clock that was set back) has not been
// reached, but never makes anything wait longer than its span.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "common/time.h"
#include "sessions/session_values.h"

namespace guard::sessions {

// The figures are those of SPEC, section 6.
struct Policy {
  std::size_t pool_min = 2;  // below it a failed start is tried again soon
  std::size_t pool_target = 5;
  std::size_t pool_max = 10;
  std::size_t starts_max = 2;  // refills side by side: an engine does them one after another anyway
  milliseconds refill_every{10'000};
  milliseconds retry_every{1'000};
  milliseconds check_every{60'000};
  milliseconds storage_every{10'000};
  milliseconds sweep_every{3'600'000};
  milliseconds idle_max{24 * 3'600'000};
  milliseconds age_max{48 * 3'600'000};
  milliseconds grace{5 * 60'000};
  milliseconds stagger_step{5'000};
  milliseconds stagger_max{30 * 60'000};
  milliseconds error_kept{60'000};  // ERROR, for whoever looks; then TERMINATED
  // Unused for so long, a TERMINATED session goes, with its workspace, or disk and ledger would grow for ever. There is
  // no limit to how many stay until then: those of one tenant must not push out another's.
  milliseconds terminated_kept{30 * 24 * 3'600'000ll};
  // From the sweep that finds it so to the removal: a clock that was wrong for some hours costs nobody his files.
  milliseconds removal_grace{24 * 3'600'000};
};

struct Pool {
  std::size_t pooled = 0;
  std::size_t refilling = 0;   // starts of the pool's own
  std::size_t waiting = 0;     // calls that found it empty, and start a sandbox themselves
  std::int64_t failed_ms = 0;  // the last start, if it failed
};

// How many more sandboxes to begin to start now. The aim is the target, and as many more as calls are waiting.
std::size_t starts_due(const Policy& policy, const Pool& pool, std::int64_t now);

// Ids of sandboxes whose health is to be checked: pooled and claimed ones.
std::vector<std::string> checks_due(const Policy& policy, std::span<const SandboxRow> sandboxes, std::int64_t now);

// Whether to look at what a session stores: `looked_ms` was the last time.
bool is_storage_due(const Policy& policy, const SessionRow& session, std::int64_t looked_ms, std::int64_t now);

// RUNNING where a command is live, else what the row says.
SessionState state_of(const SessionRow& session) noexcept;

// Whether a sweep may end it: idle for too long without a lease, or too old; never RUNNING or TERMINATED.
bool is_expired(const Policy& policy, const SessionRow& session, std::int64_t now);

struct Report {  // of one sweep
  std::size_t checked = 0;
  std::size_t expired = 0;
  std::size_t cleaned = 0;  // counts on, until the next sweep
};

// What a sweep finds: the sessions that are expired and were not marked before, the longest unused first, each with the
// time at which it ends: after the grace, in steps of the stagger. And TERMINATED ones, which are not counted, with the
// time at which they are removed.
struct Sweep {
  struct Mark {
    std::string session;
    std::int64_t expires_ms = 0;
  };
  Report report;
  std::vector<Mark> marks;
};
Sweep sweep(const Policy& policy, std::span<const SessionRow> sessions, std::int64_t now);

// What becomes of sessions now, beside sweeps.
enum class Fate : std::uint8_t {
  end,     // its mark or its lease is due, or it was in ERROR for long enough
  unmark,  // it was used since it was marked, or the clock was set back
  remove,  // its removal was begun and not finished; or it is TERMINATED, and its mark is due
};
struct Decision {
  SessionRow row;  // as it was decided on
  Fate fate = Fate::end;
  bool by_sweep = false;  // of end: counts as cleaned
};
std::vector<Decision> decisions(const Policy& policy, std::span<const SessionRow> sessions, std::int64_t now);

// When to look again, at the latest: never before `now`. `swept_ms`: the last sweep.
std::int64_t next_look(const Policy& policy, std::span<const SandboxRow> sandboxes,
    std::span<const SessionRow> sessions, const Pool& pool, std::int64_t swept_ms, std::int64_t now);

// Whether `span` has passed since `since`. Also where that lies ahead of now: the clock was set back.
bool has_passed(std::int64_t since, milliseconds span, std::int64_t now) noexcept;

}  // namespace guard::sessions
