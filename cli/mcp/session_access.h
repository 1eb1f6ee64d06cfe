// The sandbox of a session, for callers that keep asking: from `guard serve` where one runs, else from a server that
// this process then is, so that several of such callers, and `guard session`, have the same sessions.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/sessions/session_service.h"

namespace guard::mcp {

// Thread-safe.
class SessionAccess {
 public:
  // Both outlive it. Nothing is opened yet.
  SessionAccess(const Options& options, CommandContext& context) : options_(options), context_(context) {}
  ~SessionAccess();  // with the server, if there is one here: its sandboxes end, workspaces stay
  SessionAccess(const SessionAccess&) = delete;
  SessionAccess& operator=(const SessionAccess&) = delete;

  // Starts tasks in the session, which is opened first. They end with the function. `is_own`: nobody else knows of the
  // session, so it gets a lease: what a client leaves behind that was killed closes by itself. CANCELLED once `wanted`
  // says no.
  Result<StartTask> tasks(const std::string& session, bool is_own, const std::function<bool()>& wanted);
  // Its sandbox goes, its workspace stays. Where no server runs there is nothing to close.
  Result<void> close(const std::string& session);

 private:
  Result<void> ensure_server(const std::function<bool()>& wanted);
  Result<void> start_server();
  milliseconds lease_due(const std::string& session);

  const Options& options_;
  CommandContext& context_;
  std::timed_mutex mutex_;
  SessionService service_;
  UniqueFd listener_;
  std::unique_ptr<CancelToken> stop_;  // of the server here
  std::thread server_;
  std::map<std::string, SteadyClock::time_point> renewed_;
};

}  // namespace guard::mcp
