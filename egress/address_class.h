// What kind of address a name has led to. Only a global one is dialled unless a rule lists the address itself.
//
// After IANA's registries of special-purpose addresses (RFC 6890) with what clouds serve their metadata on. An address
// that carries another one in it (IPv4-mapped, IPv4-compatible, 6to4, Teredo, NAT64 of local use) is never global, but
// for the well-known prefix of NAT64 (64:ff9b::/96, RFC 6052): there the class is that of the IPv4 address in it.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "common/enum_names.h"
#include "common/net/ip_address.h"

namespace guard {

enum class AddressClass : std::uint8_t {
  global,
  unspecified,
  loopback,
  private_use,  // RFC 1918, unique local and site-local of IPv6
  shared,       // behind a carrier's NAT (RFC 6598)
  link_local,
  metadata,
  multicast,
  broadcast,
  documentation,
  benchmarking,
  carrier_of_ipv4,  // see above
  reserved,
};
template <>
inline constexpr std::array<std::string_view, 13> kNamesOf<AddressClass> = {"global", "unspecified", "loopback",
    "private", "shared", "link-local", "metadata", "multicast", "broadcast", "documentation", "benchmarking",
    "IPv4-in-IPv6", "reserved"};

AddressClass address_class(const IpAddress& address) noexcept;

// The IPv4 address that a router translates 64:ff9b::/96 to; of all other addresses nothing.
std::optional<IpAddress> translated_by_nat64(const IpAddress& address) noexcept;

}  // namespace guard
