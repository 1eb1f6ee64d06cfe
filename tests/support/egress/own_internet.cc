#include "tests/support/egress/own_internet.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <net/if.h>
#include <netinet/icmp6.h>
#include <sched.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/net/ip_address.h"

namespace guard::test {
namespace {

constexpr int kQueueBytes = 64 << 20;  // more than a test sends, so that nobody has to read meanwhile

// That of this thread.
UniqueFd network() { return UniqueFd(::open("/proc/thread-self/ns/net", O_RDONLY | O_CLOEXEC)); }

void enter(const UniqueFd& network) { EXPECT_EQ(::setns(network.get(), CLONE_NEWNET), 0) << std::strerror(errno); }

// Empty, or the command that failed.
std::string configure(std::initializer_list<std::string> commands) {
  for (const std::string& one : commands) {
    if (std::system(("ip " + one).c_str()) != 0) return "`ip " + one + "` failed";
  }
  return {};
}

struct Packet {
  std::array<std::uint8_t, 128> bytes{};
  std::size_t size = 0;
  std::size_t header = 0;  // of IP
  int protocol = 0;
  IpAddress to;
};

bool is_about_neighbours(const Packet& packet) {
  if (packet.to.family != IpAddress::Family::v6) return false;
  if (packet.protocol == IPPROTO_HOPOPTS) return packet.to.bytes[0] == 0xff;  // reports of multicast listeners
  const int type = packet.bytes[packet.header];
  return packet.protocol == IPPROTO_ICMPV6 && type >= ND_ROUTER_SOLICIT && type <= ND_REDIRECT;
}

std::string described(const Packet& packet) {
  if (packet.protocol != IPPROTO_TCP && packet.protocol != IPPROTO_UDP)
    return fmt::format("protocol {} {}", packet.protocol, packet.to.text());
  const int port = packet.bytes[packet.header + 2] << 8 | packet.bytes[packet.header + 3];
  const bool v6 = packet.to.family == IpAddress::Family::v6;
  return fmt::format("{} {}{}{}:{}", packet.protocol == IPPROTO_TCP ? "TCP" : "UDP", v6 ? "[" : "", packet.to.text(),
      v6 ? "]" : "", port);
}

}  // namespace

OwnInternet::OwnInternet() : home_(network()) {
  if (::unshare(CLONE_NEWNET) != 0) {
    fault_ = fmt::format("no network namespace: {}", std::strerror(errno));
    return;
  }
  internet_ = network();
  packets_ = UniqueFd(::socket(AF_PACKET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0));
  const std::string there = fmt::format("/proc/{}/fd/{}", ::getpid(), internet_.get());
  EXPECT_EQ(::unshare(CLONE_NEWNET), 0) << std::strerror(errno);
  machine_ = network();
  fault_ = configure({"link set lo up", "link add outside type veth peer name inside netns " + there,
      "link set outside up", fmt::format("addr add {}/24 dev outside", kMachine),
      fmt::format("addr add {}/64 dev outside nodad", kMachine6)});
  if (fault_.empty()) {
    const Visit visit(*this);
    // The longer of two routes of the same table counts.
    fault_ = configure({"link set lo up", "link set inside up", fmt::format("addr add {}/24 dev inside", kRouter),
        fmt::format("addr add {}/64 dev inside nodad", kRouter6), "route add local 0.0.0.0/0 dev lo",
        "-6 route add local ::/0 dev lo", fmt::format("route add {} dev inside table local", kMachine),
        fmt::format("-6 route add {} dev inside table local", kMachine6)});
    ::setsockopt(packets_.get(), SOL_SOCKET, SO_RCVBUFFORCE, &kQueueBytes, sizeof kQueueBytes);
    sockaddr_ll from{};
    from.sll_family = AF_PACKET;
    from.sll_protocol = htons(ETH_P_ALL);
    from.sll_ifindex = static_cast<int>(::if_nametoindex("inside"));
    if (fault_.empty() && ::bind(packets_.get(), reinterpret_cast<const sockaddr*>(&from), sizeof from) != 0)
      fault_ = fmt::format("packets can't be seen: {}", std::strerror(errno));
  }
  if (fault_.empty())
    fault_ = configure(
        {fmt::format("route add default via {}", kRouter), fmt::format("-6 route add default via {}", kRouter6)});
}

OwnInternet::~OwnInternet() {
  if (internet_) enter(home_);
}

OwnInternet::Visit::Visit(const OwnInternet& where) : where_(where) { enter(where_.internet_); }
OwnInternet::Visit::~Visit() { enter(where_.machine_); }

std::set<std::string> OwnInternet::arrived() {
  std::set<std::string> all;
  while (true) {
    Packet packet;
    sockaddr_ll from{};
    socklen_t from_size = sizeof from;
    const ssize_t got = ::recvfrom(
        packets_.get(), packet.bytes.data(), packet.bytes.size(), 0, reinterpret_cast<sockaddr*>(&from), &from_size);
    if (got < 0) break;
    const int kind = ntohs(from.sll_protocol);
    if (from.sll_pkttype == PACKET_OUTGOING || kind == ETH_P_ARP) continue;
    if (kind == ETH_P_IP && got >= 24) {
      packet.header = (packet.bytes[0] & 15u) * 4;
      packet.protocol = packet.bytes[9];
      std::copy_n(packet.bytes.begin() + 16, 4, packet.to.bytes.begin());
    } else if (kind == ETH_P_IPV6 && got >= 44) {
      packet.header = 40;
      packet.protocol = packet.bytes[6];
      packet.to.family = IpAddress::Family::v6;
      std::copy_n(packet.bytes.begin() + 24, 16, packet.to.bytes.begin());
    } else {
      all.insert(fmt::format("kind {:#x}", kind));
      continue;
    }
    if (!is_about_neighbours(packet)) all.insert(described(packet));
  }
  tpacket_stats counts{};
  socklen_t size = sizeof counts;
  EXPECT_EQ(::getsockopt(packets_.get(), SOL_PACKET, PACKET_STATISTICS, &counts, &size), 0);
  EXPECT_EQ(counts.tp_drops, 0u) << "packets that nobody has seen";
  return all;
}

}  // namespace guard::test
