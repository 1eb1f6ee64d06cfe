// Which sandboxes, sessions and background commands there are, in one SQLite file (WAL, synchronous = FULL): each step
// is written before it is done, and is on the disk when the call returns. What a dead owner leaves is known from here
// alone (sessions/estate.h).
//
//   <state>/owner              held by the owner (flock), says who that is
//   <state>/sessions.sqlite    this
//   <state>/workspaces/<id>/   sessions/workspaces.h
//   <state>/logs/<id>          of commands in the background
//
// Thread-safe: calls are serialised inside. All failures are IO_ERROR and leave the file as it was.
#pragma once

#include <filesystem>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "common/result.h"
#include "common/sqlite/sqlite.h"
#include "common/unique_fd.h"
#include "sessions/session_values.h"
#include "sessions/steps.h"

namespace guard::sessions {

// The one owner of a state folder, which is made (0700) where it is missing. The kernel lets go of the lock with its
// process, however that ends.
class Owner {
 public:
  // INPUT_INVALID where another process holds the folder; it is named.
  static Result<Owner> take(const std::filesystem::path& state);

 private:
  explicit Owner(UniqueFd lock) : lock_(std::move(lock)) {}
  UniqueFd lock_;
};

class Ledger {
 public:
  // Makes the file and its folder where they are missing (0600, 0700).
  static Result<std::unique_ptr<Ledger>> open(const std::filesystem::path& state, StepWatch watch = {});

  // Whole rows, new or not; in one transaction where there are two. Null: unchanged.
  Result<void> save(const SandboxRow* sandbox, const SessionRow* session);
  Result<void> save(const CommandRow& command);

  Result<void> forget_sandbox(const std::string& id);
  Result<void> forget_session(const std::string& id);  // with its commands
  Result<void> forget_command(const std::string& id);

  Result<std::vector<SandboxRow>> sandboxes() const;
  Result<std::vector<SessionRow>> sessions() const;
  Result<std::vector<CommandRow>> commands(const std::string& session) const;  // the oldest first; empty: of all

  // PRAGMA integrity_check: "ok", or what it says.
  Result<std::string> check() const;

 private:
  Ledger() = default;
  template <typename Row>
  Result<void> put(const Row& row);
  template <typename Row>
  Result<std::vector<Row>> all() const;
  Result<void> forget(std::string_view step, std::string_view sql, const std::string& id);
  Result<void> begin(std::string_view step) const;

  mutable std::mutex mutex_;
  std::unique_ptr<SqliteFile> file_;
  StepWatch watch_;
};

}  // namespace guard::sessions
