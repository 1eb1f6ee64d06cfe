#include "common/net/name_resolver.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/dns_server.h"

namespace guard {
namespace {

using test::DnsServer;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::vector<std::string> texts(const Result<std::vector<IpAddress>>& addresses) {
  std::vector<std::string> all;
  if (!addresses) return {addresses.error().to_string()};
  for (const IpAddress& one : *addresses) all.push_back(one.text());
  return all;
}

Result<std::vector<IpAddress>> ask(
    const std::string& name, const DnsServer& server, milliseconds time = std::chrono::seconds(20)) {
  const CancelToken never;
  return resolve_name(name, {.dns_servers = {server.address()}}, Deadline::after(time), never);
}

TEST(NameResolver, AnswersBothFamiliesOfTheNamedServer) {
  DnsServer server([](const std::string& name, int) -> DnsServer::Answer {
    if (name == "api.test") return {.addresses = {"2001:db8::7", "192.0.2.7", "192.0.2.8"}};
    if (name == "alias.test") return {.addresses = {"192.0.2.9"}, .alias = "api.test"};
    return {.exists = false};
  });
  EXPECT_THAT(texts(ask("api.test", server)), ElementsAre("192.0.2.7", "192.0.2.8", "2001:db8::7"));
  EXPECT_THAT(texts(ask("API.test.", server)), ElementsAre("192.0.2.7", "192.0.2.8", "2001:db8::7"));
  EXPECT_THAT(texts(ask("alias.test", server)), ElementsAre("192.0.2.9"));
  const auto missing = ask("missing.test", server);
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::environment_unavailable);
  EXPECT_THAT(missing.error().message(), HasSubstr("missing.test cannot be found"));
}

TEST(NameResolver, TakesManyAddressesOfEachFamily) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer {
    DnsServer::Answer answer;
    for (int i = 0; i < 70; ++i) {
      answer.addresses.push_back("192.0.2." + std::to_string(i));
      answer.addresses.push_back("2001:db8::" + std::to_string(i));
    }
    return answer;
  });
  const auto found = texts(ask("many.test", server));
  ASSERT_EQ(found.size(), 128u);
  EXPECT_EQ(found[63], "192.0.2.63");
  EXPECT_EQ(found[64], "2001:db8::");
}

TEST(NameResolver, TellsWhetherItKnowsOfIpv6) {
  DnsServer server([](const std::string& name, int) -> DnsServer::Answer {
    if (name == "both.test") return {.addresses = {"192.0.2.7", "2001:db8::7"}};
    if (name == "v4.test") return {.addresses = {"192.0.2.7"}};
    if (name == "failing.test") return {.addresses = {"192.0.2.7", "2001:db8::7"}, .ipv6_fails = true};
    if (name == "silent.test") return {.silent = true};
    if (name == "garbage.test") return {.garbage = true};
    return {.exists = false};
  });
  const auto known = [&](const std::string& name) {
    const CancelToken never;
    bool ipv6_known = name == "silent.test";
    static_cast<void>(resolve_name(
        name, {.dns_servers = {server.address()}}, Deadline::after(milliseconds(300)), never, &ipv6_known));
    return ipv6_known;
  };
  for (const char* name : {"both.test", "v4.test", "missing.test", "localhost"}) EXPECT_TRUE(known(name)) << name;
  for (const char* name : {"failing.test", "silent.test", "garbage.test"}) EXPECT_FALSE(known(name)) << name;
}

// Search domains and HOSTALIASES would make another name of it.
TEST(NameResolver, AsksForTheNameAsItIs) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.exists = false}; });
  ::setenv("LOCALDOMAIN", "appended.test", 1);
  EXPECT_FALSE(ask("short", server));
  ::unsetenv("LOCALDOMAIN");
  EXPECT_THAT(server.names_asked(), ElementsAre("short"));
}

TEST(NameResolver, KnowsLoopbackAndAddressesWithoutAsking) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.addresses = {"192.0.2.66"}}; });
  EXPECT_THAT(texts(ask("localhost", server)), ElementsAre("127.0.0.1", "::1"));
  EXPECT_THAT(texts(ask("a.LOCALHOST", server)), ElementsAre("127.0.0.1", "::1"));
  EXPECT_THAT(texts(ask("192.0.2.1", server)), ElementsAre("192.0.2.1"));
  EXPECT_THAT(texts(ask("2001:db8::1", server)), ElementsAre("2001:db8::1"));
  EXPECT_TRUE(server.names_asked().empty());
}

TEST(NameResolver, RefusesWhatIsNoName) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.addresses = {"192.0.2.66"}}; });
  for (const std::string name : {"", ".", "a..b", "a b", "a/b", "\xc3\xa9.test", "[::1]"}) {
    const auto found = ask(name, server);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().code(), ErrorCode::input_invalid) << name;
  }
  EXPECT_FALSE(ask(std::string(300, 'a'), server));
  EXPECT_TRUE(server.names_asked().empty());
}

TEST(NameResolver, StopsAtItsDeadlineAndWhenCancelled) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.silent = true}; });
  const auto late = ask("slow.test", server, milliseconds(50));
  ASSERT_FALSE(late);
  EXPECT_EQ(late.error().code(), ErrorCode::execution_timeout);

  CancelToken cancel;
  std::thread canceller([&] {
    while (server.questions("slow.test") < 2) std::this_thread::sleep_for(milliseconds(1));
    cancel.cancel();
  });
  const auto cancelled = resolve_name("slow.test", {.dns_servers = {server.address()}}, Deadline::never(), cancel);
  canceller.join();
  ASSERT_FALSE(cancelled);
  EXPECT_EQ(cancelled.error().code(), ErrorCode::cancelled);
}

// What is no answer to the question is not taken for one.
TEST(NameResolver, SurvivesGarbage) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.garbage = true}; });
  EXPECT_FALSE(ask("api.test", server, milliseconds(300)));
}

TEST(NameResolver, NamesServersThatAreNone) {
  const CancelToken never;
  bool ipv6_known = true;
  const auto found =
      resolve_name("api.test", {.dns_servers = {"dns.test"}}, Deadline::after(milliseconds(100)), never, &ipv6_known);
  ASSERT_FALSE(found);
  EXPECT_FALSE(ipv6_known);
  EXPECT_EQ(found.error().code(), ErrorCode::config_invalid);
  EXPECT_FALSE(check_options({.dns_servers = {"dns.test"}}));
  EXPECT_TRUE(check_options({.dns_servers = {"192.0.2.1", "[2001:db8::1]:5353"}}));
}

TEST(NameResolver, ServesManyThreads) {
  DnsServer server([](const std::string&, int) -> DnsServer::Answer { return {.addresses = {"192.0.2.7"}}; });
  std::atomic<int> found = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&] { found += ask("api.test", server) ? 1 : 0; });
  }
  for (std::thread& one : threads) one.join();
  EXPECT_EQ(found, 16);
}

}  // namespace
}  // namespace guard
