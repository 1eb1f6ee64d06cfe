#include "egress/socks_request.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

std::string bytes(std::initializer_list<int> all) {
  std::string out;
  for (const int one : all) out += static_cast<char>(one);
  return out;
}

std::string asking_for(const std::string& name, int command = 1) {
  return bytes({5, command, 0, 3, static_cast<int>(name.size())}) + name + bytes({1, 187});
}

TEST(SocksRequest, GreetsWithoutAuthentication) {
  EXPECT_EQ(read_socks_greeting(bytes({5})).size, 0u);
  EXPECT_EQ(read_socks_greeting(bytes({5, 2, 0})).size, 0u);
  EXPECT_EQ(read_socks_greeting(bytes({5, 2, 2, 0, 5})).size, 4u);
  EXPECT_TRUE(read_socks_greeting(bytes({5, 2, 2, 0})).acceptable);
  EXPECT_FALSE(read_socks_greeting(bytes({5, 1, 2})).acceptable);
  EXPECT_FALSE(read_socks_greeting(bytes({5, 0})).acceptable);
}

TEST(SocksRequest, NamesItsTarget) {
  const std::pair<std::string, std::string> rows[] = {
      {asking_for("API.example.com"), "api.example.com:443"},
      {asking_for("192.0.2.7"), "192.0.2.7:443"},
      {bytes({5, 1, 0, 1, 192, 0, 2, 7, 0, 22}), "192.0.2.7:22"},
      {bytes({5, 1, 0, 4, 0x20, 1, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 22}), "[2001:db8::7]:22"},
  };
  for (const auto& [text, target] : rows) {
    for (std::size_t size = 0; size < text.size(); ++size)
      ASSERT_EQ(read_socks_request(std::span(text).first(size)).size, 0u) << target << size;
    const SocksRequest request = read_socks_request(text + "more");
    EXPECT_EQ(request.size, text.size());
    EXPECT_EQ(request.fault, SocksReply::succeeded) << request.fault_text;
    EXPECT_EQ(request.target.text(), target);
  }
}

TEST(SocksRequest, RefusesWithTheRightCode) {
  EXPECT_EQ(read_socks_request(asking_for("a.test", 2)).fault, SocksReply::no_such_command);  // BIND
  EXPECT_EQ(read_socks_request(asking_for("a.test", 3)).fault, SocksReply::no_such_command);  // UDP ASSOCIATE
  EXPECT_EQ(read_socks_request(asking_for("a.test", 9)).fault, SocksReply::no_such_command);
  EXPECT_EQ(read_socks_request(bytes({5, 1, 0, 2, 1, 1, 1})).fault, SocksReply::no_such_address_type);
  EXPECT_EQ(read_socks_request(bytes({4, 1, 0, 1, 1, 1, 1, 1, 0, 1})).fault, SocksReply::failed);
  EXPECT_EQ(read_socks_request(bytes({5, 1, 0, 1, 1, 1, 1, 1, 0, 0})).fault, SocksReply::failed);
  for (const std::string& name : {std::string("127.1"), std::string("2130706433"), std::string("a b"),
           std::string("a\0b", 3), std::string("::1"), std::string()}) {
    EXPECT_EQ(read_socks_request(asking_for(name)).fault, SocksReply::failed) << name;
  }
  const SocksRequest malformed = read_socks_request(asking_for("\x1b[31m"));
  EXPECT_EQ(malformed.asked_host, "\\x1b[31m");
  EXPECT_EQ(malformed.asked_port, 443);
}

}  // namespace
}  // namespace guard
