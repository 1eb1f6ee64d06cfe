#include "cli/sessions/session_service.h"

#include <chrono>
#include <utility>

#include "cli/commands/trusted_inputs.h"
#include "cli/sessions/session_sandbox.h"
#include "pipeline/change/config_trust.h"
#include "serve/http_client.h"

namespace guard {
namespace {

class RealClock final : public sessions::Clock {
 public:
  std::int64_t now_ms() const override {
    return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};
const RealClock kClock;

}  // namespace

std::filesystem::path session_socket(const std::filesystem::path& folder) { return folder / "socket"; }

Result<SessionService> open_session_service(const Options& options, CommandContext& context, PoolUse pool) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(const auto project, project_folder(options.project));
  ConfigSources sources = config_of(options.config, project, context);
  sources.overrides = options.overrides;
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  GUARD_TRY(trust_relaxations(loaded, project, context.cancel));
  GUARD_TRY_ASSIGN(SessionSandboxes sandboxes, session_sandboxes(options, loaded, context));
  sessions::Options wanted;
  if (pool == PoolUse::none) wanted.policy.pool_min = wanted.policy.pool_target = wanted.policy.starts_max = 0;
  wanted.remove_leftover = sandboxes.remove_leftover;
  SessionService service;
  service.backend = std::move(sandboxes.backend);
  GUARD_TRY_ASSIGN(service.manager, sessions::Manager::open(folder, std::move(sandboxes.factory), kClock, wanted));
  return service;
}

Result<void> ask_session(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(UniqueFd connection, serve::connect_to(session_socket(folder)));
  if (connection) return serve::ask(std::move(connection), request, answer);
  GUARD_TRY_ASSIGN(const SessionService service, open_session_service(options, context, PoolUse::none));
  return serve::Api(*service.manager).handle(request, answer);
}

}  // namespace guard
