#include "egress/keys/credential.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <poll.h>

#include <future>
#include <set>

#include "tests/support/egress/tls_peer.h"

namespace guard {
namespace {

using test::DnsServer;
using test::EgressWorld;
using test::Identity;
using test::make_identity;
using test::own_loopback;
using test::Peer;
using test::TcpServer;
using test::TlsNewest;
using test::TlsPeer;
using test::Validity;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;
using enum EgressReason;

constexpr const char* kKey = "sk-test/4f9a+77b0c1d2";

EgressCredential::Read always(std::string value) {
  return [value = std::move(value)](const CancelToken&) -> Result<std::string> { return value; };
}

Result<void> load(EgressCredential& credential) {
  const CancelToken never;
  return credential.load(never);
}

EgressCredential credential(const std::string& host, const std::string& header = "X-Api-Key",
    const std::string& value = kKey, const std::string& prefix = "") {
  EgressCredential made = EgressCredential::create(host, header, prefix, always(value)).value();
  EXPECT_TRUE(load(made));
  return made;
}

// ---- as configured ---------------------------------------------------------------------------------------

TEST(EgressCredential, TakesAHostAndAHeader) {
  auto made = EgressCredential::create("API.example.com", "Authorization", "Bearer ", always("a-long-key\r\n"));
  ASSERT_TRUE(made);
  EXPECT_EQ(made->target.text(), "api.example.com:443");
  ASSERT_TRUE(load(*made));
  EXPECT_EQ(made->header_value(), "Bearer a-long-key");
  EXPECT_EQ(EgressCredential::create("10.0.0.7:8443", "X-Key", "", {})->target.text(), "10.0.0.7:8443");
}

TEST(EgressCredential, RefusesWhatWouldFrameARequestOrGoInTheClear) {
  for (const char* header : {"", "Host", "content-length", "Transfer-Encoding", "Connection", "Proxy-Authorization",
           "Upgrade", "X Key", "X-Key:", "X\r\nY", "Accept-Encoding", "K\xc3\xa9y", "TE", "Trailer", "Expect",
           "Keep-Alive", "Accept-Charset", "A-IM", "Request-Range", "Proxy-Connection"}) {
    const auto made = EgressCredential::create("api.test", header, "", {});
    ASSERT_FALSE(made) << header;
    EXPECT_EQ(made.error().code(), ErrorCode::config_invalid);
  }
  for (const char* host : {"", "*.test", "api.test:80", "api.test:0", "https://api.test", "127.1"})
    EXPECT_FALSE(EgressCredential::create(host, "X-Key", "", {})) << host;
  for (const char* prefix : {"Bearer\n", " Bearer", "B\x01"})
    EXPECT_FALSE(EgressCredential::create("api.test", "X-Key", prefix, {})) << prefix;
}

TEST(EgressCredential, NeverShowsAValueThatItRefuses) {
  for (const std::string& value : {std::string(), std::string("\n"), std::string("s3cret"),
           std::string("s3cretkey\n\n"), std::string("s3cretkey\r\nX: y"), std::string("s3cret\0key", 10),
           std::string("s3cretkey\x7f"), std::string(" s3cretkey"), std::string(17'000, 's')}) {
    EgressCredential made = EgressCredential::create("api.test", "X-Key", "", always(value)).value();
    const auto loaded = load(made);
    ASSERT_FALSE(loaded) << value.substr(0, 20);
    EXPECT_EQ(loaded.error().code(), ErrorCode::input_invalid);
    EXPECT_THAT(loaded.error().to_string(), AllOf(HasSubstr("api.test:443"), Not(HasSubstr("s3cret"))));
  }
}

TEST(EgressCredential, KeepsTheLastKeysAndThoseInUse) {
  EgressCredential made = credential("api.test", "X-Key", "key-number-0");
  const auto in_use = made.keys.back();
  made.take("key-number-1");
  const auto later = made.keys.back();
  for (int i = 2; i < 100; ++i) made.take("key-number-" + std::to_string(i));
  made.take("key-number-99");
  EXPECT_EQ(made.header_value(), "key-number-99");
  EXPECT_EQ(made.keys.size(), 8u);
  EXPECT_THAT(made.keys, AllOf(Contains(in_use), Contains(later)));
  EXPECT_THAT(made.keys.back()->forms, Contains("key-number-99"));
}

// ---- through the proxy -----------------------------------------------------------------------------------

class CredentialProxy : public ::testing::Test {
 protected:
  // Answers each request with answer(the head of the request, what follows it).
  std::function<void(TlsPeer&, const std::string&)> answer = [](TlsPeer& peer, const std::string& head) {
    peer.send("HTTP/1.1 200 OK\r\nX-Echo: " + head.substr(0, head.find('\r')) + "\r\n\r\n" + head);
  };
  Identity authority = make_identity("test authority");
  TlsNewest server_newest = TlsNewest::tls13;
  Identity server_identity = make_identity("api.test", &authority);
  std::string here = own_loopback();
  DnsServer dns{[this](const std::string&, int) { return DnsServer::Answer{.addresses = {here}}; }};
  std::mutex mutex;
  std::vector<std::string> heads;
  std::vector<std::string> names;
  TcpServer server{here, 0, [this](Peer peer) {
                     TlsPeer tls = TlsPeer::accept(std::move(peer), server_identity, server_newest);
                     const std::string head = tls.read_until("\r\n\r\n");
                     {
                       const std::lock_guard lock(mutex);
                       names.push_back(tls.server_name());
                       if (!head.empty()) heads.push_back(head);
                     }
                     if (!head.empty()) answer(tls, head);
                     tls.close();
                   }};
  std::string port = std::to_string(server.port());
  std::string at = "api.test:" + port;
  std::string listed = here + ":" + port;
  std::string roots = std::string(::testing::TempDir()) + "guard-roots-" + std::to_string(::getpid()) + ".pem";

  EgressOptions options() {
    std::ofstream(roots) << authority.pem();
    EgressOptions made;
    made.names.dns_servers = {dns.address()};
    made.authorities = roots;
    return made;
  }
  EgressWorld with(std::vector<EgressCredential> credentials, EgressLimits limits = {}) {
    return EgressWorld(
        {"api.test:" + port, "other.test:" + port, listed}, {}, limits, options(), std::move(credentials));
  }
  TlsPeer open(EgressWorld& world, const std::string& name = "api.test") {
    TlsPeer client = TlsPeer::connect(world.tunnel(name + ":" + port), name, world.proxy->root_pem());
    EXPECT_TRUE(client.is_open()) << client.fault();
    return client;
  }
  std::string ask(EgressWorld& world, const std::string& request) {
    TlsPeer client = open(world);
    client.send(request);
    return client.read_all();
  }
  std::string get(const std::string& fields = "") {
    return "GET /x HTTP/1.1\r\nHost: " + at + "\r\n" + fields + "\r\n";
  }
  ~CredentialProxy() override { ::unlink(roots.c_str()); }
};

TEST_F(CredentialProxy, AddsTheHeaderAndMasksItInWhatComesBack) {
  EgressWorld world = with({credential(at, "Authorization", kKey, "Bearer ")});
  TlsPeer client = open(world);
  EXPECT_EQ(client.protocol(), "http/1.1");
  client.send(
      get("authorization: Bearer mine\r\nAUTHORIZATION: again\r\nAccept-Encoding: gzip, br\r\nRange: bytes=1-2\r\n"
          "If-Range: x\r\nRequest-Range: x\r\nA-IM: x\r\nTE: trailers\r\nAccept-Charset: utf-16\r\n"
          "X-Kept: yes\r\nConnection: keep-alive, Authorization\r\n"));
  const std::string text = client.read_all();
  EXPECT_TRUE(client.ended_well());
  ASSERT_EQ(heads.size(), 1u);
  EXPECT_EQ(heads[0],
      fmt::format("GET /x HTTP/1.1\r\nHost: {}\r\nX-Kept: yes\r\nAccept-Encoding: identity\r\n"
                  "Authorization: Bearer {}\r\nConnection: close\r\n\r\n",
          at, kKey));
  EXPECT_EQ(names[0], "api.test");
  EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\nX-Echo: GET /x HTTP/1.1\r\nConnection: close\r\n\r\nGET /x"));
  EXPECT_THAT(text, HasSubstr("Authorization: Bearer " + std::string(std::string_view(kKey).size(), '*') + "\r\n"));
  const EgressDecision decision = world.decision();
  EXPECT_EQ(decision.reason, done) << decision.text;
  EXPECT_TRUE(decision.allowed);
  EXPECT_EQ(decision.host, "api.test");
}

TEST_F(CredentialProxy, MasksHeadsChunksAndSizedBodiesHoweverTheyAreCut) {
  const std::string key = kKey;
  std::string sent;
  std::size_t step = 1;
  answer = [&](TlsPeer& peer, const std::string&) {
    for (std::size_t i = 0; i < sent.size(); i += step) peer.send(sent.substr(i, step));
  };
  EgressWorld world = with({credential(at)});
  std::string chunks;
  for (const char c : "a" + key + "b") chunks += fmt::format("1;x=y\r\n{}\r\n", c);
  const std::string head = "HTTP/1.1 200 OK\r\nX-Echo: " + key + "\r\n";
  for (step = 1; step < 200; step += step < 40 ? 13 : 150) {
    for (const std::string& body : {"Transfer-Encoding: chunked\r\n\r\n" + chunks + "0\r\nTrailer: " + key + "\r\n\r\n",
             fmt::format("Content-Length: {}\r\n\r\na{}b", key.size() + 2, key), "\r\na" + key + "b"}) {
      sent = head + body;
      const std::string text = ask(world, get());
      EXPECT_THAT(text, StartsWith("HTTP/1.1 200 OK\r\nX-Echo: *******"));
      EXPECT_THAT(text, AllOf(Not(HasSubstr(key)), Not(HasSubstr(key.substr(4)))));
      EXPECT_THAT(text, HasSubstr(body.starts_with("Tr") ? "\r\n0\r\n\r\n" : "*******b")) << text;
      std::string body_seen = text.substr(text.find("\r\n\r\n") + 4);
      if (body.starts_with("Tr")) {
        std::string joined;
        for (std::size_t i = 0; i + 3 < body_seen.size();) {
          const std::size_t size = std::stoul(body_seen.substr(i), nullptr, 16);
          i = body_seen.find("\r\n", i) + 2;
          joined += body_seen.substr(i, size);
          i += size + 2;
        }
        body_seen = joined;
      }
      EXPECT_THAT(body_seen, AllOf(StartsWith("a"), Not(HasSubstr(key.substr(3))), ::testing::EndsWith("*b")));
      EXPECT_EQ(body_seen.size(), key.size() + 2);
      EXPECT_EQ(world.decision().reason, done);
    }
  }
}

TEST_F(CredentialProxy, PassesBodiesBothWays) {
  const std::string large(300'000, 'x');
  answer = [&](TlsPeer& peer, const std::string&) {
    peer.send("HTTP/1.1 100 Continue\r\n\r\n");
    const std::string body = peer.read_until("END");
    peer.send(fmt::format("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.size()) + body);
  };
  EgressWorld world = with({credential(at)});
  const std::string text = ask(world,
      fmt::format("POST /x HTTP/1.1\r\nHost: {}\r\nContent-Length: {}\r\n\r\n{}END", at, large.size() + 3, large));
  EXPECT_THAT(text, StartsWith("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\n"));
  EXPECT_TRUE(text.ends_with("\r\n\r\n" + large + "END"));
  EXPECT_EQ(world.decision().reason, done);
  answer = [&](TlsPeer& peer, const std::string&) { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n"); };
  const std::string none = ask(world, "HEAD /x HTTP/1.1\r\nHost: " + at + "\r\n\r\n");
  EXPECT_THAT(none, HasSubstr("Content-Length: 9\r\n"));
  EXPECT_EQ(world.decision().reason, done);
}

// Of what was cut the end is missing, as much of it whatever it is: else who has a server repeat a guess, and be cut
// off, would see how much of it is right.
TEST_F(CredentialProxy, KeepsTheEndOfAnAnswerThatIsNotWhole) {
  const std::string key = kKey;
  for (const char* frame : {"Content-Length: 99999\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n1ff\r\n", "\r\n"}) {
    std::set<std::size_t> sizes;
    for (std::size_t right = 0; right <= key.size(); right += 7) {
      const std::string body = std::string(480, 'x') + key.substr(0, right) + std::string(key.size() - right, '?');
      answer = [&](TlsPeer& peer, const std::string&) {
        peer.send(std::string("HTTP/1.1 200 OK\r\n") + frame + body);
        peer.cut_off();
      };
      EgressWorld world = with({credential(at)});
      TlsPeer client = open(world);
      client.send(get());
      const std::string text = client.read_all();
      sizes.insert(text.size());
      EXPECT_THAT(text, AllOf(HasSubstr("xxxxx"), Not(HasSubstr("?")), Not(HasSubstr("*")), Not(HasSubstr("sk-"))));
      EXPECT_FALSE(client.ended_well());
      EXPECT_EQ(world.decision().reason, broken);
    }
    EXPECT_EQ(sizes.size(), 1u) << frame;
  }
  // A server that says well goodbye in the middle has cut its answer, too.
  answer = [&](TlsPeer& peer, const std::string&) { peer.send("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"); };
  EgressWorld world = with({credential(at)});
  EXPECT_TRUE(ask(world, get()).ends_with("\r\n\r\n"));
  EXPECT_EQ(world.decision().reason, broken);
}

// Before its end an answer comes so many bytes late, whatever they are.
TEST_F(CredentialProxy, HoldsBackTheSameOfAnAnswerThatGoesOn) {
  const std::string key = kKey;
  for (std::size_t right = 0; right <= key.size(); right += 7) {
    std::promise<void> seen;
    answer = [&](TlsPeer& peer, const std::string&) {
      peer.send("HTTP/1.1 200 OK\r\n\r\n" + std::string(500, 'x') + key.substr(0, right));
      seen.get_future().wait();
      peer.send(std::string(1, '!'));
    };
    EgressCredential made = credential(at);
    std::size_t longest = 0;
    for (const std::string& form : made.keys.back()->forms) longest = std::max(longest, form.size());
    EgressWorld world = with({made});
    TlsPeer client = open(world);
    client.send(get());
    client.read_until("\r\n\r\n");
    const std::size_t due = 500 + right - (longest - 1);
    EXPECT_EQ(client.read(due), std::string(due, 'x'));
    EXPECT_FALSE(client.has_bytes(milliseconds(200))) << right;
    seen.set_value();
    EXPECT_THAT(client.read_all(),
        ::testing::EndsWith(
            right == key.size() ? "x" + std::string(right, '*') + "!" : "x" + key.substr(0, right) + "!"));
  }
}

TEST_F(CredentialProxy, RefusesWhatItCannotMask) {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  for (const std::string& head :
      {ok + "Content-Encoding: gzip", ok + "Content-Encoding: identity, br", ok + "Transfer-Encoding: gzip, chunked",
          ok + "Content-Range: bytes 0-3/9", ok + "Content-Type: multipart/byteranges; boundary=x",
          ok + "Content-Type: text/plain; charset=utf-16", ok + "Content-Type: text/plain; Charset = \"UTF-32LE\"",
          ok + "Content-Type: text/plain;charset=utf-7", ok + "Content-Type: a/b; charset=utf-8; charset=cp037",
          std::string("HTTP/1.1 206 Partial\r\nX: y"), std::string("HTTP/1.1 226 IM Used\r\nX: y"),
          std::string("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade")}) {
    answer = [&](TlsPeer& peer, const std::string&) { peer.send(head + "\r\n\r\nxxxx"); };
    EgressWorld world = with({credential(at)});
    EXPECT_THAT(ask(world, get()), AllOf(StartsWith("HTTP/1.1 502 "), HasSubstr("can't mask"))) << head;
    EXPECT_EQ(world.decision().reason, not_maskable) << head;
  }
  for (const char* type : {"text/plain; charset=UTF-8", "text/html;charset=\"iso-8859-1\"", "application/json"}) {
    answer = [&](TlsPeer& peer, const std::string&) { peer.send(ok + "Content-Type: " + type + "\r\n\r\nxxxx"); };
    EgressWorld world = with({credential(at)});
    EXPECT_THAT(ask(world, get()), ::testing::EndsWith("xxxx")) << type;
  }
}

TEST_F(CredentialProxy, RefusesWebSockets) {
  EgressWorld world = with({credential(at)});
  EXPECT_THAT(ask(world, get("Connection: Upgrade\r\nUpgrade: websocket\r\n")),
      AllOf(StartsWith("HTTP/1.1 403 "), HasSubstr("WebSocket")));
  EXPECT_EQ(world.decision().reason, unsupported);
  EXPECT_TRUE(heads.empty());
}

TEST_F(CredentialProxy, TakesAFewInterimAnswers) {
  int interim = 8;
  answer = [&](TlsPeer& peer, const std::string&) {
    for (int i = 0; i < interim; ++i) peer.send(std::string("HTTP/1.1 103 Early Hints\r\nLink: ") + kKey + "\r\n\r\n");
    peer.send("HTTP/1.1 200 OK\r\n\r\nxxxx");
  };
  EgressWorld world = with({credential(at)});
  EXPECT_THAT(ask(world, get()), AllOf(::testing::EndsWith("xxxx"), Not(HasSubstr(kKey))));
  EXPECT_EQ(world.decision().reason, done);
  interim = 9;
  EXPECT_THAT(ask(world, get()), Not(HasSubstr("xxxx")));
  EXPECT_EQ(world.decision().reason, broken);
}

TEST_F(CredentialProxy, TrustsNoOtherCertificateThanTheHostsOwn) {
  const Identity stranger = make_identity("another authority");
  const std::pair<const char*, Identity> rows[] = {{"name", make_identity("other.test", &authority)},
      {"below", make_identity("x.api.test", &authority)},
      {"over", make_identity("api.test", &authority, Validity::over)}, {"own", make_identity("api.test")},
      {"stranger", make_identity("api.test", &stranger)}};
  for (const auto& [what, identity] : rows) {
    server_identity = identity;
    EgressWorld world = with({credential(at)});
    const std::string text = ask(world, get());
    EXPECT_THAT(text, AllOf(StartsWith("HTTP/1.1 502 "), HasSubstr("can't be trusted"))) << what;
    EXPECT_EQ(world.decision().reason, bad_certificate) << what;
  }
  EXPECT_TRUE(heads.empty());
  server_identity = make_identity("api.test", &authority);
  EgressWorld world = with({credential(at)});
  EXPECT_THAT(ask(world, get()), StartsWith("HTTP/1.1 200 "));
}

TEST_F(CredentialProxy, ReachesAnAddressByItsCertificate) {
  server_identity = make_identity("IP:" + here, &authority);
  EgressWorld world = with({credential(listed)});
  TlsPeer client = open(world, here);
  client.send("GET /x HTTP/1.1\r\nHost: " + listed + "\r\n\r\n");
  EXPECT_THAT(client.read_all(), StartsWith("HTTP/1.1 200 "));
  EXPECT_THAT(heads.at(0), HasSubstr(kKey));
}

TEST_F(CredentialProxy, DecryptsNoOtherHost) {
  server_identity = make_identity("other.test", &authority);
  EgressWorld world = with({credential(at)});
  TlsPeer client = TlsPeer::connect(world.tunnel("other.test:" + port), "other.test", authority.pem());
  ASSERT_TRUE(client.is_open()) << client.fault();
  EXPECT_EQ(client.certificate(), server_identity.pem());
  client.send("GET / HTTP/1.1\r\n\r\n");
  EXPECT_THAT(client.read_all(), HasSubstr("GET / HTTP/1.1\r\n\r\n"));
  EXPECT_THAT(heads.at(0), Not(HasSubstr(kKey)));
  EgressWorld without = with({});
  EXPECT_EQ(without.proxy->root_pem(), "");
}

TEST_F(CredentialProxy, RefusesRequestsThatLieWithinTls) {
  EgressWorld world = with({credential(at)});
  const std::string line = "POST /x HTTP/1.1\r\n";
  const std::string host = "Host: " + at + "\r\n";
  const std::pair<std::string, EgressReason> rows[] = {{line + "Host: other.test:" + port + "\r\n\r\n", host_differs},
      {line + "Host: api.test\r\n\r\n", host_differs}, {line + host + host + "\r\n", bad_request},
      {line + host + "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", bad_request},
      {line + host + "X: y\r\n folded\r\n\r\n", bad_request},
      {"GET https://" + at + "/ HTTP/1.1\r\n" + host + "\r\n", bad_request},
      {"CONNECT " + at + " HTTP/1.1\r\n" + host + "\r\n", bad_request},
      {line + host + "Upgrade: h3\r\nConnection: upgrade\r\n\r\n", bad_request},
      {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", bad_request}};
  for (const auto& [request, reason] : rows) {
    EXPECT_THAT(ask(world, request), StartsWith(reason == host_differs ? "HTTP/1.1 403 " : "HTTP/1.1 400 ")) << request;
    EXPECT_EQ(world.decision().reason, reason) << request;
  }
  EXPECT_TRUE(heads.empty());
  // One request goes; what comes behind it is nobody's.
  EXPECT_THAT(ask(world, get() + "GET /second HTTP/1.1\r\nHost: evil\r\n\r\n"), Not(HasSubstr("second")));
  EXPECT_EQ(heads.size(), 1u);
}

TEST_F(CredentialProxy, RefusesOtherNamesAndWhatIsNotTls) {
  EgressWorld world = with({credential(at)});
  EXPECT_FALSE(TlsPeer::connect(world.tunnel(at), "other.test", "").is_open());
  EXPECT_EQ(world.decision().reason, server_name_differs);
  const Peer plain = world.tunnel(at);
  plain.send("GET / HTTP/1.1\r\nHost: " + at + "\r\n\r\n");
  EXPECT_THAT(plain.read_all(), Not(HasSubstr("HTTP")));
  EXPECT_EQ(world.decision().reason, not_tls);
  EXPECT_THAT(world.ask(fmt::format("GET http://{0}/ HTTP/1.1\r\nHost: {0}\r\n\r\n", at)), StartsWith("HTTP/1.1 403 "));
  EXPECT_EQ(world.decision().reason, not_tls);
  // Who asks for nothing but HTTP/2, or doesn't trust the authority, gets no connection.
  EXPECT_FALSE(TlsPeer::connect(world.tunnel(at), "api.test", "", "h2").is_open());
  EXPECT_EQ(world.decision().reason, bad_tls);
  EXPECT_FALSE(TlsPeer::connect(world.tunnel(at), "api.test", authority.pem()).is_open());
  EXPECT_EQ(world.decision().reason, bad_tls);
  EXPECT_TRUE(heads.empty());
}

TEST_F(CredentialProxy, KeepsTheKeysOfTwoProxiesApart) {
  EgressWorld first = with({credential(at, "X-Api-Key", "first-key-1")});
  EgressWorld second = with({credential(at, "X-Api-Key", "second-key-2")});
  ask(first, get());
  ask(second, get());
  EXPECT_THAT(heads.at(0), AllOf(HasSubstr("first-key-1"), Not(HasSubstr("second-key-2"))));
  EXPECT_THAT(heads.at(1), AllOf(HasSubstr("second-key-2"), Not(HasSubstr("first-key-1"))));
  EXPECT_NE(first.proxy->root_pem(), second.proxy->root_pem());
  EXPECT_FALSE(TlsPeer::connect(second.tunnel(at), "api.test", first.proxy->root_pem()).is_open());
}

// Answers key-number-1, key-number-2 and so on.
struct Reader {
  std::atomic<int> reads = 0;
  std::atomic<bool> fails = false;
  std::mutex busy;

  EgressCredential credential(const std::string& host) {
    auto read = [this](const CancelToken&) -> Result<std::string> {
      const std::unique_lock alone(busy, std::try_to_lock);
      EXPECT_TRUE(alone) << "read twice at once";
      if (reads > 0) std::this_thread::sleep_for(milliseconds(100));
      const int number = ++reads;
      if (fails) return Error(ErrorCode::file_not_found, "gone");
      return "key-number-" + std::to_string(number);
    };
    EgressCredential made = EgressCredential::create(host, "X-Api-Key", "", read, milliseconds(1)).value();
    EXPECT_TRUE(load(made));
    std::this_thread::sleep_for(milliseconds(5));
    return made;
  }
};

TEST_F(CredentialProxy, ReadsAnOldValueAgainOrRefuses) {
  Reader reader;
  answer = [](TlsPeer& peer, const std::string& head) { peer.send("HTTP/1.1 200 OK\r\n\r\nkey-number-1 " + head); };
  EgressWorld world = with({reader.credential(at)});
  EXPECT_THAT(ask(world, get()), AllOf(StartsWith("HTTP/1.1 200 "), Not(HasSubstr("key-number"))));
  EXPECT_THAT(heads.at(0), HasSubstr("X-Api-Key: key-number-2\r\n"));
  world.decision();
  reader.fails = true;
  std::this_thread::sleep_for(milliseconds(5));
  // Who asks again and again doesn't make guard read again and again.
  for (int i = 0; i < 5; ++i) {
    EXPECT_THAT(ask(world, get()), AllOf(StartsWith("HTTP/1.1 502 "), Not(HasSubstr("gone"))));
    EXPECT_EQ(world.decision().reason, no_credential);
  }
  EXPECT_EQ(reader.reads, 3);
  EXPECT_EQ(heads.size(), 1u);
}

TEST_F(CredentialProxy, ReadsAnOldValueOnceForAllThatWait) {
  Reader reader;
  EgressCredential made = reader.credential(at);
  made.lifetime = std::chrono::hours(1);
  made.read_at -= std::chrono::hours(2);
  EgressWorld world = with({made});
  std::vector<std::thread> clients;
  for (int i = 0; i < 6; ++i)
    clients.emplace_back([&] { EXPECT_THAT(ask(world, get()), StartsWith("HTTP/1.1 200 ")); });
  for (std::thread& one : clients) one.join();
  EXPECT_EQ(reader.reads, 2);
  for (const std::string& head : heads) EXPECT_THAT(head, HasSubstr("X-Api-Key: key-number-2\r\n"));
}

TEST_F(CredentialProxy, StopsReadingWhenItEnds) {
  std::promise<void> reading;
  std::atomic<bool> stopped = false;
  const auto read = [&](const CancelToken& stop) -> Result<std::string> {
    reading.set_value();
    pollfd wanted{stop.fd(), POLLIN, 0};
    stopped = ::poll(&wanted, 1, 20'000) > 0;
    return Error(ErrorCode::cancelled, "stopped");
  };
  EgressCredential made = credential(at);
  made.read = read;
  made.lifetime = milliseconds(1);
  auto world = std::make_unique<EgressWorld>(
      std::vector{at, listed}, std::vector<std::string>(), EgressLimits(), options(), std::vector{made});
  std::this_thread::sleep_for(milliseconds(5));
  const TlsPeer client = open(*world);
  client.send(get());
  reading.get_future().wait();
  world.reset();
  EXPECT_TRUE(stopped);
}

// An answer that began before a key was read is masked for it, and one that goes on still for the key it began with.
TEST_F(CredentialProxy, MasksRunningAnswersForKeysThatCameLater) {
  Reader reader;
  std::promise<void> renewed;
  std::atomic<int> requests = 0;
  answer = [&](TlsPeer& peer, const std::string&) {
    if (++requests > 1) return static_cast<void>(peer.send("HTTP/1.1 200 OK\r\n\r\n"));
    peer.send("HTTP/1.1 200 OK\r\nX: begun\r\n\r\n");
    renewed.get_future().wait();
    for (int i = 1; i <= reader.reads; ++i) peer.send(fmt::format("key-number-{}\n", i));
  };
  EgressWorld world = with({reader.credential(at)});
  TlsPeer client = open(world);
  client.send(get());
  client.read_until("\r\n\r\n");
  for (int i = 0; i < 10; ++i) {
    ask(world, get());
    std::this_thread::sleep_for(milliseconds(5));
  }
  renewed.set_value();
  const std::string text = client.read_all();
  EXPECT_EQ(reader.reads, 12);
  EXPECT_THAT(text, HasSubstr(std::string(12, '*') + "\n")) << "the key it was sent with";
  EXPECT_THAT(text, Not(HasSubstr("key-number-2\n"))) << "the key it was sent with";
  EXPECT_THAT(text, AllOf(Not(HasSubstr("key-number-6\n")), Not(HasSubstr("key-number-12\n"))));
}

// ---- floods of TLS itself --------------------------------------------------------------------------------

// To each of these OpenSSL makes an answer that waits for the next write.
TEST_F(CredentialProxy, EndsAConnectionThatAsksForRenegotiations) {
  answer = [&](TlsPeer& peer, const std::string&) {
    peer.ask_for_renegotiation(20'000);
    peer.send("HTTP/1.1 200 OK\r\n\r\nxxxx");
  };
  server_newest = TlsNewest::tls12;
  EgressWorld world = with({credential(at)});
  EXPECT_THAT(ask(world, get()), Not(HasSubstr("xxxx")));
  EXPECT_EQ(world.decision().reason, broken);
}

TEST_F(CredentialProxy, SpeaksTls13AloneToTheSandbox) {
  EgressWorld world = with({credential(at)});
  EXPECT_FALSE(
      TlsPeer::connect(world.tunnel(at), "api.test", world.proxy->root_pem(), "http/1.1", TlsNewest::tls12).is_open());
  EXPECT_EQ(world.decision().reason, bad_tls);
}

TEST_F(CredentialProxy, EndsAConnectionThatUpdatesItsKeysOverAndOver) {
  EgressWorld world = with({credential(at)});
  for (const int times : {9, 20'000}) {
    TlsPeer client = open(world);
    client.update_keys(times);
    client.send(get());
    EXPECT_EQ(client.read_all().starts_with("HTTP/1.1 200 "), times == 9);
  }
}

TEST_F(CredentialProxy, NeedsAListOfAuthorities) {
  for (const char* text : {"", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"}) {
    EgressOptions made = options();
    std::ofstream(roots) << text;
    const auto proxy = EgressProxy::create({{}, {}, {credential(at)}}, made, [](const EgressDecision&) {});
    ASSERT_FALSE(proxy) << text;
    EXPECT_EQ(proxy.error().code(), ErrorCode::config_invalid);
  }
  EgressOptions made = options();
  made.authorities = "/nonexistent.pem";
  EXPECT_FALSE(EgressProxy::create({{}, {}, {credential(at)}}, made, [](const EgressDecision&) {}));
  made = options();
  auto unread = EgressCredential::create(at, "X-Key", "", always("unread-key")).value();
  EXPECT_FALSE(EgressProxy::create({{}, {}, {unread}}, made, [](const EgressDecision&) {}));
}

}  // namespace
}  // namespace guard
