#include "pipeline/session_networks.h"

#include <fmt/format.h>

#include <set>
#include <utility>
#include <vector>

namespace guard {
namespace {

Error not_granted(const Error& error) {
  return Error(ErrorCode::input_invalid,
      error.hint().empty() ? error.message() : fmt::format("{}: {}", error.message(), error.hint()));
}

}  // namespace

Result<EgressRules> rules_asked(const EgressRules& granted, const HostsAsked& asked) {
  std::vector<std::string> allow;
  std::set<std::uint16_t> ports;
  for (const EgressRule& rule : granted.allowed()) {
    ports.insert(rule.port);
    if (!asked.allow) allow.push_back(rule.text());
  }
  for (const std::string& host : asked.allow.value_or(std::vector<std::string>())) {
    const auto parsed = EgressRule::parse(host);
    if (!parsed) return not_granted(parsed.error());
    const std::size_t before = allow.size();
    for (const std::uint16_t port : ports) {
      EgressRule rule = *parsed;
      if (rule.port != 0 && rule.port != port) continue;
      rule.port = port;
      GUARD_TRY_ASSIGN(const EgressRules one, EgressRules::create({rule.text()}, {}));
      if (granted.narrowed(one)) allow.push_back(rule.text());
    }
    if (allow.size() > before) continue;
    return Error(ErrorCode::input_invalid,
        fmt::format("{} is not in [network] allow of the server's guard.toml: add it there, or leave it out; a sandbox "
                    "may narrow that list, not widen it",
            parsed->text()));
  }
  auto rules = EgressRules::create(allow, asked.deny);
  if (rules) rules = granted.narrowed(*rules);
  if (!rules) return not_granted(rules.error());
  return rules;
}

Result<std::shared_ptr<Egress>> SessionNetworks::open(
    const std::string& id, std::vector<EgressCredential> credentials) {
  const auto sandbox = std::make_shared<Sandbox>();
  GUARD_TRY_ASSIGN(auto egress,
      Egress::open(config_, std::move(credentials),
          [self = shared_from_this(), sandbox](const auto& decision) { self->note(*sandbox, decision); }));
  const std::lock_guard lock(mutex_);
  std::erase_if(sandboxes_, [](const auto& one) { return one.second->egress.expired(); });
  sandbox->egress = egress;
  sandboxes_[id] = sandbox;
  return egress;
}

void SessionNetworks::claim(const std::string& id, const std::string& session) {
  std::shared_ptr<Egress> egress;  // let go of without the lock: the last decisions come with its end
  const std::lock_guard lock(mutex_);
  const auto found = sandboxes_.find(id);
  if (found == sandboxes_.end()) return;
  found->second->session = session;
  egress = found->second->egress.lock();
  if (const auto rules = rules_.find(session); egress && rules != rules_.end()) egress->restrict(rules->second);
}

Result<void> SessionNetworks::set(const std::string& session, const HostsAsked& asked) {
  GUARD_TRY_ASSIGN(const EgressRules granted, EgressRules::create(config_.network.allow, config_.network.deny));
  GUARD_TRY_ASSIGN(const EgressRules rules, rules_asked(granted, asked));
  std::vector<std::shared_ptr<Egress>> used;  // as above
  const std::lock_guard lock(mutex_);
  rules_[session] = rules;
  for (const auto& [id, sandbox] : sandboxes_) {
    if (sandbox->session != session) continue;
    used.push_back(sandbox->egress.lock());
    if (used.back()) used.back()->restrict(rules);
  }
  return ok();
}

void SessionNetworks::forget(const std::string& session) {
  const std::lock_guard lock(mutex_);
  rules_.erase(session);
}

void SessionNetworks::note(const Sandbox& sandbox, const EgressDecision& decision) {
  std::unique_lock lock(mutex_);
  const std::string session = sandbox.session;
  lock.unlock();
  watch_(session, decision);
}

}  // namespace guard
