// Addresses are shown without the password in them, also where its '@' was forgotten or escaped.
#include <gtest/gtest.h>

#include "common/text/text.h"

namespace guard::test {
namespace {

TEST(Userinfo, PasswordIsHiddenWithoutItsSign) {
  const std::string hidden = "tcp://[REDACTED:url-userinfo]";
  for (const char* address : {"tcp://user:Kq7pw", "tcp://user:Kq7pw%40host:2375", "tcp://:Kq7pw", "tcp://user:12x34"}) {
    EXPECT_EQ(url_without_userinfo(address), hidden) << address;
    EXPECT_EQ(without_userinfo(std::string("can't use ") + address + " now"), "can't use " + hidden + " now");
  }
  EXPECT_EQ(url_without_userinfo("user:Kq7pw"), "[REDACTED:url-userinfo]");
  EXPECT_EQ(url_without_userinfo("tcp://user:Kq7@pw@host:1/x"), hidden + "@host:1/x");
}

TEST(Userinfo, HostsAndPortsStay) {
  for (const char* address : {"tcp://host:2375", "tcp://[::1]:2375", "tcp://host", "unix:///var/run/docker.sock",
           "https://h:1/a:b", "/path:x"}) {
    EXPECT_EQ(url_without_userinfo(address), address);
    EXPECT_EQ(without_userinfo(address), address);
  }
}

}  // namespace
}  // namespace guard::test
