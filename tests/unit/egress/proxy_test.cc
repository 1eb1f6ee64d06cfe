#include "egress/proxy.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <future>

#include "tests/support/egress/egress_world.h"

namespace guard {
namespace {

using test::DnsServer;
using test::echo;
using test::EgressWorld;
using test::own_loopback;
using test::Peer;
using test::TcpServer;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using enum EgressReason;

DnsServer::Answer answer_with(std::vector<std::string> addresses) { return {.addresses = std::move(addresses)}; }

EgressOptions asking(const DnsServer& dns) {
  EgressOptions options;
  options.names.dns_servers = {dns.address()};
  return options;
}

std::string connect_to(const std::string& target) {
  return fmt::format("CONNECT {0} HTTP/1.1\r\nHost: {0}\r\n\r\n", target);
}

// ---- names and rules -------------------------------------------------------------------------------------

class Proxy : public ::testing::Test {
 protected:
  std::string here = own_loopback();
  DnsServer dns{[this](const std::string& name, int time) { return zone(name, time); }};
  std::function<DnsServer::Answer(const std::string&, int)> zone = [this](const std::string&, int) {
    return answer_with({here});
  };
  TcpServer server{here, 0, echo};
  std::string port = std::to_string(server.port());
  std::string listed = here + ":" + port;
};

TEST_F(Proxy, TunnelsToAnAllowedName) {
  EgressWorld world({"api.test:" + port, listed}, {}, {}, asking(dns));
  Peer client = world.tunnel("API.test.:" + port);
  client.send("hello");
  EXPECT_EQ(client.read(5), "hello");
  client.end_sending();
  EXPECT_EQ(client.read_all(), "");
  client.close();
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.host, "api.test");
  EXPECT_EQ(decision.port, server.port());
  EXPECT_EQ(decision.way, EgressWay::connect);
  EXPECT_EQ(decision.address, here);
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.reason, done);
  EXPECT_EQ(decision.bytes_up, 5u);
  EXPECT_EQ(decision.bytes_down, 5u);
  EXPECT_EQ(decision.text, "");
  EXPECT_EQ(dns.questions("api.test"), 1);
}

TEST_F(Proxy, TunnelsToWhatAWildcardAndAnAddressAllow) {
  EgressWorld world({"*.test:" + port, listed}, {}, {}, asking(dns));
  for (const std::string& host : {std::string("a.test"), std::string("a.b.test"), here}) {
    const Peer client = world.tunnel(host + ":" + port);
    client.send("x");
    EXPECT_EQ(client.read(1), "x");
  }
  world.decisions(3);
}

TEST_F(Proxy, RefusesWhatIsNotListedAndAsksNobodyAboutIt) {
  EgressWorld world({"api.test:" + port, "*.wild.test:" + port, listed}, {"denied.wild.test"}, {}, asking(dns));
  struct Row {
    std::string target;
    EgressReason reason;
  };
  const Row rows[] = {{"other.test:" + port, not_listed}, {"api.test:1", not_listed}, {"api.test:443", not_listed},
      {"x.api.test:" + port, not_listed}, {"wild.test:" + port, not_listed}, {"denied.wild.test:" + port, denied},
      {"127.0.0.1:" + port, not_listed}, {"[::1]:" + port, not_listed}, {"[::ffff:" + here + "]:" + port, not_listed},
      {"localhost:" + port, not_listed}, {"169.254.169.254:80", not_listed}};
  for (const Row& row : rows) {
    const std::string answer = world.ask(connect_to(row.target));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 Forbidden\r\n")) << row.target;
    EXPECT_THAT(answer, HasSubstr("guard: " + row.target + " is ")) << row.target;
    const EgressDecision decision = world.decision();
    EXPECT_EQ(decision.reason, row.reason) << row.target;
    EXPECT_FALSE(decision.allowed);
    EXPECT_EQ(decision.address, "");
    EXPECT_EQ(decision.host + ":" + std::to_string(decision.port), row.target);
  }
  EXPECT_EQ(server.served(), 0);
  EXPECT_TRUE(dns.names_asked().empty());
}

TEST_F(Proxy, RefusesFormsThatAreNeitherNameNorAddress) {
  EgressWorld world({"*.test:" + port, "127.0.0.1:" + port}, {}, {}, asking(dns));
  for (const std::string host : {"2130706433", "0x7f000001", "0x7f.1", "0177.0.0.1", "127.1", "127.0.0.1.",
           "[127.0.0.1]", "[::1%25lo]", "::1", "a..test", "-.test", "*.test", "a_b c.test"}) {
    EXPECT_THAT(world.ask(connect_to(host + ":" + port)), StartsWith("HTTP/1.1 400 ")) << host;
    EXPECT_EQ(world.decision().reason, bad_request) << host;
  }
  EXPECT_TRUE(dns.names_asked().empty());
}

// An allowed name does not lead where addresses may not be dialled, in whichever family and form.
TEST_F(Proxy, RefusesNamesThatLeadIntoPrivateNetworks) {
  std::vector<std::string> addresses;
  zone = [&](const std::string&, int) { return answer_with(addresses); };
  EgressWorld world({"api.test:" + port}, {}, {}, asking(dns));
  for (const std::string address : {"127.0.0.1", "10.0.0.1", "100.64.0.1", "169.254.169.254", "0.0.0.0", "224.0.0.1",
           "::1", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::", "2001::1",
           "fd00:ec2::254", "fe80::1", "fec0::1", "ff02::1"}) {
    addresses = {address};
    const std::string answer = world.ask(connect_to("api.test:" + port));
    EXPECT_THAT(answer, StartsWith("HTTP/1.1 403 ")) << address;
    EXPECT_THAT(answer, HasSubstr(IpAddress::parse(address)->text()));
    const EgressDecision decision = world.decision();
    EXPECT_EQ(decision.reason, address_refused) << address;
    EXPECT_FALSE(decision.allowed);
  }
  EXPECT_EQ(server.served(), 0);
}

TEST_F(Proxy, LooksANameUpOnceAndDialsWhatItChecked) {
  zone = [&](const std::string&, int time) { return answer_with({time == 1 ? here : "127.0.0.1"}); };
  EgressWorld world({"api.test:" + port, listed}, {}, {}, asking(dns));
  {
    const Peer client = world.tunnel("api.test:" + port);
    client.send("x");
    EXPECT_EQ(client.read(1), "x");
  }
  EXPECT_EQ(world.decision().address, here);
  EXPECT_EQ(dns.questions("api.test"), 1);
  EXPECT_THAT(world.ask(connect_to("api.test:" + port)), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, address_refused);
  EXPECT_EQ(dns.questions("api.test"), 2);
}

TEST_F(Proxy, FollowsAnAliasToItsAddressAlone) {
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    return {.addresses = {name == "good.test" ? here : "10.0.0.1"}, .alias = "other.internal"};
  };
  EgressWorld world({"*.test:" + port, listed}, {}, {}, asking(dns));
  EXPECT_THAT(world.ask(connect_to("bad.test:" + port)), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, address_refused);
  { const Peer client = world.tunnel("good.test:" + port); }
  EXPECT_EQ(world.decision().address, here);
}

TEST_F(Proxy, DialsOnlyThoseAddressesThatMayBe) {
  zone = [&](const std::string&, int) { return answer_with({"127.0.0.1", "10.0.0.1", here}); };
  EgressWorld world({"api.test:" + port, listed}, {}, {}, asking(dns));
  { const Peer client = world.tunnel("api.test:" + port); }
  EXPECT_EQ(world.decision().address, here);
  EgressWorld denying({"api.test:" + port, listed}, {here}, {}, asking(dns));
  EXPECT_THAT(denying.ask(connect_to("api.test:" + port)), StartsWith("HTTP/1.1 403 "));
}

TEST_F(Proxy, GoesOnToTheNextAddress) {
  const std::string dead = own_loopback(0);
  zone = [&](const std::string&, int) { return answer_with({dead, here}); };
  EgressWorld world({"api.test:" + port, listed, dead + ":" + port}, {}, {}, asking(dns));
  {
    const Peer client = world.tunnel("api.test:" + port);
    client.send("x");
    EXPECT_EQ(client.read(1), "x");
  }
  EXPECT_EQ(world.decision().address, here);
  zone = [&](const std::string&, int) { return answer_with({dead}); };
  EXPECT_THAT(world.ask(connect_to("api.test:" + port)), StartsWith("HTTP/1.1 502 "));
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.reason, not_connected);
  EXPECT_TRUE(decision.allowed);
}

TEST_F(Proxy, SaysThatANameIsNotKnown) {
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    return name == "slow.test" ? DnsServer::Answer{.silent = true} : DnsServer::Answer{.exists = false};
  };
  EgressOptions options = asking(dns);
  options.lookup_time = milliseconds(200);
  EgressWorld world({"*.test"}, {}, {}, options);
  for (const char* target : {"none.test:443", "slow.test:443"}) {
    EXPECT_THAT(world.ask(connect_to(target)), StartsWith("HTTP/1.1 502 ")) << target;
    EXPECT_EQ(world.decision().reason, not_resolved) << target;
  }
}

// ---- tunnels ---------------------------------------------------------------------------------------------

TEST_F(Proxy, PassesHalfClosesBothWays) {
  std::promise<std::string> heard;
  TcpServer first_to_end(here, 0, [&](Peer peer) {
    peer.send("bye");
    peer.end_sending();
    heard.set_value(peer.read_all());
  });
  EgressWorld world({here + ":" + std::to_string(first_to_end.port())});
  const Peer client = world.tunnel(here + ":" + std::to_string(first_to_end.port()));
  EXPECT_EQ(client.read_all(), "bye");
  client.send("and more");
  client.end_sending();
  EXPECT_EQ(heard.get_future().get(), "and more");
  EXPECT_EQ(world.decision().reason, done);
}

TEST_F(Proxy, LetsTheServerSpeakFirst) {
  TcpServer ssh(here, 0, [](Peer peer) {
    peer.send("SSH-2.0-x\r\n");
    echo(std::move(peer));
  });
  EgressWorld world({here + ":" + std::to_string(ssh.port())});
  const Peer client = world.tunnel(here + ":" + std::to_string(ssh.port()));
  EXPECT_EQ(client.read(11), "SSH-2.0-x\r\n");
  client.send("SSH-2.0-y\r\n");
  EXPECT_EQ(client.read(11), "SSH-2.0-y\r\n");
}

TEST_F(Proxy, HoldsALittleForAClientThatDoesNotRead) {
  constexpr std::size_t kSize = 64ul << 20;
  std::atomic<std::size_t> sent = 0;
  TcpServer source(here, 0, [&](const Peer& peer) {
    const std::string piece(1 << 16, 'x');
    while (sent < kSize && peer.send(piece)) sent += piece.size();
  });
  EgressWorld world({here + ":" + std::to_string(source.port())});
  Peer client = world.tunnel(here + ":" + std::to_string(source.port()));
  std::size_t before = 1;
  while (sent != before) {
    before = sent;
    std::this_thread::sleep_for(milliseconds(300));
  }
  EXPECT_LT(sent, kSize / 2);  // what the two sockets' own buffers take
  EXPECT_EQ(client.read_all().size(), kSize);
  client.close();
  EXPECT_EQ(world.decision().bytes_down, kSize);
}

TEST_F(Proxy, EndsWhenOneSideDies) {
  TcpServer dying(here, 0, [](Peer peer) {
    if (peer.read(1) == "r") peer.reset();
  });
  EgressWorld world({here + ":" + std::to_string(dying.port()), listed});
  {
    const Peer client = world.tunnel(here + ":" + std::to_string(dying.port()));
    client.send("r");
    EXPECT_EQ(client.read_all(), "");
    EXPECT_EQ(world.decision().reason, broken);
  }
  {
    Peer client = world.tunnel(listed);
    client.send(std::string(100'000, 'x'));  // and reads none of it
    client.close();
  }
  EXPECT_EQ(world.decision().reason, broken);
}

TEST_F(Proxy, HasADecisionForAClientThatSaysNothing) {
  EgressWorld world({});
  world.connect().close();
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.reason, no_request);
  EXPECT_EQ(decision.host, "");
  EXPECT_FALSE(decision.allowed);
}

// ---- TLS -------------------------------------------------------------------------------------------------

std::string number(std::size_t value, int width) {
  std::string out;
  for (int i = width - 1; i >= 0; --i) out += static_cast<char>(value >> (8 * i));
  return out;
}

std::string with_length(const std::string& bytes, int width) { return number(bytes.size(), width) + bytes; }

std::string client_hello(const std::string& server_name, bool encrypted = false) {
  const std::string names = with_length(std::string(1, '\0') + with_length(server_name, 2), 2);
  const std::string extensions = (server_name.empty() ? "" : std::string(2, '\0') + with_length(names, 2)) +
      (encrypted ? "\xfe\x0d" + with_length("ech", 2) : "");
  const std::string body = "\x03\x03" + std::string(32, 'r') + std::string(1, '\0') + with_length("\x13\x01", 2) +
      std::string("\x01\0", 2) + with_length(extensions, 2);
  return "\x16\x03\x01" + with_length("\x01" + with_length(body, 3), 2);
}

const std::string kAlert("\x15\x03\x03\x00\x02\x02\x31", 7);

struct TlsRow {
  std::string asked;
  std::string first;
  EgressReason reason;  // done: it goes through
};

void check_rows(EgressWorld& world, const std::string& port, const std::vector<TlsRow>& rows) {
  for (const TlsRow& row : rows) {
    const Peer client = world.tunnel(row.asked + ":" + port);
    // In two pieces: nothing of the first may have gone up before the second has come.
    client.send(row.first.substr(0, 1));
    client.send(row.first.substr(1));
    client.end_sending();
    const std::string answer = client.read_all();
    const EgressDecision decision = world.decision();
    EXPECT_EQ(decision.reason, row.reason) << row.asked << " " << decision.text;
    EXPECT_EQ(decision.allowed, row.reason == done);
    EXPECT_EQ(answer, row.reason == done ? row.first : kAlert) << row.asked << " " << decision.text;
    EXPECT_EQ(decision.bytes_up, row.reason == done ? row.first.size() : 0);
  }
}

TEST_F(Proxy, LetsTlsNameNoOtherServer) {
  EgressWorld world({"api.test:" + port, "other.test:" + port, listed}, {}, {}, asking(dns));
  check_rows(world, port,
      {{"api.test", client_hello("api.test"), done}, {"api.test", client_hello("API.Test"), done},
          {"api.test", client_hello("other.test"), server_name_differs},
          {"api.test", client_hello(""), server_name_differs},
          {"api.test", client_hello("x.api.test"), server_name_differs},
          {"api.test", client_hello(here), server_name_differs},
          {"api.test", client_hello("api.test", true), encrypted_hello},
          {"api.test", std::string("\x16\x03\x01\0\x04\x02\0\0\0", 9), bad_tls}, {here, client_hello(""), done},
          {here, client_hello("api.test"), server_name_differs}, {here, client_hello(here), done},
          {"api.test", "no TLS at all", done}});
}

TEST_F(Proxy, LetsNothingButTlsGoToPort443) {
  TcpServer secure(here, 443, echo);
  if (!secure.bound()) GTEST_SKIP() << "this user may not listen at port 443";
  EgressWorld world({"api.test", here}, {}, {}, asking(dns));
  check_rows(world, "443",
      {{"api.test", client_hello("api.test"), done}, {"api.test", client_hello("other.test"), server_name_differs},
          {"api.test", "GET / HTTP/1.1\r\nHost: api.test\r\n\r\n", not_tls}, {"api.test", "SSH-2.0-x\r\n", not_tls},
          {"api.test", client_hello("api.test", true), encrypted_hello}, {here, client_hello(""), done},
          {here, "SSH-2.0-x\r\n", not_tls}});
  EXPECT_THAT(
      world.ask("GET http://api.test:443/ HTTP/1.1\r\nHost: api.test:443\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, not_tls);
}

// ---- HTTP ------------------------------------------------------------------------------------------------

// Answers each request with what it has read of it up to `end`, and closes.
TcpServer::Handler mirror(std::string end, std::shared_ptr<std::atomic<int>> requests = nullptr) {
  return [=](const Peer& peer) {
    const std::string request = peer.read_until(end);
    if (requests != nullptr) ++*requests;
    peer.send("HTTP/1.1 200 OK\r\n\r\n" + request);
    peer.end_sending();
    peer.read_all();
  };
}

TEST_F(Proxy, SendsOneRequestWrittenAnew) {
  const auto requests = std::make_shared<std::atomic<int>>(0);
  TcpServer http(here, 0, mirror("\r\n\r\n", requests));
  const std::string at = "api.test:" + std::to_string(http.port());
  EgressWorld world({at, here + ":" + std::to_string(http.port())}, {}, {}, asking(dns));
  const std::string second = fmt::format("GET http://{0}/secret HTTP/1.1\r\nHost: {0}\r\n\r\n", at);
  const std::string answer =
      world.ask(fmt::format("GET http://{0}/a?b HTTP/1.1\r\nhost:  {0}\r\nProxy-Authorization: x\r\n"
                            "X-Kept: yes\r\nConnection: keep-alive\r\n\r\n{1}",
          at, second));
  EXPECT_EQ(answer,
      fmt::format(
          "HTTP/1.1 200 OK\r\n\r\nGET /a?b HTTP/1.1\r\nHost: {}\r\nX-Kept: yes\r\nConnection: close\r\n\r\n", at));
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.way, EgressWay::http);
  EXPECT_EQ(decision.reason, done);
  EXPECT_EQ(decision.host, "api.test");
  EXPECT_EQ(*requests, 1);
}

TEST_F(Proxy, SendsABodyAndNothingAfterIt) {
  TcpServer http(here, 0, mirror("END"));
  const std::string at = here + ":" + std::to_string(http.port());
  EgressWorld world({at});
  const std::string large(300'000, 'x');
  const std::string sized = world.ask(fmt::format(
      "POST http://{0}/ HTTP/1.1\r\nHost: {0}\r\nContent-Length: {1}\r\n\r\n{2}ENDGET http://{0}/x HTTP/1.1\r\n\r\n",
      at, large.size() + 3, large));
  EXPECT_THAT(sized, HasSubstr("\r\n\r\n" + large + "END"));
  EXPECT_TRUE(sized.ends_with("END"));
  EXPECT_EQ(world.decision().reason, done);
  const std::string chunked =
      world.ask(fmt::format("POST http://{0}/ HTTP/1.1\r\nHost: {0}\r\nTransfer-Encoding: "
                            "chunked\r\n\r\n3;x=y\r\nabc\r\n3\r\nEND\r\n0\r\n\r\nGET /",
          at));
  EXPECT_THAT(chunked, HasSubstr("\r\n\r\n6\r\nabcEND"));
  EXPECT_EQ(world.decision().reason, done);
}

// Not when the time is over: the client is still there, and nobody else would end the connection.
TEST_F(Proxy, RefusesABrokenBodyAtOnce) {
  TcpServer http(here, 0, mirror("END"));
  const std::string at = here + ":" + std::to_string(http.port());
  EgressLimits limits;
  limits.request_time = limits.idle_time = std::chrono::hours(1);
  EgressWorld world({at}, {}, limits);
  EXPECT_THAT(
      world.ask(fmt::format("POST http://{0}/ HTTP/1.1\r\nHost: {0}\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", at)),
      StartsWith("HTTP/1.1 400 Bad Request\r\n"));
  EXPECT_EQ(world.decision().reason, bad_request);
}

// A client that ends its own side only waits for the answer; one that is gone does not.
TEST_F(Proxy, ForgetsARequestWhoseClientIsGone) {
  TcpServer slow(here, 0, [&](const Peer& peer) {
    if (peer.read_until("\r\n\r\n").find("/answered") == std::string::npos) peer.read_all();
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
  });
  const std::string at = here + ":" + std::to_string(slow.port());
  EgressWorld world({at});
  const auto ask = [&](const std::string& path) {
    Peer client = world.connect();
    client.send(fmt::format("GET http://{0}{1} HTTP/1.1\r\nHost: {0}\r\n\r\n", at, path));
    client.end_sending();
    return client;
  };
  EXPECT_THAT(ask("/answered").read_all(), StartsWith("HTTP/1.1 200 "));
  EXPECT_EQ(world.decision().reason, done);
  Peer gone = ask("/gone");
  while (slow.served() < 2) std::this_thread::sleep_for(milliseconds(1));
  gone.close();
  EXPECT_EQ(world.decision().reason, broken);
}

// One that knows the answer's size closes when it has all of it, and the server's end may come after that.
TEST_F(Proxy, WaitsForTheServersEndOnceTheClientHasWhatCame) {
  std::promise<void> closed[6];
  TcpServer http(here, 80, [&](const Peer& peer) {
    const auto which = static_cast<std::size_t>(peer.read_until("\r\n\r\n")[5] - '0');
    peer.send("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok");
    closed[which].get_future().wait();
    std::this_thread::sleep_for(milliseconds(50));
    if (which % 3 == 1) peer.send("and more");
    if (which % 3 == 2) peer.read_all();  // holds the connection
  });
  if (!http.bound()) GTEST_SKIP() << "this user may not listen at port 80";
  EgressWorld world({here + ":80"});
  const EgressReason expected[] = {done, broken, broken};
  for (std::size_t which = 0; which < 6; ++which) {
    const bool by_tunnel = which >= 3;
    Peer client = by_tunnel ? world.tunnel(here + ":80") : world.connect();
    client.send(
        fmt::format("GET {2}/{1} HTTP/1.1\r\nHost: {0}\r\n\r\n", here, which, by_tunnel ? "" : "http://" + here));
    EXPECT_THAT(client.read_until("\r\n\r\nok"), EndsWith("ok"));
    client.close();
    closed[which].set_value();
    EXPECT_EQ(world.decision().reason, expected[which % 3]) << which;
  }
}

TEST_F(Proxy, RefusesRequestsThatLie) {
  EgressWorld world({"api.test:" + port, "other.test:" + port, listed}, {}, {}, asking(dns));
  const std::string at = "api.test:" + port;
  const std::string line = "POST http://" + at + "/ HTTP/1.1\r\n";
  const std::string host = "Host: " + at + "\r\n";
  const std::pair<std::string, EgressReason> rows[] = {
      {line + "Host: other.test:" + port + "\r\n\r\n", host_differs},
      {line + "Host: api.test\r\n\r\n", host_differs},
      {"CONNECT " + at + " HTTP/1.1\r\nHost: other.test\r\n\r\n", host_differs},
      {line + host + host + "\r\n", bad_request},
      {line + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad_request},
      {line + host + "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n0\r\n\r\n", bad_request},
      {line + host + "Transfer-Encoding:\r\n chunked\r\n\r\n", bad_request},
      {line + host + "Content-Length: 4\r\nContent-Length: 4\r\n\r\nabcd", bad_request},
      {line + host + "Upgrade: h3\r\nConnection: upgrade\r\n\r\n", bad_request},
      {"GET / HTTP/1.1\r\n" + host + "\r\n", bad_request},
      {"GET https://" + at + "/ HTTP/1.1\r\n" + host + "\r\n", bad_request},
      {"SSH-2.0-x\r\n\r\n", bad_request},
      {client_hello("api.test") + "\r\n\r\n", bad_request},
      {line + host + "X: " + std::string(66'000, 'x') + "\r\n\r\n", bad_request},
  };
  for (const auto& [request, reason] : rows) {
    const std::string answer = world.ask(request);
    EXPECT_THAT(answer, StartsWith(reason == host_differs ? "HTTP/1.1 403 " : "HTTP/1.1 400 "))
        << request.substr(0, 200);
    EXPECT_THAT(answer, HasSubstr("\r\n\r\nguard: "));
    const EgressDecision decision = world.decision();
    EXPECT_EQ(decision.reason, reason) << request.substr(0, 200);
    EXPECT_EQ(decision.bytes_up, 0u);
    EXPECT_FALSE(decision.allowed);
  }
  EXPECT_EQ(server.served(), 0);
}

TEST_F(Proxy, ReadsHttpInATunnelToPort80) {
  TcpServer http(here, 80, mirror("\r\n\r\n"));
  if (!http.bound()) GTEST_SKIP() << "this user may not listen at port 80";
  EgressWorld world({"api.test", here}, {}, {}, asking(dns));
  const auto ask = [&](const std::string& bytes) {
    const Peer client = world.tunnel("api.test:80");
    client.send(bytes);
    client.end_sending();
    return client.read_all();
  };
  EXPECT_EQ(ask("GET /x HTTP/1.1\r\nHost: API.test\r\n\r\nGET /y HTTP/1.1\r\nHost: other.test\r\n\r\n"),
      "HTTP/1.1 200 OK\r\n\r\nGET /x HTTP/1.1\r\nHost: api.test\r\nConnection: close\r\n\r\n");
  EXPECT_EQ(world.decision().reason, done);
  EXPECT_THAT(ask("GET /x HTTP/1.1\r\nHost: other.test\r\n\r\n"), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, host_differs);
  EXPECT_THAT(ask("GET http://api.test/x HTTP/1.1\r\nHost: api.test\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(world.decision().reason, bad_request);
  EXPECT_THAT(ask("SSH-2.0-x\r\n\r\n"), StartsWith("HTTP/1.1 400 "));
  EXPECT_EQ(world.decision().reason, bad_request);
  EXPECT_EQ(ask(client_hello("other.test")), kAlert);
  EXPECT_EQ(world.decision().reason, server_name_differs);
}

TEST_F(Proxy, MakesATunnelOfAWebSocketOnceTheServerAgrees) {
  std::promise<std::string> smuggled;
  TcpServer agreeing(here, 0, [&](Peer peer) {
    if (peer.read_until("\r\n\r\n").find("/yes") != std::string::npos) {
      peer.send("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
      return echo(std::move(peer));
    }
    peer.send("HTTP/1.1 200 OK\r\n\r\n");
    smuggled.set_value(peer.has_bytes(milliseconds(300)) ? peer.read(1) : "nothing");
  });
  const std::string at = here + ":" + std::to_string(agreeing.port());
  EgressWorld world({at});
  const auto open = [&](const std::string& path) {
    Peer client = world.connect();
    client.send(fmt::format(
        "GET http://{0}{1} HTTP/1.1\r\nHost: {0}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n\r\nearly", at, path));
    client.read_until("\r\n\r\n");
    return client;
  };
  const Peer yes = open("/yes");
  EXPECT_EQ(yes.read(5), "early");
  yes.send("late");
  EXPECT_EQ(yes.read(4), "late");
  yes.end_sending();
  EXPECT_EQ(yes.read_all(), "");
  EXPECT_EQ(world.decision().reason, done);
  const Peer no = open("/no");
  no.send("GET /smuggled HTTP/1.1\r\n\r\n");
  EXPECT_EQ(smuggled.get_future().get(), "nothing");
}

// ---- SOCKS -----------------------------------------------------------------------------------------------

std::string socks(const std::string& host, unsigned port, int command = 1) {
  return std::string("\x05\x01\x00", 3) + "\x05" + static_cast<char>(command) + std::string("\0\x03", 2) +
      with_length(host, 1) + number(port, 2);
}

TEST_F(Proxy, SpeaksSocks) {
  EgressWorld world({"api.test:" + port, listed}, {}, {}, asking(dns));
  const Peer client = world.connect();
  client.send(socks("api.test", server.port()) + "hello");
  EXPECT_EQ(client.read(2), std::string("\x05\x00", 2));
  EXPECT_EQ(client.read(10), std::string("\x05\x00\x00\x01\0\0\0\0\0\0", 10));
  EXPECT_EQ(client.read(5), "hello");
  client.end_sending();
  EXPECT_EQ(client.read_all(), "");
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.way, EgressWay::socks);
  EXPECT_EQ(decision.host, "api.test");
  EXPECT_EQ(decision.reason, done);
}

TEST_F(Proxy, RefusesBySocksWithItsCodes) {
  zone = [&](const std::string& name, int) -> DnsServer::Answer {
    return name == "none.test" ? DnsServer::Answer{.exists = false} : answer_with({"10.0.0.1"});
  };
  EgressWorld world({"*.test:" + port}, {"denied.test"}, {}, asking(dns));
  struct Row {
    std::string bytes;
    int reply;
    EgressReason reason;
  };
  const Row rows[] = {{socks("example.com", 443), 2, not_listed}, {socks("denied.test", server.port()), 2, denied},
      {socks("private.test", server.port()), 2, address_refused}, {socks("none.test", server.port()), 4, not_resolved},
      {socks("api.test", server.port(), 2), 7, unsupported}, {socks("api.test", server.port(), 3), 7, unsupported},
      {socks("127.1", server.port()), 1, bad_request}};
  for (const Row& row : rows) {
    const std::string answer = world.ask(row.bytes);
    ASSERT_EQ(answer.size(), 12u) << row.bytes;
    EXPECT_EQ(answer[3], row.reply) << row.bytes;
    EXPECT_EQ(world.decision().reason, row.reason) << row.bytes;
  }
  EXPECT_EQ(world.ask(std::string("\x05\x01\x02", 3)), "\x05\xff");
  EXPECT_EQ(world.decision().reason, unsupported);
}

TEST_F(Proxy, ChecksTlsBehindSocks) {
  EgressWorld world({"api.test:" + port, listed}, {}, {}, asking(dns));
  const std::string answer = world.ask(socks("api.test", server.port()) + client_hello("other.test"));
  EXPECT_EQ(answer.substr(12), kAlert);
  EXPECT_EQ(world.decision().reason, server_name_differs);
}

TEST_F(Proxy, RecordsForeignNamesAsPrintableText) {
  EgressWorld world({});
  world.ask(socks(std::string(200, '\x1b'), 443));
  const EgressDecision decision = world.decision();
  EXPECT_LE(decision.host.size(), 255u);
  EXPECT_THAT(decision.host, StartsWith("\\x1b\\x1b"));
}

// ---- limits ----------------------------------------------------------------------------------------------

TEST_F(Proxy, GivesUpOnSlowRequests) {
  EgressLimits limits;
  limits.request_time = milliseconds(150);
  EgressWorld world({listed, "api.test:" + port}, {}, limits, asking(dns));
  const Peer slow = world.connect();
  for (const char c : std::string("GET http://")) slow.send(std::string(1, c));
  EXPECT_THAT(slow.read_all(), StartsWith("HTTP/1.1 408 "));
  EXPECT_EQ(world.decision().reason, request_time);
  EXPECT_EQ(world.connect().read_all(), "");
  EXPECT_EQ(world.decision().reason, request_time);
  EXPECT_EQ(world.ask(std::string("\x05\x01\x00\x05", 4)).size(), 12u);
  EXPECT_EQ(world.decision().reason, request_time);
  const Peer half = world.tunnel("api.test:" + port);
  half.send("\x16\x03");
  half.read_all();
  EXPECT_EQ(world.decision().reason, request_time);
}

TEST_F(Proxy, EndsWhatIsIdleOrOld) {
  EgressLimits limits;
  limits.idle_time = milliseconds(150);
  {
    EgressWorld world({listed}, {}, limits);
    const Peer client = world.tunnel(listed);
    client.send("x");
    EXPECT_EQ(client.read_all(), "x");
    const EgressDecision decision = world.decision();
    EXPECT_EQ(decision.reason, idle_time);
    EXPECT_TRUE(decision.allowed);
  }
  limits.idle_time = milliseconds::max();
  limits.connection_time = milliseconds(150);
  EgressWorld world({listed}, {}, limits);
  const Peer client = world.tunnel(listed);
  std::thread talker([&] {
    while (client.send("x")) std::this_thread::sleep_for(milliseconds(5));
  });
  client.read_all();
  talker.join();
  EXPECT_EQ(world.decision().reason, connection_time);
}

TEST_F(Proxy, CountsBytesOfAllConnections) {
  EgressLimits limits;
  limits.bytes_up = 10;
  EgressWorld up({listed}, {}, limits);
  {
    const Peer client = up.tunnel(listed);
    client.send("12345678");
    EXPECT_EQ(client.read(8), "12345678");
  }
  up.decision();
  {
    const Peer client = up.tunnel(listed);
    client.send("12");
    EXPECT_EQ(client.read(2), "12");
    client.send("3");
    EXPECT_EQ(client.read_all(), "");
  }
  const EgressDecision decision = up.decision();
  EXPECT_EQ(decision.reason, bytes_up);
  EXPECT_EQ(decision.bytes_up, 2u);
  limits = {};
  limits.bytes_down = 10;
  EgressWorld down({listed}, {}, limits);
  const Peer client = down.tunnel(listed);
  client.send("12345678901");
  EXPECT_LE(client.read_all().size(), 10u);
  EXPECT_EQ(down.decision().reason, bytes_down);
}

TEST_F(Proxy, BoundsConnections) {
  EgressLimits limits;
  limits.connections_at_once = 2;
  {
    EgressWorld world({listed}, {}, limits);
    const Peer first = world.tunnel(listed);
    Peer second = world.tunnel(listed);
    EXPECT_THAT(world.ask(connect_to(listed)), StartsWith("HTTP/1.1 429 "));
    EXPECT_EQ(world.decision().reason, connections_at_once);
    second.close();
    EXPECT_EQ(world.decision().reason, done);
    const Peer third = world.tunnel(listed);
  }
  limits = {};
  limits.connections_in_all = 2;
  {
    EgressWorld world({listed}, {}, limits);
    for (int i = 0; i < 2; ++i) world.tunnel(listed).close();
    world.decisions(2);
    EXPECT_THAT(world.ask(connect_to(listed)), StartsWith("HTTP/1.1 429 "));
    EXPECT_EQ(world.decision().reason, connections_in_all);
  }
  limits = {};
  limits.connections_per_second = 5;
  EgressWorld world({}, {}, limits);
  for (int i = 0; i < 200; ++i) world.connect().close();
  const auto all = world.decisions(200);
  const auto turned_away = std::count_if(
      all.begin(), all.end(), [](const EgressDecision& one) { return one.reason == connections_per_second; });
  EXPECT_GT(turned_away, 0);
  EXPECT_LT(turned_away, 200);
}

// ---- an upstream proxy -----------------------------------------------------------------------------------

TEST_F(Proxy, GoesThroughAnUpstreamProxy) {
  EgressWorld outer({"api.test:" + port, listed}, {}, {}, asking(dns));
  TcpServer front(here, 0, [&](Peer peer) {
    UniqueFd copy(::dup(peer.fd()));
    outer.proxy->take(std::move(copy));
  });
  EgressOptions options;
  options.names.dns_servers = {"127.0.0.1:1"};  // the upstream looks names up
  options.upstream = fmt::format("http://{}:{}", here, front.port());
  EgressWorld world({"api.test:" + port, "unknown.test:1"}, {}, {}, options);
  {
    const Peer client = world.tunnel("api.test:" + port);
    client.send("hello");
    EXPECT_EQ(client.read(5), "hello");
  }
  EXPECT_EQ(world.decision().reason, done);
  EXPECT_EQ(outer.decision().host, "api.test");
  EXPECT_THAT(world.ask(connect_to("other.test:" + port)), HasSubstr("is not in [network] allow"));
  EXPECT_EQ(world.decision().reason, not_listed);
  const std::string answer = world.ask(connect_to("unknown.test:1"));
  EXPECT_THAT(answer, StartsWith("HTTP/1.1 502 "));
  EXPECT_THAT(answer, HasSubstr("answers 403"));
  EXPECT_EQ(world.decision().reason, upstream_failed);
  EXPECT_EQ(outer.decision().reason, not_listed);
  const Peer liar = world.tunnel("api.test:" + port);
  liar.send(client_hello("other.test"));
  EXPECT_EQ(liar.read_all(), kAlert);
  EXPECT_EQ(world.decision().reason, server_name_differs);
}

TEST(EgressProxy, RefusesAnUpstreamOrServerThatIsNone) {
  for (const char* url :
      {"proxy.test:3128", "https://proxy.test:3128", "http://proxy.test", "http://u:p@proxy.test:1", "http://:1"}) {
    EgressOptions options;
    options.upstream = url;
    const auto made = EgressProxy::create({}, options, [](const EgressDecision&) {});
    ASSERT_FALSE(made) << url;
    EXPECT_EQ(made.error().code(), ErrorCode::config_invalid) << url;
    EXPECT_THAT(made.error().to_string(), ::testing::Not(HasSubstr("u:p")));
  }
  EgressOptions options;
  options.names.dns_servers = {"nonsense"};
  EXPECT_FALSE(EgressProxy::create({}, options, [](const EgressDecision&) {}));
}

// ---- many ------------------------------------------------------------------------------------------------

TEST_F(Proxy, EndsAllWhenItIsDestroyed) {
  zone = [](const std::string&, int) -> DnsServer::Answer { return {.silent = true}; };
  EgressWorld world({listed, "slow.test:" + port}, {}, {}, asking(dns));
  std::vector<Peer> clients;
  for (int i = 0; i < 60; ++i) clients.push_back(world.tunnel(listed));
  for (int i = 0; i < 20; ++i) clients.push_back(world.connect());
  for (int i = 0; i < 20; ++i) {
    clients.push_back(world.connect());
    clients.back().send(connect_to("slow.test:" + port));
  }
  while (dns.questions("slow.test") == 0) std::this_thread::sleep_for(milliseconds(1));
  world.proxy.reset();
  for (const Peer& client : clients) EXPECT_EQ(client.read_all(), "");
  for (const EgressDecision& one : world.decisions(100)) EXPECT_EQ(one.reason, proxy_ended);
}

// What the client has not read must not take with it what it has sent.
TEST_F(Proxy, SendsAllOfAClientThatReadsNoAnswer) {
  std::promise<std::string> came;
  const TcpServer taker(here, 0, [&](const Peer& peer) {
    std::string all;
    for (std::string piece; !(piece = peer.read(65'536)).empty(); all += piece) {
      peer.send("taken");
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    came.set_value(all);
  });
  const std::string at = here + ":" + std::to_string(taker.port());
  EgressWorld world({at});
  Peer client = world.tunnel(at);
  const std::string word(3'000'000, 'x');
  client.send(word);
  client.close();
  EXPECT_EQ(came.get_future().get(), word);
}

// A sandbox is gone as soon as its programs have ended; what the kernel would still have sent for them is sent.
TEST_F(Proxy, SendsWhatAClientThatHasClosedHasSentBeforeItIsDestroyed) {
  std::promise<std::string> came;
  const TcpServer taker(here, 0, [&](const Peer& peer) { came.set_value(peer.read_all()); });
  const std::string at = here + ":" + std::to_string(taker.port());
  EgressWorld world({at});
  Peer client = world.tunnel(at);
  const std::string word(100'000, 'x');
  client.send(word);
  client.close();
  world.proxy.reset();
  EXPECT_EQ(world.decision().reason, done);
  EXPECT_EQ(came.get_future().get(), word);
}

TEST_F(Proxy, HoldsAThousandConnectionsAtOnce) {
  rlimit files{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &files), 0);
  files.rlim_cur = std::min<rlim_t>(files.rlim_max, 8192);
  ::setrlimit(RLIMIT_NOFILE, &files);
  if (files.rlim_cur < 5000) GTEST_SKIP() << "only " << files.rlim_cur << " files may be open";
  constexpr int kCount = 1000;
  std::mutex mutex;
  std::vector<Peer> accepted;
  TcpServer holding(here, 0, [&](Peer peer) {
    const std::lock_guard lock(mutex);
    accepted.push_back(std::move(peer));
  });
  const std::string at = here + ":" + std::to_string(holding.port());
  EgressWorld world({at});
  std::vector<Peer> clients;
  for (int i = 0; i < kCount; ++i) {
    clients.push_back(world.connect());
    clients.back().send(connect_to(at) + std::to_string(i) + "\n");
  }
  for (const Peer& client : clients) ASSERT_THAT(client.read_until("\r\n\r\n"), StartsWith("HTTP/1.1 200 "));
  while (true) {
    const std::lock_guard lock(mutex);
    if (accepted.size() == kCount) break;
  }
  for (const Peer& peer : accepted) {
    peer.send(peer.read_until("\n"));
    peer.end_sending();
  }
  for (int i = 0; i < kCount; ++i) {
    EXPECT_EQ(clients[static_cast<std::size_t>(i)].read_all(), std::to_string(i) + "\n");
    clients[static_cast<std::size_t>(i)].close();
  }
  for (const EgressDecision& one : world.decisions(kCount)) EXPECT_EQ(one.reason, done);
}

}  // namespace
}  // namespace guard
