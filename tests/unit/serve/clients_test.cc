#include "serve/clients.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <future>
#include <set>
#include <string>

namespace guard::serve {
namespace {

using ::testing::HasSubstr;

TEST(Clients, MayAskForSoMuchAtOnceAndThenForSoMuchASecond) {
  Clients clients({.requests_per_second = 10, .requests_at_once = 3});
  const auto begun = SteadyClock::now();
  for (int i = 0; i < 3; ++i) EXPECT_TRUE(clients.admit("uid 1", {}, begun));
  const auto refused = clients.admit("uid 1", {}, begun + milliseconds(99));
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().details().contains("limit"));
  EXPECT_THAT(refused.error().to_string(), HasSubstr("uid 1 asks for more than 10 things a second"));
  EXPECT_TRUE(clients.admit("token", {}, begun)) << "another client";
  EXPECT_TRUE(clients.admit("uid 1", {}, begun + milliseconds(201)));
  EXPECT_TRUE(clients.admit("uid 1", {}, begun + milliseconds(202)));
  EXPECT_FALSE(clients.admit("uid 1", {}, begun + milliseconds(203)));
  int admitted = 0;
  while (clients.admit("uid 1", {}, begun + std::chrono::hours(1))) ++admitted;
  EXPECT_EQ(admitted, 3) << "a rest does not add up for ever";
}

TEST(Clients, HaveSoManyBytesOnTheirWay) {
  Clients clients({.held = {.bytes = 100}});
  const auto now = SteadyClock::now();
  auto first = clients.admit("uid 1", {.bytes = 60}, now);
  ASSERT_TRUE(first);
  EXPECT_TRUE(clients.admit("uid 1", {.bytes = 41}, now).error().details().contains("limit"));
  EXPECT_TRUE(clients.admit("uid 1", {.bytes = 40}, now));
  EXPECT_TRUE(clients.admit("token", {.bytes = 100}, now));
  first->reset();
  EXPECT_TRUE(clients.admit("uid 1", {.bytes = 100}, now));
}

TEST(Clients, UseSoManySessions) {
  std::set<std::string> open;
  const auto open_ones = [&open] { return open; };
  Clients clients({.sessions = 2});
  const auto uses = [&](const std::string& client, const std::string& session) {
    const auto used = clients.use(client, session, open_ones);
    if (used) open.insert(session);
    return used.has_value();
  };
  EXPECT_TRUE(uses("uid 1", "t/a"));
  EXPECT_TRUE(uses("uid 1", "t/closed"));
  EXPECT_TRUE(uses("uid 1", "t/a")) << "again";
  open.erase("t/closed");
  EXPECT_TRUE(uses("uid 1", "t/b")) << "one of the two was closed";
  EXPECT_FALSE(uses("uid 1", "t/closed")) << "it would be open again";
  const auto refused = clients.use("uid 1", "t/c", open_ones);
  ASSERT_FALSE(refused);
  EXPECT_TRUE(refused.error().details().contains("limit"));
  EXPECT_THAT(refused.error().to_string(), HasSubstr("close one"));
  EXPECT_TRUE(uses("token", "t/c"));
}

// Who had opened them is not known any more: they count for whoever uses them, and keep nobody else out.
TEST(Clients, CountSessionsThatAreOpenSinceBeforeTheStart) {
  const auto open_ones = [] { return std::set<std::string>{"t/a", "t/b"}; };
  Clients clients({.sessions = 2});
  EXPECT_TRUE(clients.use("token", "t/a", open_ones));
  EXPECT_TRUE(clients.use("token", "t/b", open_ones));
  EXPECT_FALSE(clients.use("token", "t/new", open_ones));
  EXPECT_TRUE(clients.use("uid 1", "t/b", open_ones));
  EXPECT_TRUE(clients.use("", "t/other", open_ones)) << "guard itself";
}

// Asked for side by side: none of them is open yet.
TEST(Clients, HaveNoMoreSessionsByAskingAtOnce) {
  const auto open_ones = [] { return std::set<std::string>(); };
  Clients clients({.sessions = 2});
  const auto first = clients.use("uid 1", "t/a", open_ones);
  auto second = clients.use("uid 1", "t/b", open_ones);
  ASSERT_TRUE(first && second);
  EXPECT_FALSE(clients.use("uid 1", "t/c", open_ones));
  EXPECT_TRUE(clients.use("uid 1", "t/b", open_ones)) << "one of the two";
  second->reset();
  EXPECT_TRUE(clients.use("uid 1", "t/c", open_ones)) << "it did not come to be open";
}

// It was used, and is open, since somebody else looked.
TEST(Clients, AreNotForgottenTheSessionsThatWereOpenedMeanwhile) {
  std::set<std::string> open;
  Clients clients({.sessions = 2});
  const auto open_ones = [&] { return open; };
  auto first = clients.use("uid 1", "t/a", open_ones);
  ASSERT_TRUE(clients.use("uid 1", "t/b", [&] {
    open.insert("t/a");
    first->reset();
    return std::set<std::string>();
  }));
  open.insert("t/b");
  EXPECT_FALSE(clients.use("uid 1", "t/c", open_ones));
}

TEST(Clients, LeaveConnectionsToOthers) {
  Clients clients({.held = {.bytes = 9, .connections = 2}});
  const auto first = clients.admit("uid 1", {.connections = 1}, SteadyClock::now());
  const auto second = clients.admit("uid 1", {.connections = 1}, SteadyClock::now());
  ASSERT_TRUE(first && second);
  const auto third = clients.admit("uid 1", {.connections = 1}, SteadyClock::now());
  ASSERT_FALSE(third);
  EXPECT_TRUE(third.error().details().contains("limit"));
  EXPECT_TRUE(clients.admit("uid 0", {.connections = 1}, SteadyClock::now()));
}

// Which ones are open may take a while to say.
TEST(Clients, DoNotWaitForWhatAnotherOneAsks) {
  Clients clients;
  std::future_status admitted{};
  ASSERT_TRUE(clients.use("uid 1", "t/a", [&] {
    const auto other = std::async(std::launch::async, [&] { return clients.admit("uid 2", {}, SteadyClock::now()); });
    admitted = other.wait_for(std::chrono::seconds(10));
    return std::set<std::string>();
  }));
  EXPECT_EQ(admitted, std::future_status::ready);
}

TEST(Clients, HaveSoManyTasksAndStreams) {
  Clients clients({.held = {.tasks = 1, .streams = 1}});
  auto task = clients.hold("uid 1", {.tasks = 1});
  ASSERT_TRUE(task);
  EXPECT_THAT(clients.hold("uid 1", {.tasks = 1}).error().to_string(), HasSubstr("tasks on streams"));
  EXPECT_TRUE(clients.hold("uid 1", {.streams = 1})) << "given back at once";
  EXPECT_TRUE(clients.hold("uid 1", {.streams = 1}));
  task->reset();
  EXPECT_TRUE(clients.hold("uid 1", {.tasks = 1}));
}

TEST(Clients, AreAdmittedNoMoreOnceItStops) {
  Clients clients;
  clients.stop();
  EXPECT_EQ(clients.admit("uid 1", {}, SteadyClock::now()).error().code(), ErrorCode::environment_unavailable);
}

}  // namespace
}  // namespace guard::serve
