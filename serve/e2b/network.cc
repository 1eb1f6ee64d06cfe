#include "serve/e2b/network.h"

#include <fmt/format.h>

#include <string_view>

#include "common/net/ip_address.h"
#include "common/text/text.h"

namespace guard::serve::e2b {
namespace {

using nlohmann::json;

constexpr std::string_view kAllTraffic = "0.0.0.0/0";
constexpr std::size_t kEntriesMax = 500;  // of one list

struct Unsupported {
  const char* key;
  std::string_view instead;
};
constexpr Unsupported kUnsupported[] = {
    {"rules", "only the server's configuration says what is sent to a host beside what code sends"},
    {"egressProxy", "network.proxy of the server's guard.toml names one for all sandboxes"},
    {"maskRequestHost", "a sandbox has no address of its own; `guard session port` reaches what listens in one"},
    {"allowPublicTraffic", "nobody reaches a sandbox without its token; leave it out, or say false"},
    {"httpsPorts", "a sandbox has no address of its own; `guard session port` reaches what listens in one"},
};

bool is_empty(const json& value) {
  return value.is_null() || value == json(false) || value == json("") || (value.is_structured() && value.empty());
}

// As a rule without port.
Result<std::string> host_of(std::string_view entry) {
  std::string_view host = entry;
  const std::size_t slash = entry.find('/');
  if (slash != std::string_view::npos) host = entry.substr(0, slash);
  const auto address = IpAddress::parse(host);
  const bool is_v6 = address && address->family == IpAddress::Family::v6;
  if (slash != std::string_view::npos && (!address || entry.substr(slash) != (is_v6 ? "/128" : "/32"))) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} is a range of addresses, which guard does not offer: list addresses one by one, or leave it "
                    "out: what the server's [network] does not allow is never reached",
            printable(cut_text(entry, 80, "..."))));
  }
  return is_v6 ? fmt::format("[{}]", host) : std::string(host);
}

// Nothing: the list isn't there.
Result<std::optional<std::vector<std::string>>> hosts_of(const json& network, const char* key, bool& all) {
  const json list = network.value(key, json());
  if (list.is_null()) return std::optional<std::vector<std::string>>();
  if (!list.is_array() || list.size() > kEntriesMax)
    return Error(ErrorCode::input_invalid, fmt::format("{} is no list of at most {} hosts", key, kEntriesMax));
  std::vector<std::string> hosts;
  for (const json& entry : list) {
    if (!entry.is_string()) return Error(ErrorCode::input_invalid, fmt::format("{} must hold strings only", key));
    if (entry == json(kAllTraffic)) {
      all = true;
      continue;
    }
    GUARD_TRY_ASSIGN(hosts.emplace_back(), host_of(entry.get_ref<const std::string&>()));
  }
  return std::optional(std::move(hosts));
}

}  // namespace

Result<NetworkAsked> network_asked(const json& network, bool has_internet) {
  const json given = network.is_null() ? json::object() : network;
  if (!given.is_object()) return Error(ErrorCode::input_invalid, "network must be an object");
  for (const auto& [key, instead] : kUnsupported) {
    if (is_empty(given.value(key, json()))) continue;
    return Error(ErrorCode::input_invalid, fmt::format("guard does not offer {} of a network: {}", key, instead))
        .detail("unsupported", key);
  }
  bool allows_all = false;
  bool denies_all = !has_internet;
  NetworkAsked asked;
  GUARD_TRY_ASSIGN(asked.allow, hosts_of(given, "allowOut", allows_all));
  GUARD_TRY_ASSIGN(auto deny, hosts_of(given, "denyOut", denies_all));
  // What is allowed comes before what denies all, as with E2B; else a denial wins.
  if (allows_all) {
    asked.allow.reset();
  } else if (denies_all && !asked.allow) {
    asked.allow.emplace();
  }
  if (deny) asked.deny = *std::move(deny);
  return asked;
}

}  // namespace guard::serve::e2b
