#include "serve/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::serve {
namespace {

using ::testing::HasSubstr;

constexpr auto kOpenOnes = [] { return std::set<std::string>{"t/a", "t/b"}; };

TEST(Clients, MayAskForSoMuchAtOnceAndThenForSoMuchASecond) {
  Clients clients({.requests_per_second = 10, .requests_at_once = 3});
  const auto begun = SteadyClock::now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(clients.admit("uid 1", 0, begun));
  const auto refused = clients.admit("uid 1", 0, begun + milliseconds(99));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().details().contains("limit"));
  EXPECT_THAT(refused.error().to_string(), HasSubstr("uid 1 asks for more than 10 things a second"));
  EXPECT_TRUE(clients.admit("token", 0, begun)) << "another client";
  EXPECT_TRUE(clients.admit("uid 1", 0, begun + milliseconds(201)));
  EXPECT_TRUE(clients.admit("uid 1", 0, begun + milliseconds(202)));
  EXPECT_FALSE(clients.admit("uid 1", 0, begun + milliseconds(203)));
  int admitted = 0;
  while (clients.admit("uid 1", 0, begun + std::chrono::hours(1))) ++admitted;
  EXPECT_EQ(admitted, 3) << "a rest does not add up for ever";
}

TEST(Clients, HaveSoManyBytesOnTheirWay) {
  Clients clients({.bytes_in_flight = 100});
  const auto now = SteadyClock::now();
  auto first = clients.admit("uid 1", 60, now);
  ASSERT_TRUE(first);
  EXPECT_TRUE(clients.admit("uid 1", 41, now).error().details().contains("limit"));
  EXPECT_TRUE(clients.admit("uid 1", 40, now));
  EXPECT_TRUE(clients.admit("token", 100, now));
  first->reset();
  EXPECT_TRUE(clients.admit("uid 1", 100, now));
}

TEST(Clients, OpenSoManySessions) {
  Clients clients({.sessions = 2});
  EXPECT_TRUE(clients.may_open("uid 1", "t/a", kOpenOnes));
  EXPECT_TRUE(clients.may_open("uid 1", "t/closed", kOpenOnes));
  EXPECT_TRUE(clients.may_open("uid 1", "t/a", kOpenOnes)) << "again";
  EXPECT_TRUE(clients.may_open("uid 1", "t/b", kOpenOnes)) << "one of the two was closed";
  const auto refused = clients.may_open("uid 1", "t/c", kOpenOnes);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().details().contains("limit"));
  EXPECT_THAT(refused.error().to_string(), HasSubstr("close one"));
  EXPECT_TRUE(clients.may_open("token", "t/c", kOpenOnes));
}

}  // namespace
}  // namespace guard::serve
