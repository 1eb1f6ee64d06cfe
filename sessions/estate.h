// All that outlives a guard: the ledger, the workspaces and the logs of one state folder, and the steps that concern
// more than one of them. Each such step may fail or be killed at any point, and is then completed by doing it again.
//
// Thread-safe for different sessions and sandboxes.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "sessions/ledger.h"
#include "sessions/workspaces.h"

namespace guard::sessions {

// What is left to do after the death of the owner who wrote these rows; its sandboxes died with it (the life line).
// Every workspace that a session has stays.
struct Recovery {
  struct Dead {
    SandboxRow sandbox;
    bool has_session = false;  // its folder is a session's, and stays
  };
  std::vector<Dead> sandboxes;       // first: what may still be dying must not see the others
  std::vector<SessionRow> moves;     // to be completed
  std::vector<SessionRow> removals;  // to be completed
  std::vector<CommandRow> lost;      // commands that had not ended
  std::vector<CommandRow> orphans;   // commands of no session: it was removed while they began
};
Recovery recovery(
    std::span<const SandboxRow> sandboxes, std::span<const SessionRow> sessions, std::span<const CommandRow> commands);

// Removes what an engine may have forgotten of the sandbox `id`, and returns when nothing of it can write any more.
using RemoveLeftover = std::function<Result<void>(const std::string& id)>;

class Estate {
 public:
  // INPUT_INVALID where another process owns the folder.
  static Result<std::unique_ptr<Estate>> open(const std::filesystem::path& state, const StepWatch& watch);

  Ledger& ledger() noexcept { return *ledger_; }
  Workspaces& workspaces() noexcept { return workspaces_; }
  std::filesystem::path log(const std::string& command) const { return state_ / "logs" / command; }

  // Forgets a sandbox that is gone, with its folder unless that is a session's.
  Result<void> forget(const SandboxRow& sandbox, bool has_session);
  // The entries of `moving_from` come into `workspace`. Answers the row as it is then.
  Result<SessionRow> finish_move(SessionRow session);
  // Nothing stays of the session. No sandbox of it may be alive.
  Result<void> finish_removal(const SessionRow& session);
  Result<void> forget_command(const std::string& id);  // with its log

  // Does what recovery() says. What fails is listed, as sentences, with folders that the ledger does not know (they are
  // left alone); all else is done nevertheless.
  Result<std::vector<std::string>> recover(const RemoveLeftover& remove_leftover, std::int64_t now);

 private:
  Estate(std::filesystem::path state, Owner owner, std::unique_ptr<Ledger> ledger, Workspaces workspaces)
      : state_(std::move(state)),
        owner_(std::move(owner)),
        ledger_(std::move(ledger)),
        workspaces_(std::move(workspaces)) {}

  std::filesystem::path state_;
  Owner owner_;
  std::unique_ptr<Ledger> ledger_;
  Workspaces workspaces_;
};

}  // namespace guard::sessions
