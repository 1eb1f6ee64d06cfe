// Which hosts and ports a sandbox may reach: rules as text, lists of them, and what they say of one target.
//
// A rule is `host`, `*.host` (what lies below host, not host itself), an IPv4 address or an IPv6 address in brackets,
// each with a port or without: then 443 and 80 in a list of what is allowed, all ports in one of what is denied. Names
// are compared in lower case without a last dot; others than ASCII are written as A-labels (xn--...).
//
// An address is reached in two ways: as such, where a rule lists it; or by a name that is allowed, where the name has
// it. An address that isn't global (egress/address_class.h), or is this machine's own, is dialled in the second way
// only if a rule lists it, with this port, too: `allow = ["db.example.com:5432", "10.0.0.7:5432"]`. No name alone leads
// into a private network.
//
// Values; nothing here waits.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/net/ip_address.h"
#include "common/result.h"

namespace guard {

// A name in the one form that names are compared in, or an address.
struct EgressHost {
  std::string name;  // empty where there is an address
  std::optional<IpAddress> address;

  // INPUT_INVALID with a hint: what is neither. An address of IPv4 is written as four decimal numbers; in no other form
  // (2130706433, 0x7f.1, 127.1) is it an address or a name.
  static Result<EgressHost> parse(std::string_view text);

  std::string text() const;  // of IPv6 in brackets
  bool operator==(const EgressHost&) const = default;
};

struct EgressTarget {
  EgressHost host;
  std::uint16_t port = 0;

  // "host:port", or "host" where there is a `default_port` (0: there is none). INPUT_INVALID with a hint.
  static Result<EgressTarget> parse(std::string_view text, std::uint16_t default_port = 0);

  std::string text() const;
  bool operator==(const EgressTarget&) const = default;
};

struct EgressRule {
  EgressHost host;
  bool subdomains = false;  // *.host
  std::uint16_t port = 0;   // 0: none was named

  // CONFIG_INVALID with a hint.
  static Result<EgressRule> parse(std::string_view text);

  std::string text() const;
  bool matches(const EgressHost& other) const;
  bool operator==(const EgressRule&) const = default;
};

enum class EgressAnswer : std::uint8_t { allowed, not_listed, denied };

class EgressRules {
 public:
  EgressRules() = default;  // nothing is allowed

  // `allow` may name presets, too: "@npm" (egress/presets.toml). CONFIG_INVALID with a hint.
  static Result<EgressRules> create(const std::vector<std::string>& allow, const std::vector<std::string>& deny);

  // A denial wins.
  EgressAnswer judge(const EgressTarget& target) const;

  // Whether an address that an allowed name has may be dialled at `port`: it isn't denied, and is listed, or global and
  // not this machine's own.
  bool may_dial(const IpAddress& address, std::uint16_t port, bool is_own = false) const;

  // What a task may reach that wants `wanted` of what is allowed here: its list, once each of its rules is covered by
  // one of these, and both denials. CONFIG_INVALID names the first rule that would widen.
  Result<EgressRules> narrowed(const EgressRules& wanted) const;

  // One rule a port: what `create` took, presets and default ports written out.
  const std::vector<EgressRule>& allowed() const noexcept { return allow_; }
  const std::vector<EgressRule>& denied() const noexcept { return deny_; }

 private:
  std::vector<EgressRule> allow_;
  std::vector<EgressRule> deny_;
};

// "@npm" and its kin, with the rules behind each, in the order of the file.
struct EgressPreset {
  std::string name;  // with the @
  std::vector<std::string> hosts;
};
const std::vector<EgressPreset>& egress_presets();

}  // namespace guard
