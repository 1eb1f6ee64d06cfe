#include "common/net/own_address.h"

#include <gtest/gtest.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <cstring>

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
  for (const char* other : {"8.8.8.8", "2001:4860:4860::8888", "203.0.113.77", "255.255.255.255"})
    EXPECT_FALSE(is_own_address(parsed(other))) << other;
}

}  // namespace
}  // namespace guard
