// What a configuration grants of the network, and the account of what was asked for.
#include "pipeline/network.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <sys/socket.h>

#include "pipeline/backend_choice.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Network, IsAnAllowlistWhereverOneIsConfigured) {
  Config config;
  EXPECT_EQ(network_of(config), Network::none);
  EXPECT_EQ(network_relaxation(config), "");
  config.network.allow = {"api.test"};
  EXPECT_EQ(network_of(config), Network::allowlist);
  EXPECT_EQ(network_relaxation(config), "network.allow: the code reaches api.test");
  config = {};
  config.docker.network = NetworkMode::allowlist;
  EXPECT_EQ(network_of(config), Network::allowlist)
      << "an empty one: nothing is reached, and what was asked for is told";
  config.docker.network = NetworkMode::bridge;
  EXPECT_EQ(network_of(config), Network::bridge);
}

BackendChoice in(Backend backend) {
  BackendChoice choice;
  choice.backend = backend;
  return choice;
}

TEST(Network, IsRefusedWhereTheListWouldHoldNothingBack) {
  Config listed;
  listed.network.allow = {"api.test"};
  for (const Backend backend : {Backend::docker, Backend::namespace_sandbox}) {
    const BackendChoice choice = in(backend);
    EXPECT_TRUE(network_fits(choice, listed)) << to_string(backend);
    EXPECT_TRUE(network_fits(choice, listed, /*unprotected_engine=*/true)) << "the code has no way to the engine";
  }
  for (const Backend backend : {Backend::host, Backend::container_use}) {
    const BackendChoice choice = in(backend);
    const auto refused = network_fits(choice, listed);
    ASSERT_FALSE(refused) << to_string(backend);
    EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
    Config mode;
    mode.docker.network = NetworkMode::allowlist;
    EXPECT_FALSE(network_fits(choice, mode));
  }
  for (const NetworkMode open : {NetworkMode::bridge, NetworkMode::host}) {
    listed.docker.network = open;
    EXPECT_FALSE(network_fits(in(Backend::docker), listed)) << to_string(open);
  }
}

TEST(Network, OfTestsHasNoRegistries) {
  Config config;
  config.network.allow = {"@npm", "api.test", "@pypi"};
  EXPECT_TRUE(leave_registries_out(config));
  EXPECT_THAT(config.network.allow, ElementsAre("api.test"));
  EXPECT_FALSE(leave_registries_out(config));
  config.network.allow = {"@npm"};
  config.network.registries_in_tests = true;
  EXPECT_FALSE(leave_registries_out(config));
  EXPECT_THAT(config.network.allow, ElementsAre("@npm"));
}

TEST(Network, OfATaskIsNeverWider) {
  Config config;
  config.network.allow = {"*.api.test:443", "10.0.0.7:5432"};
  EXPECT_TRUE(check_narrower(config, {"v1.api.test:443"}));
  EXPECT_TRUE(check_narrower(config, {}));
  for (const char* more : {"api.test:443", "v1.api.test", "10.0.0.7:5433", "@npm", "evil.test"}) {
    const auto refused = check_narrower(config, {more});
    ASSERT_FALSE(refused) << more;
    EXPECT_EQ(refused.error().code(), ErrorCode::config_invalid);
  }
}

// What a client is answered, from the start of a connection to its end.
std::string answer_to(const TakeConnection& take, const std::string& request) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  take(UniqueFd(ends[1]));
  static_cast<void>(::send(ours.get(), request.data(), request.size(), MSG_NOSIGNAL));
  std::string answer;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::recv(ours.get(), bytes, sizeof bytes, 0)) > 0;)
    answer.append(bytes, static_cast<std::size_t>(got));
  return answer;
}

std::string connect_to(const std::string& target) {
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target);
}

TEST(Egress, CountsWhatWasAskedForByHostAndReason) {
  Config config;
  config.network.allow = {"api.test"};
  config.network.deny = {"no.api.test"};
  std::atomic<int> watched = 0;
  const auto egress = Egress::open(config, {}, [&](const EgressDecision&) { ++watched; });
  ASSERT_TRUE(egress) << egress.error().to_string();
  const TakeConnection take = (*egress)->taker();
  EXPECT_THAT(answer_to(take, connect_to("evil.test:443")), HasSubstr("403"));
  EXPECT_THAT(answer_to(take, connect_to("evil.test:443")), HasSubstr("evil.test:443 is not in [network] allow"));
  EXPECT_THAT(answer_to(take, connect_to("127.0.0.1:443")), HasSubstr("403"));
  const NetworkRecord record = (*egress)->close();
  EXPECT_EQ(watched, 3);
  ASSERT_EQ(record.lines.size(), 2u);
  EXPECT_EQ(record.lines[0].host, "127.0.0.1");
  EXPECT_EQ(record.lines[1].host, "evil.test");
  EXPECT_EQ(record.lines[1].connections, 2u);
  EXPECT_EQ(record.lines[1].port, 443u);
  EXPECT_EQ(record.lines[1].reason, "not_listed");
  EXPECT_FALSE(record.lines[1].allowed);
  EXPECT_EQ(record.more, 0u);
  EXPECT_EQ(answer_to(take, connect_to("evil.test:443")), "") << "closed: whoever comes now is dropped";
  EXPECT_TRUE((*egress)->close().lines.size() == 2);
}

// A program that tries many names must not fill memory or the record.
TEST(Egress, NamesSoManyHostsAndCountsTheRest) {
  Config config;
  config.network.allow = {"api.test"};
  const auto egress = Egress::open(config);
  ASSERT_TRUE(egress) << egress.error().to_string();
  const TakeConnection take = (*egress)->taker();
  for (int i = 0; i < 300; ++i) answer_to(take, connect_to(fmt::format("h{}.evil.test:443", i)));
  const NetworkRecord record = (*egress)->close();
  EXPECT_EQ(record.lines.size(), 200u);
  EXPECT_EQ(record.more, 100u);
}

}  // namespace
}  // namespace guard
