// An address of IPv4 or IPv6 as a value.
#pragma once

#include <sys/socket.h>

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace guard {

struct SocketAddress {
  sockaddr_storage bytes{};
  socklen_t size = 0;

  const sockaddr* get() const noexcept { return reinterpret_cast<const sockaddr*>(&bytes); }
};

struct IpAddress {
  enum class Family : std::uint8_t { v4, v6 };
  Family family = Family::v4;
  std::array<std::uint8_t, 16> bytes{};  // network order; of IPv4 the first four, the others are 0

  // Four decimal numbers, or the text of RFC 4291 without brackets and without a zone. Short, octal and hexadecimal
  // forms of IPv4 are none.
  static std::optional<IpAddress> parse(std::string_view text);
  static IpAddress v4(std::uint32_t host_order);

  std::string text() const;
  SocketAddress with_port(std::uint16_t port) const;
  auto operator<=>(const IpAddress&) const = default;
};

}  // namespace guard
