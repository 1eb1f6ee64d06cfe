#include "serve/e2b/network.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::serve::e2b {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;

enum class Internet { yes, no };

NetworkAsked asked(const char* network, Internet internet = Internet::yes) {
  auto found = network_asked(json::parse(network), internet == Internet::yes);
  EXPECT_TRUE(found) << found.error().to_string();
  return found.value_or(NetworkAsked());
}

TEST(E2bNetwork, IsAllThatTheServerAllowsUnlessSomethingIsListed) {
  for (const char* all : {"null", "{}", R"({"allowOut": null, "rules": {}, "allowPublicTraffic": false})",
           R"({"allowOut": ["0.0.0.0/0"], "denyOut": ["0.0.0.0/0"]})", R"({"allowOut": ["a.test", "0.0.0.0/0"]})"})
    EXPECT_EQ(asked(all).allow, std::nullopt) << all;
  EXPECT_EQ(asked(R"({"allowOut": ["0.0.0.0/0"]})", Internet::no).allow, std::nullopt);
  EXPECT_THAT(
      asked(R"({"allowOut": ["a.test", "*.b.test", "8.8.8.8", "8.8.4.4/32", "2001:db8::1", "2001:db8::2/128"]})").allow,
      Optional(ElementsAre("a.test", "*.b.test", "8.8.8.8", "8.8.4.4", "[2001:db8::1]", "[2001:db8::2]")));
  const auto both = asked(R"({"allowOut": ["a.test"], "denyOut": ["0.0.0.0/0", "8.8.8.8", "c.test"]})");
  EXPECT_THAT(both.allow, Optional(ElementsAre("a.test")));
  EXPECT_THAT(both.deny, ElementsAre("8.8.8.8", "c.test"));
}

TEST(E2bNetwork, IsNoneWhereAllIsDenied) {
  for (const char* none : {R"({"denyOut": ["0.0.0.0/0"]})", R"({"allowOut": []})"})
    EXPECT_THAT(asked(none).allow, Optional(IsEmpty())) << none;
  EXPECT_THAT(asked("null", Internet::no).allow, Optional(IsEmpty()));
}

TEST(E2bNetwork, IsRefusedWhereItCannotBeHadAsItIsAskedFor) {
  for (const char* range : {R"({"allowOut": ["8.8.8.0/24"]})", R"({"denyOut": ["10.0.0.0/8"]})",
           R"({"allowOut": ["::/0"]})", R"({"allowOut": ["0.0.0.0/00"]})", R"({"denyOut": ["a.test/32"]})",
           R"({"denyOut": ["2001:db8::1/32"]})", R"({"allowOut": ["8.8.8.8/128"]})", R"({"allowOut": ["/"]})"}) {
    const auto refused = network_asked(json::parse(range), true);
    ASSERT_FALSE(refused) << range;
    EXPECT_EQ(refused.error().code(), ErrorCode::input_invalid);
    EXPECT_THAT(refused.error().message(), HasSubstr("list addresses one by one")) << range;
  }
  for (const char* unsupported : {R"({"rules": {"a.test": []}})", R"({"egressProxy": {"address": "a.test:1"}})",
           R"({"allowPublicTraffic": true})", R"({"maskRequestHost": "a.test"})", R"({"httpsPorts": [1]})"}) {
    const auto refused = network_asked(json::parse(unsupported), true);
    ASSERT_FALSE(refused) << unsupported;
    EXPECT_TRUE(refused.error().details().contains("unsupported")) << unsupported;
  }
  std::string many = R"({"allowOut": ["a.test")";
  for (int i = 0; i < 500; ++i) many += ", \"a.test\"";
  for (const std::string& wrong : {std::string("[]"), std::string("\"a\""), std::string(R"({"allowOut": "a.test"})"),
           std::string(R"({"denyOut": [1]})"), many + "]}"})
    EXPECT_FALSE(network_asked(json::parse(wrong), true)) << wrong;
}

}  // namespace
}  // namespace guard::serve::e2b
