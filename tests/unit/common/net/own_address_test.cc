#include "common/net/own_address.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>
#include <sys/resource.h>

#include <cstring>

#include "common/time.h"
#include "tests/support/own_network.h"

namespace guard {
namespace {

IpAddress parsed(const char* text) { return IpAddress::parse(text).value(); }

TEST(OwnAddress, IsAnyOfAnInterfaceThatIsUp) {
  ifaddrs* all = nullptr;
  ASSERT_EQ(::getifaddrs(&all), 0);
  int seen = 0;
  for (const ifaddrs* one = all; one != nullptr; one = one->ifa_next) {
    if (one->ifa_addr == nullptr || (one->ifa_flags & IFF_UP) == 0) continue;
    IpAddress address;
    if (one->ifa_addr->sa_family == AF_INET) {
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr, 4);
    } else if (one->ifa_addr->sa_family == AF_INET6) {
      address.family = IpAddress::Family::v6;
      std::memcpy(address.bytes.data(), &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr, 16);
      if (address.bytes[0] == 0xfe) continue;  // link-local: means nothing without its interface
    } else {
      continue;
    }
    EXPECT_TRUE(is_own_address(address)) << address.text();
    ++seen;
  }
  ::freeifaddrs(all);
  EXPECT_GT(seen, 0);
}

TEST(OwnAddress, IsNoneOfOtherMachines) {
  for (const char* other : {"8.8.8.8", "2001:4860:4860::8888", "203.0.113.77"})
    EXPECT_FALSE(is_own_address(parsed(other))) << other;
}

// The kernel makes the route of a new IPv6 address some time later.
bool becomes_own(const char* address) {
  for (int i = 0; i < 2'000 && !is_own_address(parsed(address)); ++i) std::this_thread::sleep_for(milliseconds(1));
  return is_own_address(parsed(address));
}

// The kernel answers packets to these, by whichever source it sends to them.
TEST(OwnAddress, IsWhateverTheKernelKeepsHere) {
  const bool may =
      test::in_own_network({"link set lo up", "addr add 9.1.1.1/24 dev lo", "addr add 9.1.1.2/24 dev lo",
                               "route add local 9.9.9.0/24 dev lo src 9.1.1.1", "route add 9.5.0.0/16 dev lo",
                               "addr add 3ffe:1::1/64 dev lo nodad", "addr add 3ffe:1::2/64 dev lo nodad",
                               "-6 route add local 3ffe:9::/48 dev lo src 3ffe:1::1"},
          [] {
            for (const char* own : {"9.1.1.1", "9.1.1.2", "9.1.1.255", "9.9.9.9", "9.5.0.1", "3ffe:1::1", "3ffe:1::2",
                     "3ffe:9::9", "127.1.2.3", "::1", "0.0.0.0"})
              EXPECT_TRUE(becomes_own(own)) << own;
          });
  if (!may) GTEST_SKIP() << "needs root and ip";
}

TEST(OwnAddress, IsNoneThatARouteLeadsAwayOrNoneLeadsTo) {
  const bool may = test::in_own_network(
      {"link set lo up", "link add there type veth peer name other", "link set there up", "link set other up",
          "route add 232.0.0.0/8 dev there", "addr add 9.1.1.1/24 dev there", "addr add 3ffe:1::1/64 dev there nodad",
          "route add unreachable 9.3.0.0/16", "-6 route add unreachable 3ffe:3::/48", "route add prohibit 9.5.0.0/16",
          "-6 route add prohibit 3ffe:5::/48"},
      [] {
        for (const char* other :
            {"9.1.1.7", "9.2.0.1", "9.3.0.1", "9.5.0.1", "3ffe:1::7", "3ffe:2::1", "3ffe:3::1", "3ffe:5::1"})
          EXPECT_FALSE(is_own_address(parsed(other))) << other;
        for (const char* both : {"9.1.1.255", "232.0.0.1"}) EXPECT_TRUE(is_own_address(parsed(both))) << both;
      });
  if (!may) GTEST_SKIP() << "needs root and ip";
}

// An error that does not say that there is no way.
TEST(OwnAddress, IsWhatTheKernelDoesNotTell) {
  const bool may = test::in_own_network(
      {"link set lo up", "route add blackhole 9.4.0.0/16", "-6 route add blackhole 3ffe:4::/48"}, [] {
        for (const char* other : {"9.4.0.1", "3ffe:4::1"}) EXPECT_TRUE(is_own_address(parsed(other))) << other;
      });
  if (!may) GTEST_SKIP() << "needs root and ip";
}

TEST(OwnAddress, IsEveryOneWithoutADescriptorToAskWith) {
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  const rlimit none{0, limit.rlim_max};
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &none), 0);
  const bool own = is_own_address(parsed("8.8.8.8"));
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(own);
}

}  // namespace
}  // namespace guard
