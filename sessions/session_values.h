// What the ledger of sessions holds, as plain values (sessions/ledger.h keeps them, sessions/policy.h decides by them).
// Times are milliseconds since 1970 (UTC), 0: not yet, or never.
#pragma once

#include <sys/types.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "common/enum_names.h"
#include "common/result.h"

namespace guard::sessions {

enum class SandboxState : std::uint8_t {
  starting,  // its folder may be there, and it too
  pooled,    // ready, and nobody's yet
  claimed,   // its folder is the workspace of `session`, to which it belongs for good
  closing,   // asked to go, or it went; the row stays until it is known to be gone
};

struct SandboxRow {
  std::string id;  // new_run_id(); its workspace is <state>/workspaces/<id>
  SandboxState state = SandboxState::starting;
  std::string session;  // of claimed, and of closing that was claimed
  std::int64_t started_ms = 0;

  std::int64_t checked_ms = 0;  // not in the file: the last health check that it passed
};

enum class SessionState : std::uint8_t {
  idle,
  running,     // a command is live; never in the file, nothing runs on after a restart
  error,       // its sandbox died; the next call gets another
  terminated,  // closed or expired, and its workspace kept: the next call reopens it
};

struct SessionRow {
  std::string id;  // "{tenant}/{conversation}"
  SessionState state = SessionState::idle;
  std::int64_t created_ms = 0;  // or reopened
  std::int64_t used_ms = 0;     // when a command was last live; in the file up to a minute late
  std::int64_t lease_ms = 0;    // when its lease ends
  std::int64_t expires_ms = 0;  // a sweep found it too old; it ends at this time, or is removed where it is terminated
  std::string workspace;        // a sandbox id: the folder that holds its files; empty: it has none yet
  std::string moving_from;      // another such folder, whose entries are on their way into `workspace`
  bool removing = false;        // asked to go with its workspace: nothing of it may be used any more

  std::size_t live = 0;  // not in the file: commands that have not ended

  bool operator==(const SessionRow&) const = default;
};

// A command in the background. Its output is <state>/logs/<id>.
struct CommandRow {
  std::string id;  // new_run_id()
  std::string session;
  std::string argv;  // each ended by a NUL
  std::int64_t started_ms = 0;
  std::int64_t ended_ms = 0;
  std::string outcome;          // "exited 0", "signaled 9", "timed_out 5000"; a wire name; "lost": guard died meanwhile
  std::uint64_t log_bytes = 0;  // that were kept; once it has ended
  bool cut = false;             // there was more
};

// INPUT_INVALID unless it is `{tenant}/{conversation}`: two parts of 1 to 64 of [A-Za-z0-9._-], neither of which begins
// with a dot. It never becomes a path; but it is said in messages, labels and records.
Result<void> check_session_id(std::string_view id);

// Of the folders that lead to workspaces. The user of a sandbox that root starts walks through them; to all others they
// are closed, whatever a program inside makes of its workspace.
mode_t folder_mode() noexcept;

// The part before the slash.
std::string_view tenant_of(std::string_view session_id) noexcept;

}  // namespace guard::sessions

template <>
inline constexpr std::array<std::string_view, 4> guard::kNamesOf<guard::sessions::SandboxState> = {
    "starting", "pooled", "claimed", "closing"};
template <>
inline constexpr std::array<std::string_view, 4> guard::kNamesOf<guard::sessions::SessionState> = {
    "IDLE", "RUNNING", "ERROR", "TERMINATED"};
