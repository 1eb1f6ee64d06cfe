#include "pipeline/session_networks.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> texts_of(const std::vector<EgressRule>& rules) {
  std::vector<std::string> texts;
  for (const EgressRule& rule : rules) texts.push_back(rule.text());
  return texts;
}

TEST(SessionNetworks, GiveWhatIsAskedForAtThePortsThatAreGranted) {
  const EgressRules granted = EgressRules::create(
      {"api.test", "*.wild.test:8443", "db.test:5432", "10.0.0.7:5432", "[2001:db8::1]:443"}, {"no.wild.test"})
                                  .value();
  const auto allowed = [&](std::vector<std::string> allow) {
    const auto rules = rules_asked(granted, {.allow = std::move(allow), .deny = {}});
    EXPECT_TRUE(rules) << rules.error().to_string();
    EXPECT_THAT(texts_of(rules->denied()), ElementsAre("no.wild.test"));
    return texts_of(rules->allowed());
  };
  EXPECT_THAT(allowed({}), IsEmpty());
  EXPECT_THAT(allowed({"api.test"}), ElementsAre("api.test:80", "api.test:443"));
  EXPECT_THAT(allowed({"api.test:80"}), ElementsAre("api.test:80"));
  EXPECT_THAT(allowed({"*.wild.test", "a.wild.test", "*.b.wild.test"}),
      ElementsAre("*.wild.test:8443", "a.wild.test:8443", "*.b.wild.test:8443"));
  EXPECT_THAT(allowed({"db.test", "10.0.0.7", "[2001:db8::1]"}),
      ElementsAre("db.test:5432", "10.0.0.7:5432", "[2001:db8::1]:443"));
  for (const char* wider : {"other.test", "wild.test", "*.test", "*.api.test", "api.test:8443", "10.0.0.8", "@npm", "*",
           "http://api.test", ""}) {
    const auto refused = rules_asked(granted, {.allow = std::vector<std::string>{wider}, .deny = {}});
    ASSERT_FALSE(refused) << wider;
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
  }

  const auto whole = rules_asked(granted, {.allow = std::nullopt, .deny = {"10.0.0.7", "api.test:80"}});
  ASSERT_TRUE(whole);
  EXPECT_EQ(texts_of(whole->allowed()), texts_of(granted.allowed()));
  EXPECT_THAT(texts_of(whole->denied()), ElementsAre("10.0.0.7", "api.test:80", "no.wild.test"));
  EXPECT_FALSE(rules_asked(granted, {.allow = std::nullopt, .deny = {"10.0.0.0/8"}}));
}

std::string answer_to(const TakeConnection& take, const std::string& target) {
  int ends[2];
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends), 0);
  const UniqueFd ours(ends[0]);
  take(UniqueFd(ends[1]));
  const std::string request = fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target);
  static_cast<void>(::send(ours.get(), request.data(), request.size(), MSG_NOSIGNAL));
  std::string answer;
  char bytes[4096];
  for (ssize_t got = 0; (got = ::recv(ours.get(), bytes, sizeof bytes, 0)) > 0;)
    answer.append(bytes, static_cast<std::size_t>(got));
  return answer;
}

// Whatever comes first, the session's rules or its sandbox; and the next sandbox of it has them, too.
TEST(SessionNetworks, HoldOfEachSandboxOfASessionAndOfNoOther) {
  Config config;
  config.network.allow = {"127.0.0.1:1", "127.0.0.1:2"};  // nobody listens there
  std::mutex mutex;
  std::map<std::string, int> seen;
  const auto networks =
      std::make_shared<SessionNetworks>(config, [&](const std::string& session, const EgressDecision&) {
        const std::lock_guard lock(mutex);
        ++seen[session];
      });
  const HostsAsked one{.allow = std::vector<std::string>{"127.0.0.1:1"}, .deny = {}};
  std::map<std::string, TakeConnection> takers;
  for (const char* id : {"a", "b", "c", "d"}) {
    const auto opened = networks->open(id);
    ASSERT_TRUE(opened) << opened.error().to_string();
    takers[id] = (*opened)->taker();
  }
  ASSERT_TRUE(networks->set("t/one", one));
  networks->claim("a", "t/one");
  networks->claim("b", "t/other");
  const auto may = [&](const char* sandbox) {
    return answer_to(takers[sandbox], "127.0.0.1:2").find("is not in [network] allow") == std::string::npos;
  };
  EXPECT_FALSE(may("a"));
  EXPECT_TRUE(may("b"));
  EXPECT_TRUE(may("c"));
  networks->claim("c", "t/one");
  EXPECT_FALSE(may("c"));
  ASSERT_TRUE(networks->set("t/one", HostsAsked()));
  EXPECT_TRUE(may("a"));
  EXPECT_TRUE(may("c"));
  ASSERT_TRUE(networks->set("t/one", one));
  EXPECT_FALSE(networks->set("t/one", HostsAsked{.allow = std::vector<std::string>{"8.8.8.8"}, .deny = {}}));
  EXPECT_FALSE(may("a"));
  networks->forget("t/one");
  networks->claim("d", "t/one");
  EXPECT_TRUE(may("d")) << "a session of the same name is another one";
  networks->claim("gone", "t/one");
  takers.clear();
  const std::lock_guard lock(mutex);
  // That of "c" from before it was claimed may have ended later.
  EXPECT_EQ(seen[""] + seen["t/one"], 7);
  EXPECT_GE(seen["t/one"], 6);
  EXPECT_EQ(seen["t/other"], 1);
}

}  // namespace
}  // namespace guard
