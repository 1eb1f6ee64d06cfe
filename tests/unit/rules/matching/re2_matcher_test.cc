#include "rules/matching/re2_matcher.h"

#include <gtest/gtest.h>
#include <re2/re2.h>

#include <optional>
#include <tuple>

#include "rules/rule_set.h"

namespace guard {
namespace {

using Span = std::tuple<std::size_t, std::size_t, std::size_t, std::size_t>;

std::optional<Span> found(const Re2Matcher& matcher, std::string_view text, std::size_t from, unsigned capture) {
  ExactSpan span;
  const auto any = matcher.find(text, from, text.size(), capture, span);
  EXPECT_TRUE(any.has_value());
  if (!any.value_or(false)) return std::nullopt;
  return Span(span.begin, span.end, span.captured_begin, span.captured_end);
}

// What RE2 says when it is asked for everything at once.
std::optional<Span> searched(const std::string& regex, std::string_view text, std::size_t from, unsigned capture) {
  re2::RE2::Options options(re2::RE2::Latin1);
  options.set_longest_match(true);
  const re2::RE2 re(regex, options);
  re2::StringPiece parts[16];
  const int count = static_cast<int>(capture) + 1;
  if (!re.Match({text.data(), text.size()}, from, text.size(), re2::RE2::UNANCHORED, parts, count)) return std::nullopt;
  const auto at = [&](const char* place) { return static_cast<std::size_t>(place - text.data()); };
  const re2::StringPiece& part = parts[capture].empty() ? parts[0] : parts[capture];
  return Span(at(parts[0].begin()), at(parts[0].end()), at(part.begin()), at(part.end()));
}

TEST(Re2Matcher, FindsWhatASearchFinds) {
  std::size_t matches = 0;
  for (const Rule& rule : RuleSet::shipped_with_examples().rules()) {
    if (rule.tier == Tier::secret) continue;
    for (const Pattern& pattern : rule.patterns) {
      for (const auto* examples : {&rule.match, &rule.no_match}) {
        for (const Example& example : *examples) {
          const auto matcher = Re2Matcher::create(pattern.regex).value();
          const auto expected = searched(std::string(pattern.regex), example.text, 0, pattern.capture);
          ASSERT_EQ(found(matcher, example.text, 0, pattern.capture), expected) << rule.id << "\n" << example.text;
          if (!expected) continue;
          ++matches;
          const std::size_t behind = std::get<0>(*expected) + 1;
          ASSERT_EQ(found(matcher, example.text, behind, pattern.capture),
              searched(std::string(pattern.regex), example.text, behind, pattern.capture));
        }
      }
    }
  }
  EXPECT_GT(matches, 100u);
}

TEST(Re2Matcher, FindsTheSameOnceItSearches) {
  for (const std::string regex :
      {"\\bab+", "ab+(c|d)?", "[^a]b", "(?i)AB+", "\\Bab", "^ab", "(?m)^ab+$", "[xa]+b", "\\Bab|x", "\\b-|x"}) {
    const auto matcher = Re2Matcher::create(regex).value();
    const std::string text = "xabb abc-\nab xAb " + std::string(40, 'a') + "b";
    for (int round = 0; round < 5; ++round) {
      for (std::size_t from = 0; from < text.size(); ++from)
        ASSERT_EQ(found(matcher, text, from, 0), searched(regex, text, from, 0)) << regex << " from " << from;
    }
  }
}

}  // namespace
}  // namespace guard
