#include "egress/nat64.h"

#include <algorithm>

namespace guard {
namespace {

constexpr std::size_t kReservedByte = 8;                         // between the parts of an IPv4 address, RFC 6052
constexpr std::uint32_t kIpv4Only[] = {0xc00000aa, 0xc00000ab};  // 192.0.0.170 and 171, RFC 7050

IpAddress embedded(const IpAddress& address, std::size_t bits) noexcept {
  IpAddress inner;
  std::size_t at = bits / 8;
  for (std::size_t i = 0; i < 4; ++i, ++at) {
    if (bits != 96 && at == kReservedByte) ++at;
    inner.bytes[i] = address.bytes[at];
  }
  return inner;
}

}  // namespace

std::vector<Nat64Prefix> nat64_prefixes(std::span<const IpAddress> addresses) {
  std::vector<Nat64Prefix> prefixes;
  for (const IpAddress& address : addresses) {
    if (address.family != IpAddress::Family::v6) continue;
    for (const std::size_t bits : {32u, 40u, 48u, 56u, 64u, 96u}) {
      const IpAddress inner = embedded(address, bits);
      if (std::none_of(std::begin(kIpv4Only), std::end(kIpv4Only),
              [&](std::uint32_t known) { return inner == IpAddress::v4(known); }))
        continue;
      Nat64Prefix& prefix = prefixes.emplace_back();
      prefix.bits = bits;
      std::copy_n(address.bytes.begin(), bits / 8, prefix.bytes.begin());
    }
  }
  return prefixes;
}

std::optional<IpAddress> translated_by(const Nat64Prefix& prefix, const IpAddress& address) noexcept {
  const auto end = prefix.bytes.begin() + static_cast<std::ptrdiff_t>(prefix.bits / 8);
  if (address.family != IpAddress::Family::v6 || !std::equal(prefix.bytes.begin(), end, address.bytes.begin()))
    return std::nullopt;
  return embedded(address, prefix.bits);
}

}  // namespace guard
