#include "egress/address_class.h"

#include <gtest/gtest.h>

#include <random>

namespace guard {
namespace {

AddressClass class_of(const std::string& text) {
  const auto address = IpAddress::parse(text);
  EXPECT_TRUE(address) << text;
  return address_class(address.value_or(IpAddress()));
}

struct Row {
  AddressClass kind;
  std::vector<std::string> addresses;
};

// First and last of each range, and what lies beside it.
TEST(AddressClass, KnowsTheSpecialRanges) {
  using enum AddressClass;
  const Row rows[] = {
      {unspecified, {"0.0.0.0", "0.255.255.255", "::"}},
      {private_use,
          {"10.0.0.0", "10.255.255.255", "172.16.0.0", "172.31.255.255", "192.168.0.0", "192.168.255.255",
              "fc00::", "fdff:ffff:ffff:ffff:ffff:ffff:ffff:ffff", "fec0::1", "feff::1"}},
      {shared, {"100.64.0.0", "100.127.255.255"}},
      {loopback, {"127.0.0.0", "127.0.0.1", "127.255.255.255", "::1"}},
      {link_local, {"169.254.0.0", "169.254.255.255", "fe80::1", "febf:ffff::1"}},
      {metadata,
          {"169.254.169.254", "169.254.170.2", "100.100.100.200", "168.63.129.16", "192.0.0.192", "fd00:ec2::254",
              "fd20:ce::254"}},
      {reserved,
          {"192.0.0.0", "192.0.0.255", "192.88.99.1", "240.0.0.0", "255.255.255.254",
              "2001:1::", "2001:1ff::", "4000::", "1fff:ffff::", "100::1", "5f00::1"}},
      {documentation,
          {"192.0.2.0", "192.0.2.255", "198.51.100.7", "203.0.113.7",
              "2001:db8::", "2001:db8:ffff::", "3fff::", "3fff:fff:ffff::"}},
      {benchmarking, {"198.18.0.0", "198.19.255.255", "2001:2::1"}},
      {multicast, {"224.0.0.0", "239.255.255.255", "ff00::", "ff02::1", "ffff::"}},
      {broadcast, {"255.255.255.255"}},
      {carrier_of_ipv4,
          {"::ffff:127.0.0.1", "::ffff:8.8.8.8", "::127.0.0.1", "::2", "::ffff:0:10.0.0.1", "64:ff9b:1::a00:1",
              "64:ff9b:1:ffff::8.8.8.8", "2002:7f00:1::", "2002:808:808::", "2001:0:7f00:1::", "2001::"}},
      {global,
          {"1.0.0.0", "9.255.255.255", "11.0.0.0", "100.63.255.255", "100.128.0.0", "126.255.255.255", "128.0.0.0",
              "169.253.255.255", "169.255.0.0", "172.15.255.255", "172.32.0.0", "192.0.1.0", "192.0.3.0",
              "192.167.255.255", "192.169.0.0", "198.17.255.255", "198.20.0.0", "223.255.255.255",
              "2000::", "2001:200::", "2001:db9::", "2003::1", "2606:4700::1111", "3ffe:ffff::", "3fff:1000::"}},
  };
  for (const Row& row : rows) {
    for (const std::string& address : row.addresses) EXPECT_EQ(class_of(address), row.kind) << address;
  }
}

// A router would turn it into the IPv4 address.
TEST(AddressClass, LooksThroughNat64) {
  std::mt19937 random(7);
  const auto check = [](const IpAddress& inner) {
    IpAddress outer = *IpAddress::parse("64:ff9b::");
    std::copy_n(inner.bytes.begin(), 4, outer.bytes.begin() + 12);
    EXPECT_EQ(address_class(outer), address_class(inner)) << outer.text();
    EXPECT_EQ(translated_by_nat64(outer), inner);
  };
  for (const char* text : {"127.0.0.1", "10.0.0.1", "169.254.169.254", "8.8.8.8", "0.0.0.0"})
    check(*IpAddress::parse(text));
  for (int i = 0; i < 2000; ++i) check(IpAddress::v4(static_cast<std::uint32_t>(random())));
  EXPECT_FALSE(translated_by_nat64(*IpAddress::parse("64:ff9b:0:1::1")));
  EXPECT_EQ(class_of("64:ff9b:0:1::1"), AddressClass::reserved);
}

// Outside of 2000::/3 nothing but that prefix is global, whatever the other bits are.
TEST(AddressClass, GivesNoOtherIpv6Away) {
  std::mt19937 random(8);
  for (int i = 0; i < 20'000; ++i) {
    IpAddress address{.family = IpAddress::Family::v6, .bytes = {}};
    for (std::uint8_t& byte : address.bytes) byte = static_cast<std::uint8_t>(random());
    if (i % 2 == 0) std::fill_n(address.bytes.begin(), random() % 13, std::uint8_t{0});
    if (address.bytes[0] >> 5 != 1 && !translated_by_nat64(address)) {
      EXPECT_NE(address_class(address), AddressClass::global) << address.text();
    }
  }
}

TEST(IpAddress, ReadsNoShortOctalOrZonedForm) {
  for (const char* text : {"127.1", "2130706433", "0x7f000001", "0177.0.0.1", "127.0.0.01", "1.2.3.4.5", "1.2.3.256",
           "", " 1.2.3.4", "1.2.3.4 ", "fe80::1%eth0", "[::1]", ":::", "1.2.3.4:80", "::ffff:127.1"}) {
    EXPECT_FALSE(IpAddress::parse(text)) << text;
  }
  EXPECT_EQ(IpAddress::parse("::FFFF:127.0.0.1")->text(), "::ffff:127.0.0.1");
  EXPECT_FALSE(IpAddress::parse(std::string_view("127.0.0.1\0", 10)));
}

}  // namespace
}  // namespace guard
