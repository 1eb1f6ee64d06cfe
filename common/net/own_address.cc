#include "common/net/own_address.h"

#include <linux/in_route.h>
#include <linux/rtnetlink.h>
#include <poll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "common/unique_fd.h"

namespace guard {
namespace {

constexpr int kPatienceMs = 1'000;  // the kernel answers at once
constexpr std::uint32_t kSequence = 1;

struct RouteRequest {
  nlmsghdr header;
  rtmsg route;
  rtattr destination;
  std::uint8_t address[16];
};

struct RouteAnswer {
  nlmsghdr header;
  union {
    rtmsg route;
    nlmsgerr failure;
    char rest[2048];
  };
};

bool leads_away(const RouteAnswer& answer) noexcept {
  if (answer.header.nlmsg_type == NLMSG_ERROR && answer.header.nlmsg_len >= NLMSG_LENGTH(sizeof answer.failure.error)) {
    const int error = -answer.failure.error;
    return error == ENETUNREACH || error == EHOSTUNREACH || error == EACCES || error == EAFNOSUPPORT;
  }
  if (answer.header.nlmsg_type != RTM_NEWROUTE || answer.header.nlmsg_len < NLMSG_LENGTH(sizeof answer.route))
    return false;
  if ((answer.route.rtm_flags & RTCF_LOCAL) != 0) return false;  // what is sent to lo by a route of another kind
  constexpr unsigned char kAway[] = {RTN_UNICAST, RTN_UNREACHABLE, RTN_BLACKHOLE, RTN_PROHIBIT};
  return std::find(std::begin(kAway), std::end(kAway), answer.route.rtm_type) != std::end(kAway);
}

}  // namespace

bool is_own_address(const IpAddress& address) noexcept {
  const bool v6 = address.family == IpAddress::Family::v6;
  const std::size_t size = v6 ? 16 : 4;
  RouteRequest request{};
  request.header = {.nlmsg_len = static_cast<std::uint32_t>(NLMSG_LENGTH(sizeof(rtmsg)) + RTA_LENGTH(size)),
      .nlmsg_type = RTM_GETROUTE,
      .nlmsg_flags = NLM_F_REQUEST,
      .nlmsg_seq = kSequence,
      .nlmsg_pid = 0};
  request.route.rtm_family = v6 ? AF_INET6 : AF_INET;
  request.route.rtm_dst_len = static_cast<unsigned char>(size * 8);
  request.destination = {.rta_len = static_cast<unsigned short>(RTA_LENGTH(size)), .rta_type = RTA_DST};
  std::memcpy(request.address, address.bytes.data(), size);

  const UniqueFd fd(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_ROUTE));
  sockaddr_nl kernel{};
  kernel.nl_family = AF_NETLINK;
  const auto* there = reinterpret_cast<const sockaddr*>(&kernel);
  if (!fd || ::sendto(fd.get(), &request, request.header.nlmsg_len, 0, there, sizeof kernel) < 0) return true;
  pollfd ready{fd.get(), POLLIN, 0};
  if (::poll(&ready, 1, kPatienceMs) != 1) return true;
  RouteAnswer answer{};
  sockaddr_nl from{};
  socklen_t from_size = sizeof from;
  const ssize_t got =
      ::recvfrom(fd.get(), &answer, sizeof answer, MSG_TRUNC, reinterpret_cast<sockaddr*>(&from), &from_size);
  const bool is_whole = got >= static_cast<ssize_t>(sizeof answer.header) &&
      got <= static_cast<ssize_t>(sizeof answer) && answer.header.nlmsg_len <= static_cast<std::size_t>(got);
  const bool is_kernels = from_size == sizeof from && from.nl_pid == 0 && answer.header.nlmsg_seq == kSequence;
  return !is_whole || !is_kernels || !leads_away(answer);
}

}  // namespace guard
