// Which addresses a router of this network translates to IPv4 ones, beside those of the well-known prefix
// (egress/address_class.h): the prefixes that RFC 7050 finds by the name ipv4only.arpa.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "common/net/ip_address.h"

namespace guard {

inline const std::string kIpv4OnlyName = "ipv4only.arpa";

struct Nat64Prefix {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t bits = 96;  // 32, 40, 48, 56, 64 or 96 (RFC 6052)
};

// Of the addresses that kIpv4OnlyName has here.
std::vector<Nat64Prefix> nat64_prefixes(std::span<const IpAddress> addresses);

// The IPv4 address in one below the prefix; of others nothing.
std::optional<IpAddress> translated_by(const Nat64Prefix& prefix, const IpAddress& address) noexcept;

}  // namespace guard
