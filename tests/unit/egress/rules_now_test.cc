// Rules that change while connections are open, and addresses that are this machine's own.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

#include "tests/support/egress/egress_world.h"
#include "tests/support/own_network.h"

namespace guard {
namespace {

using test::DnsServer;
using test::echo;
using test::EgressWorld;
using test::own_loopback;
using test::Peer;
using test::TcpServer;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using enum EgressReason;

std::string connect_to(const std::string& target) {
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target);
}

class RulesNow : public ::testing::Test {
 protected:
  EgressOptions asking() const {
    EgressOptions options;
    options.names.dns_servers = {dns.address()};
    options.lookup_time = milliseconds(300);
    return options;
  }
  EgressRules rules(std::vector<std::string> allow, const std::vector<std::string>& deny = {}) const {
    for (std::string& rule : allow) rule += ":" + port;
    return EgressRules::create(allow, deny).value();
  }
  static bool echoes(const Peer& peer) {
    peer.send("x");
    return peer.read(1) == "x";
  }

  std::string here = own_loopback();
  std::function<DnsServer::Answer(const std::string&, int)> zone = [this](const std::string& name, int) {
    return name.starts_with("silent") ? DnsServer::Answer{.silent = true} : DnsServer::Answer{.addresses = {here}};
  };
  DnsServer dns{[this](const std::string& name, int time) { return zone(name, time); }};
  TcpServer server{here, 0, echo};
  std::string port = std::to_string(server.port());
};

TEST_F(RulesNow, EndWhatTheyWouldNotLetThroughAndNothingElse) {
  EgressWorld world({"a.test:" + port, "b.test:" + port, "silent.test:" + port, here + ":" + port}, {}, {}, asking());
  const Peer kept = world.tunnel("a.test:" + port), ended = world.tunnel("b.test:" + port);
  EXPECT_TRUE(echoes(kept));
  EXPECT_TRUE(echoes(ended));
  Peer asking_dns = world.connect();
  asking_dns.send(connect_to("silent.test:" + port));
  while (dns.questions("silent.test") == 0) std::this_thread::sleep_for(milliseconds(1));

  world.proxy->set_rules(rules({"a.test", here}));
  EXPECT_EQ(ended.read_all(), "");
  EXPECT_EQ(asking_dns.read_all(), "");
  for (const EgressDecision& one : world.decisions(2)) {
    EXPECT_EQ(one.reason, rules_changed) << one.host;
    EXPECT_TRUE(one.allowed) << "it was";
  }
  EXPECT_THAT(world.ask(connect_to("b.test:" + port)), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, not_listed);
  EXPECT_TRUE(echoes(kept));

  // An address that was listed for the name, or that is denied now.
  world.proxy->set_rules(rules({"a.test"}));
  EXPECT_EQ(kept.read_all(), "");
  EXPECT_EQ(world.decision().reason, rules_changed);
  EXPECT_THAT(world.ask(connect_to("a.test:" + port)), HasSubstr("may not be dialled"));
  EXPECT_EQ(world.decision().reason, address_refused);

  world.proxy->set_rules(rules({"a.test", here}));
  const Peer again = world.tunnel("a.test:" + port);
  EXPECT_TRUE(echoes(again));
  world.proxy->set_rules(rules({"a.test", here}, {here}));
  EXPECT_EQ(again.read_all(), "");
  EXPECT_EQ(world.decision().reason, rules_changed);
}

TEST_F(RulesNow, LeaveAloneWhatHasSaidNothingYet) {
  EgressWorld world({}, {}, {}, asking());
  const Peer client = world.connect();
  EXPECT_THAT(world.ask(connect_to("b.test:" + port)), StartsWith("HTTP/1.1 403 "));
  world.decision();
  world.proxy->set_rules(rules({"b.test", here}));
  client.send(connect_to("b.test:" + port));
  EXPECT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  EXPECT_TRUE(echoes(client));
}

// The prefix is asked for when it is needed, and once.
TEST_F(RulesNow, KeepNamesAwayFromWhatARouterTranslates) {
  EgressOptions options = asking();
  const IpAddress own = IpAddress::parse("8.8.4.4").value();
  options.is_own = [own](const IpAddress& address) { return address == own; };
  options.dial_time = milliseconds(1);
  const std::map<std::string, std::string> places = {{"ipv4only.arpa", "3ffe:64::192.0.0.170"},
      {"private.test", "3ffe:64::10.0.0.7"}, {"loopback.test", "3ffe:64::127.0.0.1"}, {"own.test", "3ffe:64::8.8.4.4"},
      {"denied.test", "3ffe:64::8.8.8.8"}, {"open.test", "3ffe:64::1.1.1.1"}, {"v6.test", "3ffe:65::10.0.0.7"},
      {"v4.test", "10.0.0.7"}, {"unique.test", "fd00::1"}};
  zone = [&](const std::string& name, int) -> DnsServer::Answer { return {.addresses = {places.at(name)}}; };
  EgressWorld world({"*.test:" + port}, {"8.8.8.8"}, {}, options);
  const auto reason_of = [&](const std::string& name) {
    world.ask(connect_to(name + ".test:" + port));
    return world.decision().reason;
  };
  for (const char* name : {"v4", "unique"}) EXPECT_EQ(reason_of(name), address_refused) << name;
  EXPECT_EQ(dns.questions("ipv4only.arpa"), 0);
  for (const char* name : {"private", "loopback", "own", "denied"}) EXPECT_EQ(reason_of(name), address_refused) << name;
  for (const char* name : {"open", "v6"}) EXPECT_EQ(reason_of(name), not_connected) << name;
  EXPECT_EQ(dns.questions("ipv4only.arpa"), 1);
}

// Until a server has said whether there is one; then IPv6 is as good as IPv4.
TEST_F(RulesNow, KeepNamesAwayFromWhatARouterMayTranslate) {
  EgressOptions options = asking();
  options.dial_time = milliseconds(1);
  DnsServer::Answer arpa{.addresses = {"192.0.0.170", "3ffe:64::192.0.0.170"}, .ipv6_fails = true};
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    if (name == "ipv4only.arpa") return arpa;
    return {.addresses = {"3ffe:64::10.0.0.7"}};
  };
  EgressWorld world({"*.test:" + port}, {}, {}, options);
  const auto reason_of = [&](const std::string& name) {
    world.ask(connect_to(name + ".test:" + port));
    return world.decision().reason;
  };
  EXPECT_EQ(reason_of("private"), not_resolved);
  EXPECT_THAT(world.ask(connect_to("private.test:" + port)), HasSubstr("ipv4only.arpa"));
  EXPECT_EQ(world.decision().reason, not_resolved);
  EXPECT_EQ(dns.questions("ipv4only.arpa"), 2) << "it is asked again";
  arpa = {.silent = true};
  EXPECT_EQ(reason_of("private"), not_resolved);
  arpa = {.addresses = {"3ffe:64::192.0.0.170"}};
  EXPECT_EQ(reason_of("private"), address_refused);
}

TEST_F(RulesNow, LetIpv4ThroughWhereNobodyTellsOfARouter) {
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    if (name == "ipv4only.arpa") return {.addresses = {"192.0.0.170"}, .ipv6_fails = true};
    return {.addresses = {here, "3ffe:64::10.0.0.7"}};
  };
  EgressWorld world({"both.test:" + port, here + ":" + port}, {}, {}, asking());
  const Peer client = world.tunnel("both.test:" + port);
  EXPECT_TRUE(echoes(client));
}

// Names that nobody answers keep the threads that look up; the time of a lookup begins when one is free.
TEST_F(RulesNow, GiveALookupItsTimeHoweverManyWait) {
  EgressOptions options = asking();
  options.dial_time = std::chrono::seconds(20);
  std::atomic<int> slow = 0;
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    if (name.starts_with("silent")) return ++slow, DnsServer::Answer{.silent = true};
    return {.addresses = {here}};
  };
  EgressWorld world({"*.test:" + port, here + ":" + port}, {}, {}, options);
  std::vector<Peer> waiting;
  for (int i = 0; i < 24; ++i) {
    waiting.push_back(world.connect());
    waiting.back().send(connect_to(fmt::format("silent{}.test:{}", i, port)));
  }
  while (slow < 8) std::this_thread::sleep_for(milliseconds(1));
  const Peer client = world.tunnel("a.test:" + port);
  EXPECT_TRUE(echoes(client));
}

TEST_F(RulesNow, LeaveWhatIsOverAsItEnded) {
  TcpServer closing(here, 0, [](const Peer& peer) {
    peer.read_until("\r\n\r\n");
    peer.send("HTTP/1.1 204 No Content\r\n\r\n");
  });
  const std::string target = fmt::format("a.test:{}", closing.port());
  EgressWorld world({target, fmt::format("{}:{}", here, closing.port())}, {}, {}, asking());
  const Peer client = world.connect();
  client.send(fmt::format("GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\n\r\n", target));
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 204 "));
  world.proxy->set_rules(rules({}));  // while it is seen whether the client still sends
  EXPECT_EQ(world.decision().reason, done);
}

// What can't be judged has no rule on its side.
TEST(RulesThatFail, EndEachConnectionTheyCannotJudge) {
  const bool may = test::in_own_network({"link set lo up", "addr add 9.1.1.1/32 dev lo"}, [] {
    TcpServer server("9.1.1.1", 0, echo);
    DnsServer dns([](const std::string&, int) -> DnsServer::Answer { return {.addresses = {"9.1.1.1"}}; });
    EgressOptions options;
    options.names.dns_servers = {dns.address()};
    std::atomic<bool> fails = false;
    options.is_own = [&](const IpAddress&) { return fails ? throw std::bad_alloc() : false; };
    const std::string target = fmt::format("a.test:{}", server.port());
    EgressWorld world({target}, {}, {}, options);
    const Peer one = world.tunnel(target), other = world.tunnel(target);
    fails = true;
    world.proxy->set_rules(EgressRules::create({target}, {}).value());
    EXPECT_EQ(one.read_all() + other.read_all(), "");
    for (const EgressDecision& decision : world.decisions(2)) EXPECT_EQ(decision.reason, rules_changed);
  });
  if (!may) GTEST_SKIP() << "needs root and ip";
}

TEST_F(RulesNow, KeepNamesAwayFromThisMachine) {
  const IpAddress own = IpAddress::parse("8.8.4.4").value();
  EgressOptions options = asking();
  options.is_own = [own](const IpAddress& address) { return address == own; };
  zone = [this](const std::string& name, int) -> DnsServer::Answer {
    if (name == "nat64.test") return {.addresses = {"64:ff9b::8.8.4.4"}};
    if (name == "both.test") return {.addresses = {"8.8.4.4", here}};
    return {.addresses = {"8.8.4.4"}};
  };
  EgressWorld world({"*.test:" + port, here + ":" + port}, {}, {}, options);
  for (const std::string name : {"own.test", "nat64.test"}) {
    EXPECT_THAT(world.ask(connect_to(name + ":" + port)),
        HasSubstr("(this machine's own, as its routes have it), which may not be dialled"));
    EXPECT_EQ(world.decision().reason, address_refused) << name;
  }
  const Peer client = world.tunnel("both.test:" + port);
  EXPECT_TRUE(echoes(client));

  const EgressRules listed = EgressRules::create({"own.test:1", "8.8.4.4:1"}, {}).value();
  EXPECT_TRUE(listed.may_dial(own, 1, true));
  EXPECT_FALSE(listed.may_dial(own, 2, true));
  EXPECT_TRUE(listed.may_dial(own, 2));
}

}  // namespace
}  // namespace guard
