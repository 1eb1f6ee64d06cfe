// What the build put into the binary is what stands in rules/*.toml.

#include <gtest/gtest.h>

#include <algorithm>

#include "rules/matching/hyperscan_scanner.h"
#include "rules/matching/matcher.h"
#include "rules/rule_loader.h"
#include "rules/shipped_data.h"

namespace guard {
namespace {

RuleSet from_source() {
  auto rules = load_rules(std::string(GUARD_SOURCE_DIR) + "/rules");
  EXPECT_TRUE(rules.has_value()) << rules.error().to_string();
  return std::move(*rules);
}

void expect_same(const std::vector<Pattern>& left, const std::vector<Pattern>& right, const std::string& id) {
  ASSERT_EQ(left.size(), right.size()) << id;
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].regex, right[i].regex) << id;
    EXPECT_EQ(left[i].views, right[i].views) << id;
    EXPECT_EQ(left[i].capture, right[i].capture) << id;
    EXPECT_EQ(left[i].bytes_max, right[i].bytes_max) << id;
  }
}

void expect_same(const std::vector<Example>& left, const std::vector<Example>& right, const std::string& id) {
  ASSERT_EQ(left.size(), right.size()) << id;
  for (std::size_t i = 0; i < left.size(); ++i) {
    EXPECT_EQ(left[i].text, right[i].text) << id;
    EXPECT_EQ(left[i].path, right[i].path) << id;
  }
}

TEST(ShippedRules, AreThoseOfTheSource) {
  const RuleSet source = from_source();
  const RuleSet& shipped = RuleSet::shipped_with_examples();
  EXPECT_EQ(shipped.digest(), source.digest());
  ASSERT_EQ(shipped.rules().size(), source.rules().size());
  ASSERT_EQ(shipped.facts().size(), source.facts().size());
  for (std::size_t i = 0; i < source.rules().size(); ++i) {
    const Rule& left = shipped.rules()[i];
    const Rule& right = source.rules()[i];
    EXPECT_EQ(left.id, right.id);
    EXPECT_EQ(left.tier, right.tier) << left.id;
    EXPECT_EQ(left.severity, right.severity) << left.id;
    EXPECT_EQ(left.title, right.title) << left.id;
    EXPECT_EQ(left.why, right.why) << left.id;
    EXPECT_EQ(left.fix, right.fix) << left.id;
    EXPECT_EQ(left.kind, right.kind) << left.id;
    EXPECT_EQ(left.redact, right.redact) << left.id;
    EXPECT_EQ(left.needs, right.needs) << left.id;
    EXPECT_EQ(left.all_of, right.all_of) << left.id;
    EXPECT_EQ(left.paths, right.paths) << left.id;
    EXPECT_EQ(left.references, right.references) << left.id;
    EXPECT_EQ(left.line, right.line) << left.id;
    EXPECT_EQ(left.file.find("rules/"), 0u) << left.file;
    expect_same(left.patterns, right.patterns, left.id);
    expect_same(left.match, right.match, left.id);
    expect_same(left.no_match, right.no_match, left.id);
  }
  for (std::size_t i = 0; i < source.facts().size(); ++i) {
    const Fact& left = shipped.facts()[i];
    const Fact& right = source.facts()[i];
    EXPECT_EQ(left.id, right.id);
    EXPECT_EQ(left.title, right.title);
    expect_same(left.patterns, right.patterns, left.id);
    expect_same(left.match, right.match, left.id);
    expect_same(left.no_match, right.no_match, left.id);
  }
}

TEST(ShippedRules, ComeWithoutExamplesUnlessAsked) {
  const RuleSet& plain = RuleSet::shipped();
  EXPECT_EQ(plain.digest(), RuleSet::shipped_with_examples().digest());
  ASSERT_EQ(plain.rules().size(), RuleSet::shipped_with_examples().rules().size());
  for (const Rule& rule : plain.rules()) {
    EXPECT_TRUE(rule.match.empty() && rule.no_match.empty());
    EXPECT_FALSE(rule.title.empty());
  }
}

// The embedded databases are usable where they lie: nothing is compiled at start-up.
TEST(ShippedRules, DatabasesAreUsedInPlace) {
  const ShippedRules& data = shipped_rules_data();
  EXPECT_EQ(data.library_version, HyperscanScanner::library_version());
  for (const View view : {View::raw, View::code, View::strings}) {
    bool wanted = false;
    const auto looks = [&](const auto& owner) {
      for (const Pattern& pattern : owner.patterns) {
        for (const View own : pattern.views) wanted = wanted || own == view;
      }
    };
    for (const Rule& rule : RuleSet::shipped().rules()) {
      if (rule.tier != Tier::secret) looks(rule);
    }
    for (const Fact& fact : RuleSet::shipped().facts()) looks(fact);
    const std::string_view image = data.databases[static_cast<std::size_t>(view)];
    EXPECT_EQ(image.empty(), !wanted);
    if (wanted) {
      const auto database = HyperscanScanner::from_image(image, data.library_version);
      EXPECT_TRUE(database.has_value()) << database.error().to_string();
    }
  }
}

// Every rule in the embedded databases answers under its own number: each example that is found by RE2 in the raw text
// is found by the embedded database too, with the same rule.
TEST(ShippedRules, EmbeddedDatabasesAgreeWithRe2OnAllExamples) {
  const RuleSet& rules = RuleSet::shipped_with_examples();
  const auto both = Matcher::create(rules, Engine::hyperscan_and_re2);
  const auto re2 = Matcher::create(rules, Engine::re2_only);
  ASSERT_TRUE(both.has_value() && re2.has_value());
  Matcher::Scratch scratch;
  const auto compare = [&](const auto& owner) {
    for (const auto* list : {&owner.match, &owner.no_match}) {
      for (const Example& example : *list) {
        for (const View view : {View::raw, View::code, View::strings}) {
          std::vector<Match> left;
          std::vector<Match> right;
          ASSERT_TRUE(both->scan(view, example.text, scratch, left).has_value());
          ASSERT_TRUE(re2->scan(view, example.text, scratch, right).has_value());
          const auto same = [](const Match& a, const Match& b) {
            return a.is_fact == b.is_fact && a.index == b.index && a.pattern == b.pattern && a.begin == b.begin &&
                a.end == b.end && a.confirmed && b.confirmed;
          };
          EXPECT_TRUE(std::equal(left.begin(), left.end(), right.begin(), right.end(), same))
              << owner.id << ": " << example.text;
        }
      }
    }
  };
  for (const Rule& rule : rules.rules()) compare(rule);
  for (const Fact& fact : rules.facts()) compare(fact);
}

}  // namespace
}  // namespace guard
