// The network that a configuration grants to what runs: which kind, and behind an allowlist guard's proxy
// (egress/proxy.h) with an account of what was asked of it.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <tuple>

#include "common/result.h"
#include "egress/proxy.h"
#include "pipeline/config/config.h"
#include "pipeline/run_record.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// An allowlist is the network wherever one is configured: `network.allow` needs no second setting.
Network network_of(const Config& config);

// For tests, which judge code on what the image has: without presets, unless they are to hold for tests, too. True:
// some were left out.
bool leave_registries_out(Config& config);

// "network.allow: api.example.com:443": the beginning is what `guard verify` looks for.
std::string network_relaxation(const Config& config);

// CONFIG_INVALID where `wanted`, a list for a part of the work, is wider anywhere than that of the configuration.
Result<void> check_narrower(const Config& config, const std::vector<std::string>& wanted);

// The variables that name the file of Egress::show_authorities to programs.
std::map<std::string, std::string> authorities_environment();

// The proxy of one run or session. Thread-safe.
class Egress : public std::enable_shared_from_this<Egress> {
 public:
  // Called as each connection ends, on a thread of the proxy's: EgressProxy::Sink.
  using Watch = EgressProxy::Sink;

  // CONFIG_INVALID; IO_ERROR and the like where this machine has no thread or descriptor left.
  static Result<std::shared_ptr<Egress>> open(
      const Config& config, std::vector<EgressCredential> credentials = {}, Watch watch = {});

  // SandboxSpec::egress. Holds on to this.
  TakeConnection taker();

  // In the place of the configuration's rules; never wider than these (EgressRules::narrowed).
  void restrict(EgressRules rules);
  // Where there are credentials: shows the sandbox, read-only, the system's authorities and this proxy's own, in a file
  // of `folder`. IO_ERROR.
  Result<void> show_authorities(const std::filesystem::path& folder, SandboxSpec& spec) const;

  // Ends what is still open. From here on connections are dropped.
  NetworkRecord close();

 private:
  using Key = std::tuple<std::string, std::uint16_t, bool, EgressReason>;

  void note(const EgressDecision& decision);

  Watch watch_;
  std::mutex mutex_;  // the account
  std::map<Key, NetworkLine> lines_;
  std::uint64_t more_ = 0;
  std::mutex using_;  // the proxy
  std::unique_ptr<EgressProxy> proxy_;
};

}  // namespace guard
