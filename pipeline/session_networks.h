// The networks of sandboxes of sessions: each has a proxy of its own, whose rules are those of its session once it has
// one, and until then the configuration's. Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "pipeline/network.h"

namespace guard {

// What a client asks for; it can only narrow what the configuration grants.
struct HostsAsked {
  std::optional<std::vector<std::string>> allow;  // nothing: all that is granted
  std::vector<std::string> deny;
};

class SessionNetworks : public std::enable_shared_from_this<SessionNetworks> {
 public:
  // On a thread of a proxy, as each connection ends; the session is empty where there was none yet.
  using Watch = std::function<void(const std::string& session, const EgressDecision&)>;
  SessionNetworks(const Config& config, Watch watch) : config_(config), watch_(std::move(watch)) {}

  // Of a new sandbox. As Egress::open().
  Result<std::shared_ptr<Egress>> open(const std::string& sandbox, std::vector<EgressCredential> credentials = {});
  void claim(const std::string& sandbox, const std::string& session);
  // Of the session's sandbox from now on, and of each that it gets; as rules_asked(), and then all is as it was.
  Result<void> set(const std::string& session, const HostsAsked& asked);
  void forget(const std::string& session);

 private:
  struct Sandbox {
    std::string session;
    std::weak_ptr<Egress> egress;
  };
  void note(const Sandbox& sandbox, const EgressDecision& decision);

  const Config config_;
  const Watch watch_;
  std::mutex mutex_;
  std::map<std::string, std::shared_ptr<Sandbox>> sandboxes_;
  std::map<std::string, EgressRules> rules_;  // of sessions that have their own
};

// As rules: a host that is named without a port gets each that `granted` has for it. INPUT_INVALID, all in its message,
// names what isn't granted.
Result<EgressRules> rules_asked(const EgressRules& granted, const HostsAsked& asked);

}  // namespace guard
