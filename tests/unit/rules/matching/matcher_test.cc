#include "rules/matching/matcher.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <random>
#include <thread>

#include "common/file_io.h"
#include "tests/support/scoped_env.h"
#include "tests/support/validator/rule_texts.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct Hit {
  std::uint32_t rule;
  std::size_t begin;
  std::size_t end;
  bool operator==(const Hit& other) const = default;
};

std::ostream& operator<<(std::ostream& out, const Hit& hit) {
  return out << "{rule " << hit.rule << ", " << hit.begin << ".." << hit.end << "}";
}

// Every test of spans runs with both engines.
class MatcherSpans : public ::testing::TestWithParam<Engine> {
 protected:
  std::vector<Hit> hits(const std::vector<std::string>& regexes, std::string_view text, std::uint16_t capture = 0) {
    const RuleSet rules = set_of(regexes, capture);
    auto matcher = Matcher::create(rules, GetParam());
    EXPECT_TRUE(matcher.has_value()) << matcher.error().to_string();
    if (!matcher) return {};
    EXPECT_EQ(matcher->engine(), GetParam());
    Matcher::Scratch scratch;
    std::vector<Match> found;
    const auto scanned = matcher->scan(View::raw, text, scratch, found);
    EXPECT_TRUE(scanned.has_value()) << scanned.error().to_string();
    std::vector<Hit> out;
    std::map<std::uint32_t, std::uint32_t> counts;
    for (const Match& match : found) {
      // Only the one that stands for the rest is unconfirmed.
      EXPECT_EQ(match.confirmed, counts[match.index]++ < Matcher::kMatchesPerPatternMax);
      out.push_back({match.index, match.begin, match.end});
    }
    return out;
  }
};

INSTANTIATE_TEST_SUITE_P(Engines, MatcherSpans, ::testing::Values(Engine::hyperscan_and_re2, Engine::re2_only),
    [](const auto& chosen) { return chosen.param == Engine::re2_only ? std::string("Re2") : std::string("Both"); });

TEST_P(MatcherSpans, AreLeftmostAndLongest) {
  EXPECT_THAT(hits({"a+"}, "xaaayaa"), ElementsAre(Hit{0, 1, 4}, Hit{0, 5, 7}));
  EXPECT_THAT(hits({"abcd|bc"}, "abcd"), ElementsAre(Hit{0, 0, 4}));
  EXPECT_THAT(hits({"a.*?b"}, "a1b2b"), ElementsAre(Hit{0, 0, 5}));
  EXPECT_THAT(hits({R"(\beval\()"}, "eval(x); medieval(y)"), ElementsAre(Hit{0, 0, 5}));
}

TEST_P(MatcherSpans, FoldMatchesInsideOthersAndKeepThoseThatOverlap) {
  EXPECT_THAT(hits({"abc|b"}, "abcb"), ElementsAre(Hit{0, 0, 3}, Hit{0, 3, 4}));
  EXPECT_THAT(hits({"aba"}, "ababa"), ElementsAre(Hit{0, 0, 3}, Hit{0, 2, 5}));
}

// A pattern that wants a delimiter on both sides shares it with its neighbour: the second name must not be lost.
TEST_P(MatcherSpans, FindEveryNameOfAListWithSharedDelimiters) {
  EXPECT_THAT(hits({R"([,=]env\.(\w+)[,;])"}, "=env.CI,env.KEY,env.TZ;", 1),
      ElementsAre(Hit{0, 5, 7}, Hit{0, 12, 15}, Hit{0, 20, 22}));
}

TEST_P(MatcherSpans, FallBackToTheWholeMatchWhereTheGroupTookNoPart) {
  EXPECT_THAT(hits({"a(b)?c"}, "abc ac", 1), ElementsAre(Hit{0, 1, 2}, Hit{0, 4, 6}));
}

TEST_P(MatcherSpans, SortByBeginAndRule) {
  EXPECT_THAT(hits({"bc", "a", "abc"}, "abc"), ElementsAre(Hit{1, 0, 1}, Hit{2, 0, 3}, Hit{0, 1, 3}));
}

TEST_P(MatcherSpans, ReadBlanksAndEndsAlike) {
  EXPECT_THAT(hits({R"(a\sb)"},
                  "a\vb a\xa0"
                  "b"),
      ElementsAre(Hit{0, 0, 3}));
  EXPECT_THAT(hits({"a$"}, "a\n"), ElementsAre());
  EXPECT_THAT(hits({"a$"}, "a\na"), ElementsAre(Hit{0, 2, 3}));
  EXPECT_THAT(hits({"(?m)^a$"}, "a\nb\na\n"), ElementsAre(Hit{0, 0, 1}, Hit{0, 4, 5}));
  EXPECT_THAT(hits({R"(a\z)"}, "a\n"), ElementsAre());
  EXPECT_THAT(hits({"^a"}, "aa\na"), ElementsAre(Hit{0, 0, 1}));
}

TEST_P(MatcherSpans, ReadBytesAndNotCharacters) {
  EXPECT_THAT(hits({"a.b"},
                  std::string_view("a\0b a\xff"
                                   "b",
                      7)),
      ElementsAre(Hit{0, 0, 3}, Hit{0, 4, 7}));
  EXPECT_THAT(hits({"(?i)[^a]b"},
                  "\xe9"
                  "B"),
      ElementsAre(Hit{0, 0, 2}));
  EXPECT_THAT(hits({R"([\x80-\xff]+)"}, "a\xc3\xa9z"), ElementsAre(Hit{0, 1, 3}));
  EXPECT_THAT(hits({R"(\bx\b)"}, "\xe9x\xe9"), ElementsAre(Hit{0, 1, 2}));
}

// One more hit, unconfirmed, stands for those that were not looked at: a thousand harmless ones must not hide the next.
TEST_P(MatcherSpans, EndWithOneThatStandsForTheRest) {
  for (const std::uint32_t count : {Matcher::kMatchesPerPatternMax, Matcher::kMatchesPerPatternMax + 1, 20000u}) {
    std::string text;
    for (std::uint32_t i = 0; i < count; ++i) text += "a1 ";
    const RuleSet rules = set_of({R"(a1)"});
    const auto matcher = Matcher::create(rules, GetParam());
    ASSERT_TRUE(matcher.has_value());
    Matcher::Scratch scratch;
    for (int again = 0; again < 2; ++again) {
      std::vector<Match> found;
      ASSERT_TRUE(matcher->scan(View::raw, text, scratch, found).has_value());
      ASSERT_EQ(found.size(), std::min(count, Matcher::kMatchesPerPatternMax + 1));
      for (std::size_t i = 0; i < Matcher::kMatchesPerPatternMax; ++i)
        ASSERT_TRUE(found[i].confirmed && found[i].begin == 3 * i);
      if (count > Matcher::kMatchesPerPatternMax) {
        EXPECT_FALSE(found.back().confirmed);
        EXPECT_EQ(found.back().end, 3u * Matcher::kMatchesPerPatternMax + 2);
        EXPECT_EQ(found.back().begin + 1, found.back().end);
      }
    }
  }
}

TEST_P(MatcherSpans, AnEmptyTextHasNone) { EXPECT_THAT(hits({"a"}, ""), ElementsAre()); }

// Matches of every length are found whole up to the window, on either side of it they are still found.
TEST_P(MatcherSpans, FollowLongMatches) {
  for (const std::size_t length : {10u, 4000u}) {
    const std::string text = "--(" + std::string(length, 'x') + ")--";
    EXPECT_THAT(hits({R"(\([^)]*\))"}, text), ElementsAre(Hit{0, 2, length + 4}));
  }
}

// However long a match is, it is found, and so is the one behind it.
TEST_P(MatcherSpans, HaveNoLongestMatch) {
  const std::string text = "<" + std::string(100'000, 'x') + "> <b>";
  EXPECT_THAT(hits({R"(<[^>]*>)"}, text), ElementsAre(Hit{0, 0, 100'002}, Hit{0, 100'003, 100'006}));
}

// Ends at every byte, at every second byte, and matches that overlap all along: answered, with a hit of every pattern.
TEST_P(MatcherSpans, SurviveFloodsOfEnds) {
  std::string text;
  while (text.size() < 300'000) text += "ab";
  const auto found = hits({R"(\w+)", "(ab)+", "aba", "a[^c]*b", R"((?:[^\n]{1,200})x)", R"([\s\S]+b)"}, text);
  std::vector<std::uint32_t> counts(6);
  for (const Hit& hit : found) {
    EXPECT_LT(hit.begin, hit.end);
    ++counts[hit.rule];
  }
  for (const std::uint32_t rule : {0u, 1u, 3u, 5u}) EXPECT_GT(counts[rule], 0u) << rule;
  EXPECT_EQ(counts[2], Matcher::kMatchesPerPatternMax + 1);
  EXPECT_EQ(counts[4], 0u);
}

TEST(Matcher, AsksOnlyPatternsThatLookAtTheView) {
  std::vector<Rule> rules;
  rules.push_back(rule_of("test.raw", {"a"}, {View::raw}));
  rules.push_back(rule_of("test.both", {"a"}, {View::code, View::strings}));
  Fact fact;
  fact.id = "fact.a";
  fact.patterns.push_back({"a", {View::strings}});
  const auto set = RuleSet::create(std::move(rules), {fact});
  ASSERT_TRUE(set.has_value());
  for (const Engine engine : {Engine::hyperscan_and_re2, Engine::re2_only}) {
    const auto matcher = Matcher::create(*set, engine);
    ASSERT_TRUE(matcher.has_value());
    Matcher::Scratch scratch;
    std::vector<Match> raw;
    std::vector<Match> code;
    std::vector<Match> strings;
    ASSERT_TRUE(matcher->scan(View::raw, "a", scratch, raw).has_value());
    ASSERT_TRUE(matcher->scan(View::code, "a", scratch, code).has_value());
    ASSERT_TRUE(matcher->scan(View::strings, "a", scratch, strings).has_value());
    ASSERT_EQ(raw.size(), 1u);
    EXPECT_EQ(raw[0].index, 0u);
    ASSERT_EQ(code.size(), 1u);
    EXPECT_EQ(code[0].index, 1u);
    ASSERT_EQ(strings.size(), 2u);
    EXPECT_FALSE(strings[0].is_fact);
    EXPECT_TRUE(strings[1].is_fact);
  }
}

TEST(Matcher, LeavesSecretsToTheRedactor) {
  Rule secret = rule_of("secret.a", {"aaaa"});
  secret.tier = Tier::secret;
  secret.kind = "a";
  const auto set = RuleSet::create({secret}, {});
  ASSERT_TRUE(set.has_value());
  const auto matcher = Matcher::create(*set);
  ASSERT_TRUE(matcher.has_value());
  Matcher::Scratch scratch;
  std::vector<Match> found;
  ASSERT_TRUE(matcher->scan(View::raw, "aaaa", scratch, found).has_value());
  EXPECT_TRUE(found.empty());
}

TEST(Matcher, AppendsToWhatIsThere) {
  const RuleSet rules = set_of({"a"});
  const auto matcher = Matcher::create(rules);
  ASSERT_TRUE(matcher.has_value());
  Matcher::Scratch scratch;
  std::vector<Match> found;
  for (int i = 0; i < 3; ++i) ASSERT_TRUE(matcher->scan(View::raw, "xa", scratch, found).has_value());
  EXPECT_EQ(found.size(), 3u);
}

// One scratch may serve matchers of different size, one after the other.
TEST(Matcher, ScratchServesSeveralMatchers) {
  const RuleSet small = set_of({"a"});
  const RuleSet large = set_of({"a", "b", "c{3,40}x", "d.*e", R"(\w+@\w+)"});
  const auto one = Matcher::create(small);
  const auto two = Matcher::create(large);
  ASSERT_TRUE(one.has_value() && two.has_value());
  Matcher::Scratch scratch;
  for (int i = 0; i < 3; ++i) {
    std::vector<Match> found;
    ASSERT_TRUE(one->scan(View::raw, "abd-e", scratch, found).has_value());
    EXPECT_EQ(found.size(), 1u);
    ASSERT_TRUE(two->scan(View::raw, "abd-e", scratch, found).has_value());
    EXPECT_EQ(found.size(), 4u);
  }
}

TEST(Matcher, ServesThreadsAtOnce) {
  const RuleSet rules = set_of({R"(a(\d+)b)", R"(\w+=)", "q{2,}"});
  const auto matcher = Matcher::create(rules);
  ASSERT_TRUE(matcher.has_value());
  std::vector<std::size_t> counts(8);
  std::vector<std::thread> threads;
  for (std::size_t& count : counts) {
    threads.emplace_back([&] {
      Matcher::Scratch scratch;
      for (int i = 0; i < 100; ++i) {
        std::vector<Match> found;
        if (matcher->scan(View::raw, "a12b x= qqq a3b", scratch, found)) count += found.size();
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_THAT(counts, ::testing::Each(400u));
}

// Law: both engines report the same spans, whatever the pattern and the bytes.
TEST(Matcher, EnginesAgreeOnRandomPatternsAndTexts) {
  std::mt19937 random(20240501);
  const auto pick = [&](std::size_t n) { return std::uniform_int_distribution<std::size_t>(0, n - 1)(random); };
  const std::vector<std::string> atoms = {"a", "b", "ab", R"(\s)", R"(\S)", "[^a]", R"([a-c\s])", ".", R"(\w)", R"(\d)",
      R"(\W)", R"(\x00)", R"(\xe9)", R"([\x80-\xff])", "(?:a|bc)", "(?s:.)", R"(\b)", R"(\B)", "(?i:ab)", "(?i:[^b])",
      R"(\v)", "(?m:^)", "(?m:$)", "-"};
  const std::vector<std::string> repeats = {"", "", "", "?", "+", "{2}", "{1,3}", "*"};
  const std::vector<std::string> bytes = {"a", "b", "c", "A", "B", "ab", "bc", " ", "\n", "\v", "\t", "1", "-",
      std::string(1, '\0'), "\xe9", "\xc9", "\xff", "aab", "_"};
  auto cache = TempDir::create();
  ASSERT_TRUE(cache.has_value());
  const testing::ScopedEnv env("GUARD_CACHE_DIR", cache->path().string());
  int compared = 0;
  int hits = 0;
  for (int round = 0; round < 400; ++round) {
    Pattern pattern;
    const std::size_t length = 1 + pick(4);
    std::string regex;
    for (std::size_t i = 0; i < length; ++i) regex += atoms[pick(atoms.size())] + repeats[pick(repeats.size())];
    if (pick(6) == 0) regex = "^" + regex;
    if (pick(6) == 0) regex += "$";
    if (pick(6) == 0) regex += "|" + atoms[pick(9)];
    pattern.regex = regex;
    Rule rule = rule_of("test.random", {});
    pattern.views = {View::raw};
    rule.patterns.push_back(pattern);
    const auto rules = RuleSet::create({rule}, {});
    if (!rules) continue;  // matches the empty text, repeats an assertion, ...
    const auto both = Matcher::create(*rules, Engine::hyperscan_and_re2);
    if (!both) continue;  // refused by Hyperscan when compiled
    const auto re2 = Matcher::create(*rules, Engine::re2_only);
    ASSERT_TRUE(re2.has_value());
    Matcher::Scratch scratch;
    for (int example = 0; example < 40; ++example) {
      std::string text;
      const std::size_t pieces = pick(24);
      for (std::size_t i = 0; i < pieces; ++i) text += bytes[pick(bytes.size())];
      std::vector<Match> one;
      std::vector<Match> two;
      ASSERT_TRUE(both->scan(View::raw, text, scratch, one).has_value());
      ASSERT_TRUE(re2->scan(View::raw, text, scratch, two).has_value());
      std::vector<Hit> left;
      std::vector<Hit> right;
      for (const Match& match : one) {
        EXPECT_TRUE(match.confirmed) << pattern.regex << " on " << ::testing::PrintToString(text);
        left.push_back({match.index, match.begin, match.end});
      }
      for (const Match& match : two) right.push_back({match.index, match.begin, match.end});
      EXPECT_EQ(left, right) << pattern.regex << " on " << ::testing::PrintToString(text);
      hits += static_cast<int>(right.size());
      ++compared;
      if (::testing::Test::HasFailure()) return;
    }
  }
  EXPECT_GT(compared, 4000);
  EXPECT_GT(hits, 4000);
}

// Hyperscan takes the pattern when it reads it and refuses it when it compiles it: every such pattern is named.
TEST(Matcher, NamesEveryPatternThatCannotBeCompiled) {
  std::vector<Rule> rules;
  for (const char* id : {"test.one", "test.two"}) {
    rules.push_back(rule_of(id, {"ok", R"((?:[a-q][^u-z]{13}x){60})"}));
    rules.back().file = "x.toml";
  }
  const auto set = RuleSet::create(std::move(rules), {});
  ASSERT_TRUE(set.has_value()) << set.error().to_string();
  const auto matcher = Matcher::create(*set);
  ASSERT_FALSE(matcher.has_value());
  EXPECT_EQ(matcher.error().code(), ErrorCode::rules_invalid);
  EXPECT_THAT(matcher.error().message(), HasSubstr("test.one: pattern 2"));
  EXPECT_THAT(matcher.error().message(), HasSubstr("test.two: pattern 2"));
}

}  // namespace
}  // namespace guard
