#include "docker/endpoint.h"

#include <gtest/gtest.h>

namespace guard::docker {
namespace {

TEST(Endpoint, ReadsSocketsAndAddresses) {
  const auto socket = parse_endpoint("unix:///run/x.sock", {});
  ASSERT_TRUE(socket);
  EXPECT_EQ(*socket, Endpoint("/run/x.sock"));
  EXPECT_FALSE(socket->is_remote());
  EXPECT_EQ(socket->url(), "unix:///run/x.sock");
  EXPECT_EQ(socket->name(), "/run/x.sock");
  const auto tcp = parse_endpoint("tcp://engine.example:4000/", {});
  ASSERT_TRUE(tcp);
  EXPECT_TRUE(tcp->is_remote());
  EXPECT_EQ(tcp->host, "engine.example");
  EXPECT_EQ(tcp->port, 4000);
  EXPECT_EQ(tcp->url(), "tcp://engine.example:4000");
  const auto v6 = parse_endpoint("tcp://[::1]:2375", {});
  ASSERT_TRUE(v6);
  EXPECT_EQ(v6->host, "::1");
  EXPECT_EQ(v6->url(), "tcp://[::1]:2375");
}

TEST(Endpoint, TakesDockersOwnPorts) {
  EXPECT_EQ(parse_endpoint("tcp://engine.example", {})->port, 2375);
  const auto tls = parse_endpoint("tcp://engine.example", TlsFiles{"/ca.pem", "", ""});
  ASSERT_TRUE(tls);
  EXPECT_EQ(tls->port, 2376);
  EXPECT_TRUE(tls->tls.has_value());
}

// A socket of this machine needs none, and TLS for another engine says nothing of it.
TEST(Endpoint, ALocalSocketHasNoTls) {
  EXPECT_FALSE(parse_endpoint("unix:///x", TlsFiles{"/ca.pem", "", ""})->tls.has_value());
}

TEST(Endpoint, RefusesEverythingElse) {
  for (const char* url : {"", "/var/run/docker.sock", "unix://", "unix://relative", "ssh://me@host", "http://host:1",
           "https://host:1", "npipe:////./pipe/x", "tcp://", "tcp://:1", "tcp://host:", "tcp://host:0",
           "tcp://host:65536", "tcp://host:1x", "tcp://host:-1", "tcp://host:1/base", "tcp://me@host:1",
           "tcp://host:1:2", "tcp://[::1", "tcp://[host]:1", "tcp://[::1]x", "tcp://ho st:1", "tcp://-host:1",
           "tcp://host\r\nX: y:1", "tcp://::1:1", "TCP://host:1"}) {
    EXPECT_FALSE(parse_endpoint(url, {})) << url;
  }
}

TEST(Endpoint, ARefusalNamesNoPassword) {
  for (const char* url : {"tcp://user:hunter2hunter2@host:1", "tcp://user:hunter2hunter2@host",
           "TCP://user:hunter2hunter2@host", "ssh://user:hunter2hunter2@host", "https://hunter2hunter2@host/x",
           "tcp:/user:hunter2hunter2@host", "user:hunter2hunter2@host", "tcp://user:a@hunter2hunter2@host",
           "tcp://user:a/hunter2hunter2@host", "user:hunter2hunter2://x@host", "unix://user:hunter2hunter2@host"}) {
    const auto endpoint = parse_endpoint(url, {});
    ASSERT_FALSE(endpoint) << url;
    EXPECT_EQ(endpoint.error().message().find("hunter2"), std::string::npos) << endpoint.error().message();
    EXPECT_NE(endpoint.error().message().find("[REDACTED:url-userinfo]@"), std::string::npos)
        << endpoint.error().message();
  }
}

TEST(Endpoint, KnowsWhatNeverLeavesThisMachine) {
  for (const char* url :
      {"unix:///x", "tcp://localhost:1", "tcp://127.0.0.1:1", "tcp://127.9.8.7:1", "tcp://[::1]:1"}) {
    EXPECT_TRUE(parse_endpoint(url, {})->is_loopback()) << url;
  }
  for (const char* url :
      {"tcp://localhost.example:1", "tcp://127.0.0.1.example:1", "tcp://10.0.0.1:1", "tcp://0.0.0.0:1", "tcp://[::]:1",
          "tcp://[::ffff:127.0.0.1]:1", "tcp://2130706433:1", "tcp://127.1:1", "tcp://0x7f.0.0.1:1"}) {
    EXPECT_FALSE(parse_endpoint(url, {})->is_loopback()) << url;
  }
}

}  // namespace
}  // namespace guard::docker
