#include "rules/matching/regex_dialect.h"

#include <gtest/gtest.h>

#include <array>

namespace guard {
namespace {

std::string rewritten(std::string regex) {
  RegexFault fault;
  return rewrite_regex(regex, fault) ? regex : "fault at " + std::to_string(fault.offset) + ": " + fault.sentence;
}

TEST(RegexDialect, RewritesWhatTheEnginesReadDifferently) {
  EXPECT_EQ(rewritten(R"(a\sb)"), R"(a[\t\n\x0b\f\r\x20]b)");
  EXPECT_EQ(rewritten(R"([\s,])"), R"([\t\n\x0b\f\r\x20,])");
  EXPECT_EQ(rewritten(R"(\S)"), R"([^\t\n\x0b\f\r\x20])");
  EXPECT_EQ(rewritten(R"([\S])"), R"([\x00-\x08\x0e-\x1f\x21-\xff])");
  EXPECT_EQ(rewritten("a$"), R"(a\z)");
  EXPECT_EQ(rewritten("(?m)a$"), "(?m)a$");
  EXPECT_EQ(rewritten("(?:(?m)a$)b$"), R"((?:(?m)a$)b\z)");
  EXPECT_EQ(rewritten("(?m:a$|(?-m:b$))$"), R"((?m:a$|(?-m:b\z))\z)");
  EXPECT_EQ(rewritten(R"(\v\x{7}\xAB)"), R"(\x0b\x07\xab)");
  EXPECT_EQ(rewritten("a{b}{2}{1,}{3,4}"), R"(a\{b\}{2}{1,}{3,4})");
  EXPECT_EQ(rewritten("[]a[^-]x]"), R"([\]a\[\^\-]x\])");
  EXPECT_EQ(rewritten("[^]a]"), R"([^\]a])");
}

TEST(RegexDialect, LeavesItsOwnOutputAlone) {
  for (const char* regex :
      {R"(a\s[\s\S]\S$)", R"((?i)[\s\S])", R"(x{y}{2}[]\-a-z^[])", R"((?im)^\x41(?-i:\xe9)$)", R"([\x80-\xff\v])"}) {
    const std::string once = rewritten(regex);
    EXPECT_EQ(rewritten(once), once) << regex;
  }
}

TEST(RegexDialect, RefusesWithThePlace) {
  const auto place = [](std::string regex) -> std::size_t {
    RegexFault fault;
    const std::string before = regex;
    EXPECT_FALSE(rewrite_regex(regex, fault)) << regex;
    EXPECT_EQ(regex, before);
    EXPECT_FALSE(fault.sentence.empty());
    return fault.offset;
  };
  EXPECT_EQ(place(""), 0u);
  EXPECT_EQ(place("ab\xc3\xa9"), 2u);
  EXPECT_EQ(place("a(?=b)"), 1u);
  EXPECT_EQ(place("a(?<!b)"), 1u);
  EXPECT_EQ(place("a(?>b)"), 1u);
  EXPECT_EQ(place("a(?x)b"), 1u);
  EXPECT_EQ(place("(*UTF8)a"), 0u);
  EXPECT_EQ(place(R"((a)\1)"), 3u);
  EXPECT_EQ(place(R"(\012)"), 0u);
  EXPECT_EQ(place(R"(a\pL)"), 1u);
  EXPECT_EQ(place(R"(a\Qb\E)"), 1u);
  EXPECT_EQ(place(R"(a\C)"), 1u);
  EXPECT_EQ(place(R"(a\Z)"), 1u);
  EXPECT_EQ(place(R"(\x{100})"), 0u);
  EXPECT_EQ(place(R"(\x{1000000000000000000})"), 0u);
  EXPECT_EQ(place(R"(\xg0)"), 0u);
  EXPECT_EQ(place(R"(a{,3})"), 1u);
  EXPECT_EQ(place("a[[:alpha:]]"), 2u);
  EXPECT_EQ(place("a[bc"), 1u);
  EXPECT_EQ(place(R"([\w-z])"), 1u);
  EXPECT_EQ(place(R"([a-\w])"), 1u);
  EXPECT_EQ(place(R"([\b])"), 1u);
  EXPECT_EQ(place(R"((?i)\xe9)"), 4u);
  EXPECT_EQ(place(R"((?i)[\xe0-\xef])"), 5u);
  EXPECT_EQ(place("a\\"), 1u);
  EXPECT_EQ(place(std::string("a\0b", 3)), 1u);
}

TEST(RegexDialect, KnowsHowLongAMatchCanBe) {
  const auto bytes_max = [](const char* regex) {
    Pattern pattern;
    pattern.regex = regex;
    RegexFault fault;
    EXPECT_TRUE(check_pattern(pattern, fault)) << fault.sentence;
    return pattern.bytes_max;
  };
  EXPECT_EQ(bytes_max("abc"), 3u);
  EXPECT_EQ(bytes_max(R"(\ba{2,5}\b)"), 5u);
  EXPECT_EQ(bytes_max("a+"), Pattern::kUnbounded);
}

TEST(RegexDialect, RefusesWhatEitherEngineRefuses) {
  const auto refused = [](std::string regex) {
    Pattern pattern;
    pattern.regex = std::move(regex);
    RegexFault fault;
    return !check_pattern(pattern, fault) && !fault.sentence.empty();
  };
  EXPECT_TRUE(refused("a{1001}"));                            // RE2's limit
  EXPECT_TRUE(refused("a**"));                                // RE2
  EXPECT_TRUE(refused("a)"));                                 // both
  EXPECT_TRUE(refused("foo^bar"));                            // Hyperscan: can never match
  EXPECT_TRUE(refused("x*"));                                 // empty
  EXPECT_TRUE(refused("()()()()()()()()()()()()()()()()a"));  // more groups than captures are taken for
}

}  // namespace
}  // namespace guard
