#include "common/net/ip_address.h"

#include <arpa/inet.h>
#include <netinet/in.h>

#include <algorithm>
#include <cstring>

namespace guard {

std::optional<IpAddress> IpAddress::parse(std::string_view text) {
  IpAddress address;
  if (text.size() >= INET6_ADDRSTRLEN || text.find('\0') != std::string_view::npos) return std::nullopt;
  const std::string terminated(text);
  if (text.find(':') != std::string_view::npos) address.family = Family::v6;
  const int family = address.family == Family::v6 ? AF_INET6 : AF_INET;
  if (::inet_pton(family, terminated.c_str(), address.bytes.data()) != 1) return std::nullopt;
  return address;
}

IpAddress IpAddress::v4(std::uint32_t host_order) {
  IpAddress address;
  for (unsigned i = 0; i < 4; ++i) address.bytes[i] = static_cast<std::uint8_t>(host_order >> (24 - 8 * i));
  return address;
}

std::string IpAddress::text() const {
  std::array<char, INET6_ADDRSTRLEN> buffer{};
  ::inet_ntop(family == Family::v6 ? AF_INET6 : AF_INET, bytes.data(), buffer.data(), buffer.size());
  return buffer.data();
}

SocketAddress IpAddress::with_port(std::uint16_t port) const {
  SocketAddress address;
  if (family == Family::v6) {
    sockaddr_in6 v6{};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(port);
    std::memcpy(&v6.sin6_addr, bytes.data(), sizeof v6.sin6_addr);
    std::memcpy(&address.bytes, &v6, sizeof v6);
    address.size = sizeof v6;
  } else {
    sockaddr_in v4{};
    v4.sin_family = AF_INET;
    v4.sin_port = htons(port);
    std::memcpy(&v4.sin_addr, bytes.data(), sizeof v4.sin_addr);
    std::memcpy(&address.bytes, &v4, sizeof v4);
    address.size = sizeof v4;
  }
  return address;
}

}  // namespace guard
