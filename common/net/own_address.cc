#include "common/net/own_address.h"

#include <netinet/in.h>
#include <sys/socket.h>

#include <cerrno>
#include <cstring>

#include "common/unique_fd.h"

namespace guard {
namespace {

constexpr std::uint16_t kDiscardPort = 9;

}  // namespace

bool is_own_address(const IpAddress& address) noexcept {
  const SocketAddress there = address.with_port(kDiscardPort);
  const UniqueFd fd(::socket(there.get()->sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (!fd) return errno != EAFNOSUPPORT;
  if (::connect(fd.get(), there.get(), there.size) != 0) return false;  // no route: nothing else gets there
  sockaddr_storage here{};
  socklen_t size = sizeof here;
  if (::getsockname(fd.get(), reinterpret_cast<sockaddr*>(&here), &size) != 0) return true;
  if (address.family == IpAddress::Family::v4)
    return std::memcmp(&reinterpret_cast<const sockaddr_in&>(here).sin_addr, address.bytes.data(), 4) == 0;
  return std::memcmp(&reinterpret_cast<const sockaddr_in6&>(here).sin6_addr, address.bytes.data(), 16) == 0;
}

}  // namespace guard
