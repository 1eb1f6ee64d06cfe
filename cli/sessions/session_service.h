// Who does a session's work: `guard serve` where it runs, else this process.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>

#include "cli/commands/commands.h"
#include "pipeline/session_networks.h"
#include "serve/http_server.h"
#include "serve/metrics.h"
#include "sessions/manager.h"

namespace guard {

constexpr milliseconds kSessionStopGrace{10'000};  // of serve_sessions(), from TERM to KILL

enum class PoolUse : std::uint8_t { filled, none };

struct SessionService {
  std::string backend;
  std::string image;         // session.image
  Limits limits;             // of each sandbox
  bool has_network = false;  // [network] allow holds something
  std::shared_ptr<SessionNetworks> networks;
  std::unique_ptr<sessions::Manager> manager;
  std::shared_ptr<serve::Counts> counts = std::make_shared<serve::Counts>();
};

// In this process; it owns the state folder from here on. An Error with the detail "owner" where another one does.
Result<SessionService> open_session_service(const Options& options, CommandContext& context, PoolUse pool);

// Answers for the service at its socket, and at what else `serving` listens to, until `cancel`. Then `stopping` is
// called, and all sandboxes end.
Result<void> serve_sessions(SessionService& service, serve::ServeOptions serving, CancelToken& cancel,
    const std::function<void()>& stopping = {});

// USAGE where `guard serve` runs on another image than these options name.
Result<void> check_image_of_server(const Options& options, CommandContext& context);
// The same for the place of the trace, if they name one.
Result<void> check_trace_of_server(const Options& options, CommandContext& context);

// Where `guard serve` listens.
std::filesystem::path session_socket(const std::filesystem::path& folder);

// An answer that is one document or the bytes of a file.
class WholeAnswer final : public serve::Answer {
 public:
  Result<void> begin(unsigned status, std::string_view) override {
    status_ = status;
    return ok();
  }
  Result<void> write(std::string_view bytes) override {
    body += bytes;
    return ok();
  }
  Result<void> error() const;
  std::string body;

 private:
  unsigned status_ = 0;
};
// What stands behind "error" in an answer.
Error foreign_error(const nlohmann::json& said);

// Starts tasks in the session, which is opened first; the same way. They end with the function.
Result<StartTask> session_tasks(const Options& options, CommandContext& context, const std::string& session);

// In `guard serve` alone: for what makes no sense where nothing else can run in the session. `gone`: as tasks_over().
// `lease` 0: no word of it.
Result<StartTask> served_tasks(const Options& options, CommandContext& context, const std::string& session,
    std::function<void()> gone = {}, milliseconds lease = milliseconds(0));

// One request, answered by `guard serve` or, where none runs, here; with --backend acads by a session pool at Azure.
Result<void> ask_session(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer);

}  // namespace guard
