#include "pipeline/network.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/resource.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "common/file_io.h"
#include "egress/tls/tls_layer.h"

namespace guard {
namespace {

// Hosts that a record names one by one; a program that tries more than that is looking for a way out.
constexpr std::size_t kLinesMax = 200;

constexpr const char* kAuthoritiesInside = "/guard-authorities.pem";

// The soft limit is for programs that still use select(2); guard does not, and what it starts gets limits of its own.
// How many connections fit, the relay sees to (runner/egress/egress_relay.h).
void allow_many_descriptors() {
  constexpr rlim_t kWanted = 65'536;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= kWanted) return;
  limit.rlim_cur = std::min(kWanted, limit.rlim_max);
  ::setrlimit(RLIMIT_NOFILE, &limit);
}

Result<EgressPolicy> egress_policy(const Config& config) {
  EgressPolicy policy;
  GUARD_TRY_ASSIGN(policy.rules, EgressRules::create(config.network.allow, config.network.deny));
  policy.limits.connections_at_once = static_cast<std::uint32_t>(config.network.max_connections);
  // A session may live for days; a run has limits of its own.
  policy.limits.connections_in_all = std::numeric_limits<std::uint64_t>::max();
  policy.limits.connection_time = std::chrono::hours(24);
  policy.limits.bytes_up = config.network.max_upload_bytes;
  policy.limits.bytes_down = config.network.max_download_bytes;
  policy.limits.idle_time = config.network.idle_timeout;
  return policy;
}

}  // namespace

Network network_of(const Config& config) {
  switch (config.docker.network) {
    case NetworkMode::bridge: return Network::bridge;
    case NetworkMode::host: return Network::host;
    case NetworkMode::allowlist: return Network::allowlist;
    case NetworkMode::none: break;
  }
  return config.network.allow.empty() ? Network::none : Network::allowlist;
}

bool leave_registries_out(Config& config) {
  if (config.network.registries_in_tests) return false;
  return std::erase_if(config.network.allow, [](const std::string& rule) { return rule.starts_with('@'); }) > 0;
}

std::string network_relaxation(const Config& config) {
  switch (network_of(config)) {
    case Network::none: return {};
    case Network::allowlist:
      return config.network.allow.empty()
          ? "network.allow: nothing is listed"
          : fmt::format("network.allow: the code reaches {}", fmt::join(config.network.allow, ", "));
    case Network::bridge:
    case Network::host: break;
  }
  return fmt::format("docker.network = {}: the code reaches the network", to_string(config.docker.network));
}

Result<void> check_narrower(const Config& config, const std::vector<std::string>& wanted) {
  GUARD_TRY_ASSIGN(const EgressRules granted, EgressRules::create(config.network.allow, config.network.deny));
  GUARD_TRY_ASSIGN(const EgressRules asked, EgressRules::create(wanted, {}));
  GUARD_TRY(granted.narrowed(asked));
  return ok();
}

Result<std::shared_ptr<Egress>> Egress::open(
    const Config& config, std::vector<EgressCredential> credentials, Watch watch) {
  GUARD_TRY_ASSIGN(EgressPolicy policy, egress_policy(config));
  allow_many_descriptors();
  policy.credentials = std::move(credentials);
  EgressOptions options;
  options.names.dns_servers = config.network.dns_servers;
  options.upstream = config.network.proxy;
  options.authorities = config.network.authorities;
  auto egress = std::make_shared<Egress>();
  egress->watch_ = std::move(watch);
  GUARD_TRY_ASSIGN(egress->proxy_,
      EgressProxy::create(std::move(policy), std::move(options),
          [account = egress.get()](const EgressDecision& decision) { account->note(decision); }));
  return egress;
}

std::map<std::string, std::string> authorities_environment() {
  std::map<std::string, std::string> variables;
  // OpenSSL and Go; node and bun; curl; Python's requests; git.
  for (const char* name :
      {"SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS", "CURL_CA_BUNDLE", "REQUESTS_CA_BUNDLE", "GIT_SSL_CAINFO"})
    variables[name] = kAuthoritiesInside;
  return variables;
}

Result<void> Egress::show_authorities(const std::filesystem::path& folder, SandboxSpec& spec) const {
  const std::string& own = proxy_->root_pem();
  if (own.empty()) return ok();
  const std::string systems = trusted_roots({}).value_or(std::string());
  const std::filesystem::path file = folder / "authorities.pem";
  GUARD_TRY(write_new_file(file, systems + (systems.ends_with('\n') ? "" : "\n") + own, 0444)
                .context("staging the certificate authorities"));
  spec.mounts.push_back({file, kAuthoritiesInside});
  spec.env.merge(authorities_environment());
  return ok();
}

TakeConnection Egress::taker() {
  return [self = shared_from_this()](UniqueFd connection) {
    if (!connection) {
      EgressDecision refused;
      refused.reason = EgressReason::connections_at_once;
      refused.text = "this process has no descriptors for more connections";
      return self->note(refused);
    }
    const std::lock_guard lock(self->using_);
    if (self->proxy_) self->proxy_->take(std::move(connection));
  };
}

void Egress::restrict(EgressRules rules) {
  const std::lock_guard lock(using_);
  if (proxy_) proxy_->set_rules(std::move(rules));
}

void Egress::note(const EgressDecision& decision) {
  {
    const std::lock_guard lock(mutex_);
    const Key key(decision.host, decision.port, decision.allowed, decision.reason);
    if (lines_.size() >= kLinesMax && !lines_.contains(key)) {
      ++more_;
    } else {
      NetworkLine& line = lines_[key];
      line.host = decision.host;
      line.port = decision.port;
      line.allowed = decision.allowed;
      line.reason = to_string(decision.reason);
      ++line.connections;
      line.bytes_up += decision.bytes_up;
      line.bytes_down += decision.bytes_down;
    }
  }
  if (watch_) watch_(decision);
}

NetworkRecord Egress::close() {
  std::unique_ptr<EgressProxy> ending;
  {
    const std::lock_guard lock(using_);
    ending = std::move(proxy_);
  }
  ending.reset();  // the last decisions come now
  const std::lock_guard lock(mutex_);
  NetworkRecord record;
  for (const auto& [key, line] : lines_) record.lines.push_back(line);
  record.more = more_;
  return record;
}

}  // namespace guard
