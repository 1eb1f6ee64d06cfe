// `guard serve`: sessions for the programs of one person, over a Unix socket and, where asked for, a port of the
// loopback.
#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <optional>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/mcp/http_endpoint.h"
#include "cli/sessions/serve_install.h"
#include "cli/sessions/session_sandbox.h"
#include "cli/sessions/session_service.h"
#include "common/log.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "serve/e2b/endpoint.h"
#include "serve/http_server.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kRemovalMax{60'000};  // of all containers, by an engine that is busy

// systemd's notification protocol (sd_notify(3)): a datagram of lines.
void tell_systemd(const Environment& environment, std::string_view what) {
  const auto found = environment.find("NOTIFY_SOCKET");
  sockaddr_un address{};
  if (found == environment.end() || found->second.empty() || found->second.size() >= sizeof address.sun_path) return;
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, found->second.data(), found->second.size());
  if (address.sun_path[0] == '@') address.sun_path[0] = '\0';
  const UniqueFd fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + found->second.size());
  ::sendto(fd.get(), what.data(), what.size(), MSG_NOSIGNAL, reinterpret_cast<const sockaddr*>(&address), size);
}

// A sandbox takes about 14 descriptors, and a shell gives 1024 unless one asks for more.
void allow_descriptors() {
  rlimit files{};
  if (::getrlimit(RLIMIT_NOFILE, &files) != 0) return;
  files.rlim_cur = files.rlim_max;
  static_cast<void>(::setrlimit(RLIMIT_NOFILE, &files));
}

}  // namespace

Result<int> cmd_serve(const Options& options, CommandContext& context) {
  const serve::ServeOptions defaults;
  const milliseconds drain_max = options.time_limit.count() > 0 ? options.time_limit : defaults.drain_max;
  if (options.action == Action::install)
    return serve_install(options, context, drain_max + kSessionStopGrace + kRemovalMax);
  if (options.action == Action::uninstall) return serve_uninstall(options, context);
  allow_descriptors();
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(auto service, open_session_service(options, context, PoolUse::filled));
  GUARD_TRY_ASSIGN(const UniqueFd listener, serve::listen_at(session_socket(folder)));
  serve::ServeOptions serving;
  serving.listeners = {{listener.get()}};
  serving.drain_max = drain_max;
  std::optional<JsonLog> log;
  if (!options.log_file.empty()) {
    GUARD_TRY_ASSIGN(log, JsonLog::open(options.log_file));
    serving.log = &*log;
  }
  serve::LoopbackListener loopback;
  std::optional<serve::Token> token;
  if (!options.listen.empty()) {
    const fs::path file = options.token_file.empty() ? folder / "token" : fs::path(options.token_file);
    GUARD_TRY_ASSIGN(token, serve::Token::of_file(file));
    GUARD_TRY_ASSIGN(loopback, serve::listen_on_loopback(options.listen));
    serving.listeners.push_back({loopback.socket.get(), &*token});
  }
  GUARD_TRY_ASSIGN(const auto tools, mcp::Tools::create(options, context, service.counts.get()));
  mcp::HttpEndpoint tools_endpoint(*tools);
  serve::e2b::Endpoint e2b(*service.manager,
      {service.image, service.limits.cpus, service.limits.memory_bytes, sessions::Options().storage_max,
          service.has_network},
      [networks = service.networks](const auto& session, const auto& asked) -> Result<void> {
        if (asked) return networks->set(session, {asked->allow, asked->deny});
        networks->forget(session);
        return ok();
      });
  GUARD_TRY(e2b.run());
  serving.endpoints = {{[](const serve::Request& request) { return request.path == "/mcp"; },
                           [&](const auto& request, serve::Answer& answer) -> Result<void> {
                             tools_endpoint.answer(request, answer);
                             return ok();
                           }},
      {serve::e2b::Endpoint::claims,
          [&](const auto& request, serve::Answer& answer) { return e2b.answer(request, answer); }}};
  serving.sandbox_client = [&](auto sandbox, auto shown, auto path) { return e2b.client_of(sandbox, shown, path); };
  OutStream& err = context.streams.err;
  if (!options.quiet) {
    err.print(
        "guard: serving sessions in {} sandboxes at {}\n", service.backend, printable(session_socket(folder).native()));
    if (token) err.print("guard: and at http://{}, for who knows the token\n", loopback.address);
  }
  tell_systemd(context.environment, "READY=1\n");
  const auto served = serve_sessions(service, serving, context.cancel, [&] {
    tell_systemd(context.environment, "STOPPING=1\n");
    tools_endpoint.cancel_all();
    e2b.stop();
  });
  for (const std::string& note : service.manager->notes()) err.print("guard: {}\n", printable(note));
  GUARD_TRY(served);
  return 0;  // asked to stop, and did
}

}  // namespace guard
