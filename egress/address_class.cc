#include "egress/address_class.h"

#include <algorithm>
#include <span>

namespace guard {
namespace {

using enum AddressClass;

struct V4Row {
  std::array<std::uint8_t, 4> prefix;
  unsigned bits;
  AddressClass kind;
};

// The first row that fits counts. https://www.iana.org/assignments/iana-ipv4-special-registry
constexpr V4Row kV4[] = {
    {{100, 100, 100, 200}, 32, metadata},  // Alibaba
    {{168, 63, 129, 16}, 32, metadata},    // Azure
    {{169, 254, 169, 254}, 32, metadata},  // nearly all others
    {{169, 254, 170, 2}, 32, metadata},    // tasks of ECS
    {{169, 254, 170, 23}, 32, metadata},   // pods of EKS
    {{192, 0, 0, 192}, 32, metadata},      // Oracle
    {{0, 0, 0, 0}, 8, unspecified},        // "this network", RFC 791; Linux connects 0.0.0.0 to itself
    {{10, 0, 0, 0}, 8, private_use},
    {{100, 64, 0, 0}, 10, shared},
    {{127, 0, 0, 0}, 8, loopback},
    {{169, 254, 0, 0}, 16, link_local},
    {{172, 16, 0, 0}, 12, private_use},
    {{192, 0, 0, 0}, 24, reserved},  // protocol assignments
    {{192, 0, 2, 0}, 24, documentation},
    {{192, 88, 99, 0}, 24, reserved},  // 6to4 relays, RFC 7526
    {{192, 168, 0, 0}, 16, private_use},
    {{198, 18, 0, 0}, 15, benchmarking},
    {{198, 51, 100, 0}, 24, documentation},
    {{203, 0, 113, 0}, 24, documentation},
    {{224, 0, 0, 0}, 4, multicast},
    {{255, 255, 255, 255}, 32, broadcast},
    {{240, 0, 0, 0}, 4, reserved},
};

struct V6Row {
  std::array<std::uint8_t, 16> prefix;
  unsigned bits;
  AddressClass kind;
};

// https://www.iana.org/assignments/iana-ipv6-special-registry; what no row names is global within 2000::/3 alone, which
// is all that IANA has given out.
constexpr V6Row kV6[] = {
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, metadata},  // EC2
    {{0xfd, 0x00, 0x0e, 0xc2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x00, 0x23}, 128, metadata},  // pods of EKS
    {{0xfd, 0x20, 0x00, 0xce, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x02, 0x54}, 128, metadata},  // Google
    {{}, 128, unspecified},
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1}, 128, loopback},
    {{}, 96, carrier_of_ipv4},                                          // IPv4-compatible
    {{0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff}, 96, carrier_of_ipv4},  // IPv4-mapped
    {{0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0}, 96, carrier_of_ipv4},  // IPv4-translated, RFC 2765
    {{0x00, 0x64, 0xff, 0x9b, 0, 1}, 48, carrier_of_ipv4},              // NAT64 of local use, RFC 8215
    {{0x20, 0x01, 0, 0}, 32, carrier_of_ipv4},                          // Teredo
    {{0x20, 0x01, 0, 2, 0, 0}, 48, benchmarking},
    {{0x20, 0x01, 0}, 23, reserved},  // protocol assignments
    {{0x20, 0x01, 0x0d, 0xb8}, 32, documentation},
    {{0x20, 0x02}, 16, carrier_of_ipv4},      // 6to4
    {{0x3f, 0xff, 0x00}, 20, documentation},  // RFC 9637
    {{0xfc}, 7, private_use},
    {{0xfe, 0x80}, 10, link_local},
    {{0xfe, 0xc0}, 10, private_use},  // site-local, RFC 3879
    {{0xff}, 8, multicast},
    {{0x20}, 3, global},
};

constexpr std::array<std::uint8_t, 12> kNat64 = {0x00, 0x64, 0xff, 0x9b};

bool begins_with(std::span<const std::uint8_t> bytes, std::span<const std::uint8_t> prefix, unsigned bits) noexcept {
  const std::size_t whole = bits / 8;
  if (!std::equal(prefix.begin(), prefix.begin() + static_cast<std::ptrdiff_t>(whole), bytes.begin())) return false;
  const unsigned rest = bits % 8;
  return rest == 0 || ((bytes[whole] ^ prefix[whole]) >> (8 - rest)) == 0;
}

}  // namespace

AddressClass address_class(const IpAddress& address) noexcept {
  if (const auto inner = translated_by_nat64(address)) return address_class(*inner);
  if (address.family == IpAddress::Family::v4) {
    const auto* row = std::find_if(std::begin(kV4), std::end(kV4),
        [&](const V4Row& one) { return begins_with(address.bytes, one.prefix, one.bits); });
    return row == std::end(kV4) ? global : row->kind;
  }
  const auto* row = std::find_if(std::begin(kV6), std::end(kV6),
      [&](const V6Row& one) { return begins_with(address.bytes, one.prefix, one.bits); });
  return row == std::end(kV6) ? reserved : row->kind;
}

std::optional<IpAddress> translated_by_nat64(const IpAddress& address) noexcept {
  if (address.family != IpAddress::Family::v6 || !begins_with(address.bytes, kNat64, 96)) return std::nullopt;
  IpAddress inner;
  std::copy_n(address.bytes.begin() + 12, 4, inner.bytes.begin());
  return inner;
}

}  // namespace guard
