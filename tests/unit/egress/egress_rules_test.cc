#include "egress/egress_rules.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using ::testing::HasSubstr;

EgressRules rules(const std::vector<std::string>& allow, const std::vector<std::string>& deny = {}) {
  auto made = EgressRules::create(allow, deny);
  EXPECT_TRUE(made) << made.error().to_string();
  return made.value_or(EgressRules());
}

EgressAnswer ask(const EgressRules& list, const std::string& target) {
  const auto parsed = EgressTarget::parse(target);
  EXPECT_TRUE(parsed) << target;
  return list.judge(parsed.value_or(EgressTarget()));
}

constexpr auto kAllowed = EgressAnswer::allowed;
constexpr auto kNotListed = EgressAnswer::not_listed;
constexpr auto kDenied = EgressAnswer::denied;

TEST(EgressRules, AllowNothingUnlessListed) {
  EXPECT_EQ(ask(EgressRules(), "api.example.com:443"), kNotListed);
  const EgressRules list = rules({"api.example.com", "db.example.com:5432", "192.0.2.7", "[2001:db8::7]:8080"});
  for (const char* target : {"api.example.com:443", "api.example.com:80", "API.Example.COM.:443", "db.example.com:5432",
           "192.0.2.7:443", "192.0.2.7:80", "[2001:db8::7]:8080", "[2001:DB8:0:0::7]:8080"}) {
    EXPECT_EQ(ask(list, target), kAllowed) << target;
  }
  for (const char* target : {"api.example.com:8443", "example.com:443", "x.api.example.com:443", "db.example.com:443",
           "xapi.example.com:443", "api.example.com.evil.test:443", "192.0.2.8:443", "192.0.2.7:22",
           "[2001:db8::7]:443", "[::ffff:192.0.2.7]:443"}) {
    EXPECT_EQ(ask(list, target), kNotListed) << target;
  }
}

TEST(EgressRules, MatchWhatLiesBelowAHostAndNotItself) {
  const EgressRules list = rules({"*.example.com:443", "*.0.test"});
  EXPECT_EQ(ask(list, "a.example.com:443"), kAllowed);
  EXPECT_EQ(ask(list, "a.b.example.com:443"), kAllowed);
  EXPECT_EQ(ask(list, "example.com:443"), kNotListed);
  EXPECT_EQ(ask(list, "aexample.com:443"), kNotListed);
  EXPECT_EQ(ask(list, "a.example.com:80"), kNotListed);
  EXPECT_EQ(ask(list, "192.0.2.1:443"), kNotListed);
}

TEST(EgressRules, LetADenialWin) {
  const EgressRules list = rules({"*.example.com", "api.example.com:8080", "192.0.2.7"},
      {"api.example.com", "*.secret.example.com:443", "192.0.2.7:80"});
  EXPECT_EQ(ask(list, "www.example.com:443"), kAllowed);
  EXPECT_EQ(ask(list, "api.example.com:443"), kDenied);
  EXPECT_EQ(ask(list, "api.example.com:8080"), kDenied);  // without a port it denies all
  EXPECT_EQ(ask(list, "api.example.com:22"), kDenied);
  EXPECT_EQ(ask(list, "x.secret.example.com:443"), kDenied);
  EXPECT_EQ(ask(list, "x.secret.example.com:80"), kAllowed);
  EXPECT_EQ(ask(list, "192.0.2.7:80"), kDenied);
  EXPECT_EQ(ask(list, "192.0.2.7:443"), kAllowed);
}

TEST(EgressRules, DialPrivateAddressesOnlyWhereListed) {
  const EgressRules list = rules({"*.example.com", "10.0.0.7:5432", "[::1]:8080"}, {"8.8.8.8", "10.0.0.9"});
  const auto may = [&](const char* address, std::uint16_t port) {
    return list.may_dial(*IpAddress::parse(address), port);
  };
  EXPECT_TRUE(may("9.9.9.9", 443));
  EXPECT_TRUE(may("10.0.0.7", 5432));
  EXPECT_TRUE(may("::1", 8080));
  EXPECT_FALSE(may("10.0.0.7", 443));
  EXPECT_FALSE(may("10.0.0.8", 5432));
  EXPECT_FALSE(may("::ffff:10.0.0.7", 5432));
  EXPECT_FALSE(may("127.0.0.1", 8080));
  EXPECT_FALSE(may("8.8.8.8", 443));
  EXPECT_FALSE(may("64:ff9b::8.8.8.8", 443));
  EXPECT_TRUE(may("64:ff9b::8.8.4.4", 443));
  EXPECT_FALSE(may("64:ff9b::10.0.0.7", 5432));
}

struct Refused {
  std::string rule;
  std::string hint;
};

TEST(EgressRules, SayWhatIsWrongWithARule) {
  const Refused rows[] = {
      {"*", "*.example.com"},
      {"*.", "*.example.com"},
      {"*:443", "*.example.com"},
      {"", "name a host"},
      {".", "name a host"},
      {"a..b", "name a host"},
      {"a.*.com", "write *.example.com"},
      {"*example.com", "write *.example.com"},
      {"**.example.com", "write *.example.com"},
      {"https://example.com", "without scheme"},
      {"example.com/path", "without scheme"},
      {"user@example.com", "without scheme"},
      {"10.0.0.0/8", "one by one"},
      {"*.10.0.0.1", "one by one"},
      {"example.com:", "from 1 to 65535"},
      {"example.com:0", "from 1 to 65535"},
      {"example.com:65536", "from 1 to 65535"},
      {"example.com:+80", "from 1 to 65535"},
      {"example.com:080", "from 1 to 65535"},
      {"example.com:*", "from 1 to 65535"},
      {"::1", "brackets"},
      {"2001:db8::1", "brackets"},
      {"[::1", "[2001:db8::1]"},
      {"[fe80::1%eth0]:80", "[2001:db8::1]"},
      {"[127.0.0.1]", "[2001:db8::1]"},
      {"b\xc3\xbc"
       "cher.example",
          "xn--"},
      {"2130706433", "four decimal"},
      {"0x7f.1", "four decimal"},
      {"0x7f000001", "four decimal"},
      {"0X7F.0.0.1", "four decimal"},
      {"127.1", "four decimal"},
      {"0177.0.0.1", "four decimal"},
      {"127.0.0.1.", "four decimal"},
      {"1.2.3.4.5", "four decimal"},
      {"example.0x", "four decimal"},
      {"-a.com", "name a host"},
      {"a-.com", "name a host"},
      {"a b", "name a host"},
      {std::string("a\0b", 3), "name a host"},
      {std::string(64, 'a') + ".com", "name a host"},
      {"0.0.0.0:80", "name a host"},
      {"224.0.0.1", "name a host"},
      {"255.255.255.255", "name a host"},
      {"@nothing", "@npm"},
  };
  for (const Refused& row : rows) {
    const auto made = EgressRules::create({row.rule}, {});
    ASSERT_FALSE(made) << row.rule;
    EXPECT_EQ(made.error().code(), ErrorCode::config_invalid) << row.rule;
    EXPECT_THAT(made.error().hint(), HasSubstr(row.hint)) << row.rule;
    EXPECT_FALSE(EgressRules::create({}, {row.rule})) << row.rule;
  }
  EXPECT_TRUE(EgressRules::create({"xn--bcher-kva.example", "_srv.example", "1.example", "0x.example"}, {}));
}

TEST(EgressRules, ReadTheirOwnText) {
  for (const char* text : {"api.example.com", "*.example.com:443", "10.0.0.7:5432", "[2001:db8::7]:80", "[::1]"}) {
    const auto rule = EgressRule::parse(text);
    ASSERT_TRUE(rule) << text;
    EXPECT_EQ(rule->text(), text);
  }
}

TEST(EgressRules, KnowPresets) {
  ASSERT_FALSE(egress_presets().empty());
  for (const EgressPreset& preset : egress_presets()) {
    EXPECT_TRUE(preset.name.starts_with('@'));
    EXPECT_FALSE(preset.hosts.empty()) << preset.name;
    EXPECT_TRUE(EgressRules::create({preset.name}, {})) << preset.name;
  }
  const EgressRules npm = rules({"@npm", "example.com"});
  EXPECT_EQ(ask(npm, "registry.npmjs.org:443"), kAllowed);
  EXPECT_EQ(ask(npm, "registry.npmjs.org:80"), kNotListed);
  EXPECT_EQ(ask(npm, "example.com:443"), kAllowed);
  EXPECT_FALSE(EgressRules::create({}, {"@npm"}));
}

TEST(EgressRules, NarrowAndNeverWiden) {
  const EgressRules trusted = rules({"*.example.com", "api.test:8080", "10.0.0.7:5432"}, {"secret.example.com"});
  struct Row {
    std::vector<std::string> wanted;
    bool covered;
  };
  const Row rows[] = {
      {{}, true},
      {{"a.example.com"}, true},
      {{"*.example.com:443", "api.test:8080", "10.0.0.7:5432"}, true},
      {{"*.a.example.com:80"}, true},
      {{"example.com"}, false},
      {{"*.com"}, false},
      {{"*.test:8080"}, false},
      {{"*.api.test:8080"}, false},
      {{"*.xexample.com"}, false},
      {{"a.example.com:8443"}, false},
      {{"api.test"}, false},
      {{"10.0.0.7"}, false},
      {{"10.0.0.8:5432"}, false},
      {{"a.example.com", "evil.test"}, false},
  };
  for (const Row& row : rows) {
    const auto narrowed = trusted.narrowed(rules(row.wanted));
    EXPECT_EQ(narrowed.has_value(), row.covered) << (row.wanted.empty() ? "" : row.wanted.back());
    if (!narrowed) {
      EXPECT_EQ(narrowed.error().code(), ErrorCode::config_invalid);
    }
  }
  const auto narrowed = trusted.narrowed(rules({"*.example.com:443"}, {"other.example.com"}));
  ASSERT_TRUE(narrowed);
  EXPECT_EQ(ask(*narrowed, "a.example.com:443"), kAllowed);
  EXPECT_EQ(ask(*narrowed, "a.example.com:80"), kNotListed);
  EXPECT_EQ(ask(*narrowed, "secret.example.com:443"), kDenied);
  EXPECT_EQ(ask(*narrowed, "other.example.com:443"), kDenied);
  EXPECT_FALSE(narrowed->may_dial(*IpAddress::parse("10.0.0.7"), 5432));
}

// The law behind narrowed(): over a small world of rules and targets, what comes of it allows nothing that one of the
// two doesn't.
TEST(EgressRules, NarrowToTheIntersectionAtMost) {
  const std::vector<std::string> texts = {
      "a.test", "*.test:443", "*.a.test", "b.a.test:80", "test:443", "192.0.2.1:80", "*.b.a.test"};
  const std::vector<std::string> hosts = {"test", "a.test", "b.a.test", "c.b.a.test", "xa.test", "192.0.2.1"};
  int narrowed_ones = 0;
  for (unsigned trusted = 0; trusted < 128; ++trusted) {
    for (unsigned wanted = 0; wanted < 128; ++wanted) {
      std::vector<std::string> first, second;
      for (unsigned i = 0; i < texts.size(); ++i) {
        if ((trusted >> i & 1) != 0) first.push_back(texts[i]);
        if ((wanted >> i & 1) != 0) second.push_back(texts[i]);
      }
      const EgressRules mine = rules(first, {texts[trusted % texts.size()]});
      const auto both = mine.narrowed(rules(second));
      if (!both) continue;
      ++narrowed_ones;
      for (const std::string& host : hosts) {
        for (const std::uint16_t port : std::initializer_list<std::uint16_t>{80, 443, 22}) {
          const EgressTarget target{*EgressHost::parse(host), port};
          if (both->judge(target) == kAllowed) {
            ASSERT_TRUE(mine.judge(target) == kAllowed && rules(second).judge(target) == kAllowed) << target.text();
          }
        }
      }
    }
  }
  EXPECT_GT(narrowed_ones, 500);
}

}  // namespace
}  // namespace guard
