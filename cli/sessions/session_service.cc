#include "cli/sessions/session_service.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <utility>

#include "cli/commands/trusted_inputs.h"
#include "cli/sessions/acads_session.h"
#include "cli/sessions/session_sandbox.h"
#include "cli/sessions/trace_options.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "common/threads.h"
#include "pipeline/change/config_trust.h"
#include "serve/http_client.h"
#include "serve/task_stream.h"

namespace guard {
namespace {

class RealClock final : public sessions::Clock {
 public:
  std::int64_t now_ms() const override {
    return std::chrono::duration_cast<milliseconds>(std::chrono::system_clock::now().time_since_epoch()).count();
  }
};
const RealClock kClock;

sessions::ConnectionLine line_of(const EgressDecision& decision) {
  const auto began = std::chrono::duration_cast<milliseconds>(decision.began.time_since_epoch());
  return {decision.host, decision.port, decision.address, decision.allowed, std::string(to_string(decision.reason)),
      decision.bytes_up, decision.bytes_down, began.count(), decision.elapsed};
}

}  // namespace

Error foreign_error(const nlohmann::json& said) {
  const auto text = [&said](const char* key) {
    const auto found = said.find(key);
    return found != said.end() && found->is_string() ? found->get<std::string>() : std::string();
  };
  Error error(find_error_code(text("code")).value_or(ErrorCode::protocol_error), text("message"));
  const std::string hint = text("hint");
  return hint.empty() ? error : Error(std::move(error).hint(hint));
}

Result<void> WholeAnswer::error() const {
  if (status_ == 200) return ok();
  GUARD_TRY_ASSIGN(const nlohmann::json said, parse_json(body).context("reading the answer"));
  const auto found = said.find("error");
  if (found != said.end() && found->is_object()) return foreign_error(*found);
  return Error(ErrorCode::protocol_error, fmt::format("guard serve answered with status {}", status_));
}

std::filesystem::path session_socket(const std::filesystem::path& folder) { return folder / "socket"; }

namespace {

// No descriptor: none runs.
Result<UniqueFd> connect_to_server(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  return serve::connect_to(session_socket(folder));
}

Result<std::optional<StartTask>> tasks_of_server(const Options& options, CommandContext& context,
    const std::string& session, std::function<void()> gone = {}, milliseconds lease = milliseconds(0)) {
  GUARD_TRY(check_image_of_server(options, context));
  GUARD_TRY_ASSIGN(UniqueFd connection, connect_to_server(options, context));
  if (!connection) return std::optional<StartTask>();
  serve::Request request;
  request.method = "POST";
  request.path = fmt::format("/v1/sessions/{}/tasks", session);
  request.query["open"] = "1";
  if (lease.count() > 0) request.query["lease"] = std::to_string(lease.count());
  WholeAnswer refusal;
  GUARD_TRY_ASSIGN(
      UniqueFd upgraded, serve::ask_to_upgrade(std::move(connection), request, serve::kTaskStream, refusal));
  if (upgraded) return std::optional(serve::tasks_over(std::move(upgraded), std::move(gone)));
  GUARD_TRY(refusal.error());
  return Error(ErrorCode::protocol_error, "the running `guard serve` is of another version")
      .hint("stop it, and start this one");
}

// A text of its /v1/stats. Nothing: none runs.
Result<std::optional<std::string>> said_by_server(const Options& options, CommandContext& context, const char* key) {
  GUARD_TRY_ASSIGN(UniqueFd connection, connect_to_server(options, context));
  if (!connection) return std::optional<std::string>();
  serve::Request request;
  request.method = "GET";
  request.path = "/v1/stats";
  WholeAnswer answer;
  GUARD_TRY(serve::ask(std::move(connection), request, answer));
  GUARD_TRY(answer.error());
  GUARD_TRY_ASSIGN(const nlohmann::json said, parse_json(answer.body).context("reading the answer"));
  return std::optional(said.is_object() ? said.value(key, "") : std::string());
}

}  // namespace

Result<void> check_image_of_server(const Options& options, CommandContext& context) {
  const auto named = std::find_if(options.overrides.begin(), options.overrides.end(),
      [](const ConfigOverride& one) { return one.key == "session.image"; });
  if (named == options.overrides.end()) return ok();
  GUARD_TRY_ASSIGN(const auto image, said_by_server(options, context, "image"));
  if (!image || image == named->text) return ok();
  return Error(ErrorCode::usage, "`guard serve` runs, and has chosen another image for its sandboxes")
      .hint("leave --image out, or stop it and start `guard serve --image NAME`");
}

Result<void> check_trace_of_server(const Options& options, CommandContext& context) {
  const std::string wanted = trace_place(options);
  if (wanted.empty()) return ok();
  GUARD_TRY_ASSIGN(const auto place, said_by_server(options, context, "trace"));
  if (!place || place == wanted) return ok();
  return Error(ErrorCode::usage,
      fmt::format("another process has the sessions, and runs {}",
          place->empty() ? "without --trace, --artifacts and --otlp" : "with " + printable(*place)))
      .hint(fmt::format("leave these options out, or stop `guard serve`, and start it with {}", printable(wanted)));
}

Result<SessionService> open_session_service(const Options& options, CommandContext& context, PoolUse pool) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(const auto project, project_folder(options.project));
  GUARD_TRY_ASSIGN(const ConfigSources sources, sources_of(options, project, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  GUARD_TRY(trust_relaxations(loaded, project, context.cancel));
  SessionService service;
  sessions::Options wanted;
  GUARD_TRY_ASSIGN(wanted.trace, open_trace(options, loaded, context, folder));
  service.networks = std::make_shared<SessionNetworks>(loaded.config,
      [counts = service.counts, trace = wanted.trace](const std::string& session, const EgressDecision& decision) {
        counts->add(serve::Counts::Family::connections, std::string(to_string(decision.reason)));
        if (trace && !session.empty()) trace->tell(session, line_of(decision));
      });
  wanted.on_claim = [networks = service.networks](
                        const auto& sandbox, const auto& session) { networks->claim(sandbox, session); };
  GUARD_TRY_ASSIGN(SessionSandboxes sandboxes, session_sandboxes(options, loaded, context, service.networks));
  if (pool == PoolUse::none) wanted.policy.pool_min = wanted.policy.pool_target = wanted.policy.starts_max = 0;
  wanted.remove_leftover = sandboxes.remove_leftover;
  for (auto& [name, value] : sandboxes.env) wanted.env[name] = std::move(value);
  service.backend = std::move(sandboxes.backend);
  service.image = loaded.config.session.image;
  service.limits = sandboxes.limits;
  service.has_network = network_of(loaded.config) == Network::allowlist && !loaded.config.network.allow.empty();
  GUARD_TRY_ASSIGN(service.manager, sessions::Manager::open(folder, std::move(sandboxes.factory), kClock, wanted));
  return service;
}

Result<void> serve_sessions(
    SessionService& service, serve::ServeOptions serving, CancelToken& cancel, const std::function<void()>& stopping) {
  sessions::Manager& manager = *service.manager;
  GUARD_TRY_ASSIGN(std::thread upkeep, new_thread([&] { manager.run(cancel); }));
  serve::Api api(manager, service.image);
  api.show(*service.counts);
  auto served = serve::serve_http(serving, api, cancel, [&] {
    if (stopping) stopping();
    manager.stop(kSessionStopGrace);
  });
  cancel.cancel();  // it has failed, where it was not that
  upkeep.join();
  return served;
}

Result<StartTask> session_tasks(const Options& options, CommandContext& context, const std::string& session) {
  GUARD_TRY_ASSIGN(auto served, tasks_of_server(options, context, session));
  if (served) return *std::move(served);
  GUARD_TRY_ASSIGN(SessionService service, open_session_service(options, context, PoolUse::none));
  GUARD_TRY(service.manager->open(session));
  const std::shared_ptr<sessions::Manager> manager = std::move(service.manager);
  return [manager, session](const TaskSpec& spec) { return manager->start(session, spec); };
}

Result<StartTask> served_tasks(const Options& options, CommandContext& context, const std::string& session,
    std::function<void()> gone, milliseconds lease) {
  GUARD_TRY_ASSIGN(auto served, tasks_of_server(options, context, session, std::move(gone), lease));
  if (served) return *std::move(served);
  return Error(ErrorCode::environment_unavailable, "no `guard serve` runs here, so nothing runs in the session")
      .hint("start `guard serve`, and in the session what this is to be used with");
}

Result<void> ask_session(
    const Options& options, CommandContext& context, const serve::Request& request, serve::Answer& answer) {
  if (options.acads) return ask_acads(options, context, request, answer);
  GUARD_TRY(check_image_of_server(options, context));
  GUARD_TRY_ASSIGN(UniqueFd connection, connect_to_server(options, context));
  if (connection) return serve::ask(std::move(connection), request, answer);
  // Its sandbox ends with this process, and a command in the background with it.
  if (request.method == "POST" && request.path.ends_with("/commands"))
    return Error(ErrorCode::environment_unavailable, "no `guard serve` runs here, so nothing runs in the background")
        .hint("start `guard serve`, then this again");
  GUARD_TRY_ASSIGN(const SessionService service, open_session_service(options, context, PoolUse::none));
  return serve::Api(*service.manager).handle(request, answer);
}

}  // namespace guard
