#include "egress/nat64.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

IpAddress parsed(const char* text) { return IpAddress::parse(text).value(); }

// The examples of RFC 6052, 2.4.
TEST(Nat64, FindsAPrefixOfEachLengthAndWhatIsBelowIt) {
  const struct {
    const char* known;
    const char* outer;
    std::size_t bits;
  } rows[] = {{"2001:db8:c000:aa::", "2001:db8:c000:221::", 32}, {"2001:db8:1c0:0:aa::", "2001:db8:1c0:2:21::", 40},
      {"2001:db8:122:c000:0:aa00::", "2001:db8:122:c000:2:2100::", 48},
      {"2001:db8:122:3c0:0:aa::", "2001:db8:122:3c0:0:221::", 56},
      {"2001:db8:122:344:c0:0:aa00::", "2001:db8:122:344:c0:2:2100::", 64},
      {"2001:db8:122:344::192.0.0.171", "2001:db8:122:344::192.0.2.33", 96}};
  for (const auto& row : rows) {
    const std::vector<IpAddress> known = {parsed("192.0.0.170"), parsed(row.known)};
    const auto prefixes = nat64_prefixes(known);
    ASSERT_EQ(prefixes.size(), 1u) << row.known;
    EXPECT_EQ(prefixes[0].bits, row.bits);
    EXPECT_EQ(translated_by(prefixes[0], parsed(row.outer)), parsed("192.0.2.33")) << row.outer;
    EXPECT_EQ(translated_by(prefixes[0], parsed("2001:db9::1")), std::nullopt);
    EXPECT_EQ(translated_by(prefixes[0], parsed("192.0.2.33")), std::nullopt);
  }
  const std::vector<IpAddress> others = {parsed("2001:db8::1"), parsed("192.0.0.171")};
  EXPECT_TRUE(nat64_prefixes(others).empty());
}

}  // namespace
}  // namespace guard
