// `guard serve`: sessions for the programs of one person, over a Unix socket.
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <cstring>
#include <thread>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/sessions/session_sandbox.h"
#include "cli/sessions/session_service.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "serve/http_server.h"

namespace guard {
namespace {

constexpr milliseconds kDrainGrace{10'000};

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

}  // namespace

Result<int> cmd_serve(const Options& options, CommandContext& context) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options, context));
  GUARD_TRY_ASSIGN(auto service, open_session_service(options, context, PoolUse::filled));
  GUARD_TRY_ASSIGN(const UniqueFd listener, serve::listen_at(session_socket(folder)));
  sessions::Manager& manager = *service.manager;
  OutStream& err = context.streams.err;
  if (!options.quiet)
    err.print(
        "guard: serving sessions in {} sandboxes at {}\n", service.backend, printable(session_socket(folder).native()));
  tell_systemd(context.environment, "READY=1\n");
  std::thread upkeep([&] { manager.run(context.cancel); });
  serve::Api api(manager);
  const auto served = serve::serve_http(listener.get(), api, context.cancel, [&] {
    tell_systemd(context.environment, "STOPPING=1\n");
    if (!options.quiet) err.print("guard: stopping; commands have {} s to end\n", kDrainGrace.count() / 1000);
    manager.stop(kDrainGrace);
  });
  upkeep.join();
  for (const std::string& note : manager.notes()) err.print("guard: {}\n", printable(note));
  GUARD_TRY(served);
  return 0;  // asked to stop, and did
}

}  // namespace guard
