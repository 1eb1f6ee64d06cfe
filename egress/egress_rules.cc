#include "egress/egress_rules.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "common/text/characters.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "egress/address_class.h"

extern "C" const char guard_egress_presets[], guard_egress_presets_end[];

namespace guard {
namespace {

constexpr std::size_t kNameBytesMax = 253;  // RFC 1035, as text
constexpr std::size_t kLabelBytesMax = 63;
constexpr std::size_t kShownMax = 80;
constexpr std::array<std::uint16_t, 2> kDefaultPorts = {443, 80};

std::string shown(std::string_view text) { return cut_text(printable(text), kShownMax, "..."); }

Error no_host(std::string_view text, std::string_view why, std::string_view hint) {
  return Error(ErrorCode::input_invalid, fmt::format("\"{}\" {}", shown(text), why)).hint(std::string(hint));
}

constexpr std::string_view kHostHint = "name a host (api.example.com), an IPv4 address or an IPv6 address in brackets";

// Such a label makes programs read the whole as an address of IPv4: 2130706433, 0x7f.1, 127.1.
bool is_number(std::string_view label) {
  const bool hexadecimal = label.starts_with("0x");
  if (hexadecimal) label.remove_prefix(2);
  return std::all_of(label.begin(), label.end(),
      [&](char c) { return (c >= '0' && c <= '9') || (hexadecimal && c >= 'a' && c <= 'f'); });
}

bool is_label(std::string_view label) {
  return !label.empty() && label.size() <= kLabelBytesMax && label.front() != '-' && label.back() != '-' &&
      std::all_of(label.begin(), label.end(),
          [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '_'; });
}

bool lies_below(std::string_view name, std::string_view domain) {
  return name.size() > domain.size() && name.ends_with(domain) && name[name.size() - domain.size() - 1] == '.';
}

Result<std::uint16_t> port_of(std::string_view text) {
  unsigned port = 0;
  if (text.empty() || text.front() == '0' || !read_number(text, port) || port == 0 || port > 65535)
    return no_host(text, "is no port", "a port is a number from 1 to 65535");
  return static_cast<std::uint16_t>(port);
}

// The port after the last colon, which is taken off; 0 where there is none.
Result<std::uint16_t> take_port(std::string_view& text) {
  const std::size_t bracket = text.rfind(']');
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos || (bracket != std::string_view::npos && colon < bracket))
    return std::uint16_t{0};
  if (bracket == std::string_view::npos && text.find(':') != colon)
    return no_host(text, "has several colons", "an IPv6 address is written in brackets: [2001:db8::1]:443");
  GUARD_TRY_ASSIGN(const std::uint16_t port, port_of(text.substr(colon + 1)));
  text = text.substr(0, colon);
  return port;
}

Error in_config(Error error) {
  return Error(ErrorCode::config_invalid, error.message()).hint(std::string(error.hint()));
}

Result<void> add_allowed(std::string_view text, std::vector<EgressRule>& rules) {
  GUARD_TRY_ASSIGN(EgressRule rule, EgressRule::parse(text));
  if (rule.port != 0) {
    rules.push_back(std::move(rule));
    return ok();
  }
  for (const std::uint16_t port : kDefaultPorts) {
    rule.port = port;
    rules.push_back(rule);
  }
  return ok();
}

bool covers(const EgressRule& allowed, const EgressRule& wanted) {
  if (allowed.port != wanted.port) return false;
  if (!wanted.subdomains) return allowed.matches(wanted.host);
  return allowed.subdomains && (allowed.host == wanted.host || lies_below(wanted.host.name, allowed.host.name));
}

bool is_denied(const std::vector<EgressRule>& deny, const EgressHost& host, std::uint16_t port) {
  return std::any_of(deny.begin(), deny.end(),
      [&](const EgressRule& rule) { return (rule.port == 0 || rule.port == port) && rule.matches(host); });
}

bool is_allowed(const std::vector<EgressRule>& allow, const EgressHost& host, std::uint16_t port) {
  return std::any_of(
      allow.begin(), allow.end(), [&](const EgressRule& rule) { return rule.port == port && rule.matches(host); });
}

std::vector<EgressPreset> read_presets() {
  const std::string_view text(
      guard_egress_presets, static_cast<std::size_t>(guard_egress_presets_end - guard_egress_presets));
  std::vector<EgressPreset> presets;
  const auto table = parse_toml(text, "egress/presets.toml");
  if (!table) return presets;  // a test reads each of them
  for (const TomlMember& member : table->members) {
    EgressPreset& preset = presets.emplace_back();
    preset.name = member.key;
    for (const TomlValue& host : member.value.items) preset.hosts.push_back(host.text);
  }
  return presets;
}

}  // namespace

Result<EgressHost> EgressHost::parse(std::string_view text) {
  EgressHost host;
  if (text.starts_with('[')) {
    if (text.ends_with(']')) host.address = IpAddress::parse(text.substr(1, text.size() - 2));
    if (!host.address || host.address->family != IpAddress::Family::v6)
      return no_host(text, "is no IPv6 address", "write it as [2001:db8::1], without a zone");
    return host;
  }
  if (IpAddress::parse(text) && text.find(':') != std::string_view::npos)
    return no_host(text, "lacks its brackets", fmt::format("write it as [{}]", shown(text)));
  host.address = IpAddress::parse(text);
  if (host.address) return host;

  if (std::any_of(text.begin(), text.end(), [](char c) { return static_cast<unsigned char>(c) >= 0x80; }))
    return no_host(text, "has other letters than those of ASCII", "write each such label in its ASCII form (xn--...)");
  host.name = lower_case(text);
  if (host.name.ends_with('.')) host.name.pop_back();
  const auto labels = pieces_of(host.name, '.');
  if (host.name.empty() || host.name.size() > kNameBytesMax || host.name.ends_with('.') ||
      !std::all_of(labels.begin(), labels.end(), is_label))
    return no_host(text, "is no host name", kHostHint);
  if (is_number(labels.back()))
    return no_host(
        text, "is neither a name nor an address", "write an IPv4 address as four decimal numbers: 192.0.2.1");
  return host;
}

std::string EgressHost::text() const {
  if (!address) return name;
  return address->family == IpAddress::Family::v6 ? fmt::format("[{}]", address->text()) : address->text();
}

Result<EgressTarget> EgressTarget::parse(std::string_view text, std::uint16_t default_port) {
  EgressTarget target;
  std::string_view host = text;
  GUARD_TRY_ASSIGN(target.port, take_port(host));
  if (target.port == 0) target.port = default_port;
  if (target.port == 0) return no_host(text, "lacks a port", "write host:port");
  GUARD_TRY_ASSIGN(target.host, EgressHost::parse(host));
  return target;
}

std::string EgressTarget::text() const { return fmt::format("{}:{}", host.text(), port); }

Result<EgressRule> EgressRule::parse(std::string_view text) {
  EgressRule rule;
  std::string_view host = text;
  if (text.find('/') != std::string_view::npos || text.find('@') != std::string_view::npos)
    return in_config(no_host(text, "is no rule of the network",
        "a rule is host or host:port, without scheme, path, user or prefix length; list addresses one by one"));
  auto port = take_port(host);
  if (!port) return in_config(std::move(port).error());
  rule.port = *port;
  if (host == "*" || host == "*.")
    return in_config(no_host(text, "would allow every host",
        "list the hosts, or those below one as *.example.com; network = \"bridge\" is a network without rules"));
  rule.subdomains = host.starts_with("*.");
  if (rule.subdomains) host.remove_prefix(2);
  auto parsed = EgressHost::parse(host);
  if (!parsed && host.find('*') != std::string_view::npos)
    return in_config(no_host(text, "has a * in another place than its beginning", "write *.example.com"));
  if (!parsed) return in_config(std::move(parsed).error());
  rule.host = *std::move(parsed);
  if (!rule.host.address) return rule;
  if (rule.subdomains) return in_config(no_host(text, "has a * before an address", "list the addresses one by one"));
  const AddressClass kind = address_class(*rule.host.address);
  if (kind == AddressClass::unspecified || kind == AddressClass::multicast || kind == AddressClass::broadcast)
    return in_config(no_host(text, "is no address of a host", kHostHint));
  return rule;
}

std::string EgressRule::text() const {
  return fmt::format("{}{}{}", subdomains ? "*." : "", host.text(), port == 0 ? "" : fmt::format(":{}", port));
}

bool EgressRule::matches(const EgressHost& other) const {
  if (!subdomains) return host == other;
  return !other.address && lies_below(other.name, host.name);
}

Result<EgressRules> EgressRules::create(const std::vector<std::string>& allow, const std::vector<std::string>& deny) {
  EgressRules rules;
  for (const std::string& text : allow) {
    if (!text.starts_with('@')) {
      GUARD_TRY(add_allowed(text, rules.allow_));
      continue;
    }
    const auto& presets = egress_presets();
    const auto preset =
        std::find_if(presets.begin(), presets.end(), [&](const EgressPreset& one) { return one.name == text; });
    if (preset == presets.end()) {
      std::vector<std::string> names;
      for (const EgressPreset& one : presets) names.push_back(one.name);
      return in_config(no_host(text, "is no preset", fmt::format("there are {}", listed(names, names.size()))));
    }
    for (const std::string& host : preset->hosts) GUARD_TRY(add_allowed(host, rules.allow_));
  }
  for (const std::string& text : deny) {
    GUARD_TRY_ASSIGN(EgressRule rule, EgressRule::parse(text));
    rules.deny_.push_back(std::move(rule));
  }
  return rules;
}

EgressAnswer EgressRules::judge(const EgressTarget& target) const {
  if (is_denied(deny_, target.host, target.port)) return EgressAnswer::denied;
  return is_allowed(allow_, target.host, target.port) ? EgressAnswer::allowed : EgressAnswer::not_listed;
}

bool EgressRules::may_dial(const IpAddress& address, std::uint16_t port, bool is_own) const {
  const auto inner = translated_by_nat64(address);
  for (const auto& one : {std::optional(address), inner}) {
    if (one && is_denied(deny_, {.name = {}, .address = one}, port)) return false;
  }
  return (address_class(address) == AddressClass::global && !is_own) ||
      is_allowed(allow_, {.name = {}, .address = address}, port);
}

Result<EgressRules> EgressRules::narrowed(const EgressRules& wanted) const {
  EgressRules result = wanted;
  for (const EgressRule& rule : wanted.allow_) {
    if (std::none_of(allow_.begin(), allow_.end(), [&](const EgressRule& one) { return covers(one, rule); }))
      return Error(ErrorCode::config_invalid, fmt::format("{} is not in the trusted [network] allow", rule.text()))
          .hint("a task may narrow the list, not widen it: add the host to the trusted configuration, or leave it out");
  }
  result.deny_.insert(result.deny_.end(), deny_.begin(), deny_.end());
  return result;
}

const std::vector<EgressPreset>& egress_presets() {
  static const std::vector<EgressPreset> presets = read_presets();
  return presets;
}

}  // namespace guard
