#include "egress/proxy.h"

#include <fmt/format.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/co_spawn.hpp>
#include <boost/asio/executor_work_guard.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <exception>
#include <set>
#include <thread>

#include "common/text/text.h"
#include "common/threads.h"
#include "egress/connection.h"

namespace guard {
namespace {

namespace asio = boost::asio;

Result<EgressTarget> upstream_of(std::string_view url) {
  constexpr std::string_view kScheme = "http://";
  std::string_view rest = url;
  if (rest.ends_with('/')) rest.remove_suffix(1);
  const bool is_http = rest.starts_with(kScheme);
  if (is_http) rest.remove_prefix(kScheme.size());
  auto target = EgressTarget::parse(rest);
  if (is_http && target) return target;
  return Error(ErrorCode::config_invalid,
      fmt::format("{} is no upstream proxy of the network", printable(url_without_userinfo(url))))
      .hint("write http://host:port, without a user");
}

}  // namespace

class EgressProxy::Server {
 public:
  Server(EgressPolicy policy, EgressOptions options, Sink sink) : sink_(std::move(sink)) {
    shared_.policy = std::move(policy);
    shared_.options = std::move(options);
  }

  Result<void> start() {
    GUARD_TRY(check_options(shared_.options.names));
    if (!shared_.options.upstream.empty()) {
      GUARD_TRY_ASSIGN(shared_.upstream, upstream_of(shared_.options.upstream));
    }
    for (const EgressCredential& one : shared_.policy.credentials) {
      if (one.keys.empty())
        return Error(ErrorCode::internal, fmt::format("the credential for {} was not read", one.target.text()));
    }
    if (!shared_.policy.credentials.empty()) {
      GUARD_TRY_ASSIGN(const std::string roots, trusted_roots(shared_.options.authorities));
      GUARD_TRY_ASSIGN(shared_.to_servers, tls_context_trusting(roots));
      GUARD_TRY_ASSIGN(shared_.authority, SessionAuthority::create());
      for (std::size_t i = 0; i < shared_.policy.credentials.size(); ++i)
        shared_.renewals.emplace_back(shared_.context);
      shared_.hide_keys();
    }
    GUARD_TRY_ASSIGN(thread_, new_thread([this] { run(); }));
    return ok();
  }

  ~Server() {
    if (!thread_.joinable()) return;
    try {
      asio::post(shared_.context, [this] {
        for (EgressConnection* one : open_) one->leave();
        shared_.stop.cancel();
        work_.reset();
      });
    } catch (const std::exception&) {
      shared_.stop.cancel();
      shared_.context.stop();
    }
    thread_.join();
    shared_.lookups.join();
  }

  void take(UniqueFd fd) {
    asio::post(shared_.context, [this, fd = std::move(fd)]() mutable { begin(std::move(fd)); });
  }

  void set_rules(EgressRules rules) {
    asio::post(shared_.context, [this, rules = std::move(rules)]() mutable {
      shared_.policy.rules = std::move(rules);
      for (EgressConnection* one : open_) {
        try {
          one->judge_again();
        } catch (const std::exception&) {  // there is no memory to judge it with
          one->abandon(EgressReason::rules_changed);
        }
      }
    });
  }

  const std::string& root_pem() const noexcept {
    static const std::string none;
    return shared_.authority ? shared_.authority->root_pem() : none;
  }

 private:
  // What one connection throws (there is no memory, above all) is not the trouble of the others.
  void run() {
    while (true) {
      try {
        shared_.context.run();
        return;
      } catch (const std::exception&) {
        continue;
      }
    }
  }

  void begin(UniqueFd fd) {
    if (const auto refused = over_limit()) return turn_away(std::move(fd), *refused);
    int family = 0;
    socklen_t size = sizeof family;
    EgressConnection::Socket socket(shared_.context);
    boost::system::error_code failure;
    if (::getsockopt(fd.get(), SOL_SOCKET, SO_DOMAIN, &family, &size) == 0)
      socket.assign(asio::generic::stream_protocol(family, 0), fd.get(), failure);
    if (!socket.is_open()) return turn_away(std::move(fd), EgressReason::broken);
    static_cast<void>(fd.release());
    socket.non_blocking(true, failure);
    auto connection = std::make_shared<EgressConnection>(shared_, std::move(socket));
    open_.insert(connection.get());
    const auto ended = [this, connection](const std::exception_ptr& failed) {
      if (failed) connection->abandon(EgressReason::broken);
      open_.erase(connection.get());
      sink_(connection->decision());
    };
    try {
      asio::co_spawn(shared_.context, connection->run(), ended);
    } catch (const std::exception&) {  // there is no memory for it
      ended(std::current_exception());
    }
  }

  std::optional<EgressReason> over_limit() {
    const EgressLimits& limits = shared_.policy.limits;
    const auto now = SteadyClock::now();
    const double rate = limits.connections_per_second;
    allowance_ = std::min(rate, allowance_ + rate * std::chrono::duration<double>(now - counted_).count());
    counted_ = now;
    if (begun_ >= limits.connections_in_all) return EgressReason::connections_in_all;
    if (open_.size() >= limits.connections_at_once) return EgressReason::connections_at_once;
    if (allowance_ < 1) return EgressReason::connections_per_second;
    allowance_ -= 1;
    ++begun_;
    return std::nullopt;
  }

  // Before anything was read, so that it costs little.
  void turn_away(UniqueFd fd, EgressReason reason) {
    EgressDecision decision;
    decision.began = std::chrono::system_clock::now();
    decision.reason = reason;
    decision.text = fmt::format("too many connections ({}), by a limit of [network]", to_string(reason));
    const std::string answer = http_answer(http_status_of(reason), decision.text);
    static_cast<void>(::send(fd.get(), answer.data(), answer.size(), MSG_NOSIGNAL | MSG_DONTWAIT));
    sink_(decision);
  }

  EgressShared shared_;
  const Sink sink_;
  std::set<EgressConnection*> open_;
  std::uint64_t begun_ = 0;
  SteadyClock::time_point counted_ = SteadyClock::now();
  double allowance_ = 1e9;  // the first call makes it a full one
  asio::executor_work_guard<asio::io_context::executor_type> work_ = asio::make_work_guard(shared_.context);
  std::thread thread_;
};

Result<std::unique_ptr<EgressProxy>> EgressProxy::create(EgressPolicy policy, EgressOptions options, Sink sink) try {
  auto server = std::make_unique<Server>(std::move(policy), std::move(options), std::move(sink));
  GUARD_TRY(server->start().context("starting the proxy of the sandbox's network"));
  return std::unique_ptr<EgressProxy>(new EgressProxy(std::move(server)));
} catch (const std::exception& failure) {
  return Error(ErrorCode::io_error, fmt::format("starting the proxy of the sandbox's network: {}", failure.what()));
}

EgressProxy::EgressProxy(std::unique_ptr<Server> server) : server_(std::move(server)) {}
EgressProxy::~EgressProxy() = default;

void EgressProxy::take(UniqueFd connection) { server_->take(std::move(connection)); }
void EgressProxy::set_rules(EgressRules rules) { server_->set_rules(std::move(rules)); }
const std::string& EgressProxy::root_pem() const noexcept { return server_->root_pem(); }

}  // namespace guard
