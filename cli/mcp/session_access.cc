#include "cli/mcp/session_access.h"

#include <fmt/format.h>

#include <utility>

#include "cli/sessions/session_sandbox.h"
#include "common/threads.h"
#include "serve/access.h"
#include "serve/http_client.h"

namespace guard::mcp {
namespace {

constexpr milliseconds kOwnerMax{20'000};  // for a call of `guard session` that has the sessions now
constexpr milliseconds kPause{20};
constexpr milliseconds kDrainMax{500};        // a client waits two seconds for its server, and then kills it
constexpr milliseconds kLease{3'600'000};     // without a call
constexpr milliseconds kRenewEvery{600'000};  // each time is a write of the ledger

Error not_wanted() { return Error(ErrorCode::cancelled, "the client does not want it any more"); }

}  // namespace

SessionAccess::~SessionAccess() {
  if (stop_) stop_->cancel();
  if (server_.joinable()) server_.join();
}

Result<StartTask> SessionAccess::tasks(const std::string& session, bool is_own, const std::function<bool()>& wanted) {
  milliseconds lease{0};
  {
    std::unique_lock lock(mutex_, std::defer_lock);
    while (!lock.try_lock_for(kPause)) {
      if (!wanted()) return not_wanted();
    }
    GUARD_TRY(ensure_server(wanted));
    if (is_own) lease = lease_due(session);
  }
  return served_tasks(options_, context_, session, {}, lease);
}

Result<void> SessionAccess::close(const std::string& session) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options_, context_));
  GUARD_TRY_ASSIGN(UniqueFd connection, serve::connect_to(session_socket(folder)));
  if (!connection) return ok();
  serve::Request request;
  request.method = "DELETE";
  request.path = fmt::format("/v1/sessions/{}", session);
  WholeAnswer answer;
  GUARD_TRY(serve::ask(std::move(connection), request, answer));
  return answer.error();
}

milliseconds SessionAccess::lease_due(const std::string& session) {
  const auto now = SteadyClock::now();
  const auto [renewed, is_new] = renewed_.try_emplace(session, now);
  if (!is_new && now - renewed->second < kRenewEvery) return milliseconds(0);
  renewed->second = now;
  std::erase_if(renewed_, [now](const auto& one) { return now - one.second > kLease; });
  return kLease;
}

Result<void> SessionAccess::ensure_server(const std::function<bool()>& wanted) {
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options_, context_));
  const Deadline deadline = Deadline::after(kOwnerMax);
  for (;;) {
    GUARD_TRY_ASSIGN(const UniqueFd connection, serve::connect_to(session_socket(folder)));
    if (connection) return server_.joinable() ? ok() : check_trace_of_server(options_, context_);
    auto started = start_server();
    if (started || !started.error().details().contains("owner") || deadline.passed()) return started;
    // Whoever has the sessions answers soon, or has ended.
    if (!wanted()) return not_wanted();
    std::this_thread::sleep_for(kPause);
  }
}

Result<void> SessionAccess::start_server() {
  if (server_.joinable()) {  // it has failed
    stop_->cancel();
    server_.join();
  }
  service_ = {};
  renewed_.clear();
  GUARD_TRY_ASSIGN(const auto folder, sessions_folder(options_, context_));
  GUARD_TRY_ASSIGN(SessionService service, open_session_service(options_, context_, PoolUse::none));
  GUARD_TRY_ASSIGN(listener_, serve::listen_at(session_socket(folder)));
  service_ = std::move(service);
  serve::ServeOptions serving;
  serving.listeners = {{listener_.get()}};
  serving.drain_max = kDrainMax;
  stop_ = std::make_unique<CancelToken>();
  GUARD_TRY_ASSIGN(server_, new_thread([this, serving] {
    static_cast<void>(serve_sessions(service_, serving, *stop_));
    listener_.reset();
  }));
  return ok();
}

}  // namespace guard::mcp
