#include "rules/rule_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "tests/support/validator/rule_texts.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

RuleSet one_rule(Rule rule) {
  rule.file = "x.toml";
  rule.line = 3;
  return RuleSet::create({std::move(rule)}, {}).value();
}

auto fault(const char* rule, const char* message) {
  return AllOf(Field(&RuleFault::rule, rule), Field(&RuleFault::place, "x.toml:3"),
      Field(&RuleFault::message, HasSubstr(message)));
}

// Finds what holds an "a".
Result<bool> finds_a(const std::string&, const Example& example, Engine) {
  return example.text.find('a') != std::string::npos;
}

TEST(RuleCheck, AcceptsTrueExamples) {
  Rule rule = rule_of("test.a", {"a"});
  rule.match = {{"a"}, {"xa"}};
  rule.no_match = {{"b"}};
  EXPECT_THAT(check_rules(one_rule(rule), finds_a).value(), IsEmpty());
}

TEST(RuleCheck, NamesTheExampleThatIsNotFoundAndTheOneThatIs) {
  Rule rule = rule_of("test.a", {"a"});
  rule.match = {{"a"}, {"b"}};
  rule.no_match = {{"c"}, {"a\nx"}};
  EXPECT_THAT(check_rules(one_rule(rule), finds_a).value(),
      ElementsAre(
          fault("test.a", "match example 2 is not found: b"), fault("test.a", "no_match example 2 is found: a\\nx")));
}

TEST(RuleCheck, ChecksFactsToo) {
  Fact fact;
  fact.id = "fact.a";
  fact.file = "x.toml";
  fact.line = 3;
  fact.patterns.push_back({"a", {View::code}});
  fact.match = {{"b"}};
  const RuleSet rules = RuleSet::create({}, {fact}).value();
  EXPECT_THAT(check_rules(rules, finds_a).value(), ElementsAre(fault("fact.a", "match example 1 is not found")));
}

TEST(RuleCheck, SaysWhichEngineDisagrees) {
  Rule rule = rule_of("test.a", {"a"});
  rule.match = {{"a"}};
  rule.no_match = {{"b"}};
  const auto judge = [](const std::string&, const Example& example, Engine engine) -> Result<bool> {
    return engine == Engine::re2_only ? example.text == "b" : example.text == "a";
  };
  EXPECT_THAT(check_rules(one_rule(rule), judge).value(),
      ElementsAre(fault("test.a", "match example 1 is found by Hyperscan and RE2 only"),
          fault("test.a", "no_match example 1 is found by RE2 alone only")));
}

TEST(RuleCheck, FailsWhenTheJudgeDoes) {
  Rule rule = rule_of("test.a", {"a"});
  rule.match = {{"a"}};
  const auto judge = [](const std::string&, const Example&, Engine) -> Result<bool> {
    return Error(ErrorCode::internal, "no");
  };
  EXPECT_FALSE(check_rules(one_rule(rule), judge).has_value());
}

TEST(RuleCheck, WithoutAnExampleNothingIsProved) {
  EXPECT_THAT(check_rules(one_rule(rule_of("test.a", {"a"})), finds_a).value(),
      ElementsAre(fault("test.a", "no match example")));
}

// The shipped set that start-up uses has no examples; it is the full one that gets checked.
TEST(RuleCheck, ChecksTheShippedRulesWithTheirExamples) {
  std::set<std::string> judged;
  const auto judge = [&](const std::string& id, const Example&, Engine) -> Result<bool> {
    judged.insert(id);
    return true;
  };
  ASSERT_TRUE(check_rules(RuleSet::shipped(), judge).has_value());
  for (const Rule& rule : RuleSet::shipped().rules())
    EXPECT_EQ(judged.count(rule.id) == 1, rule.tier != Tier::secret) << rule.id;
  for (const Fact& fact : RuleSet::shipped().facts()) EXPECT_EQ(judged.count(fact.id), 1u) << fact.id;
}

// No judge of findings knows secrets, so they are matched here.
TEST(RuleCheck, ChecksSecretsByItself) {
  Rule rule = rule_of("secret.a", {"k-[0-9]{4}"});
  rule.tier = Tier::secret;
  rule.kind = "a";
  rule.match = {{"k-1234"}, {"k-12"}};
  rule.no_match = {{"k-x"}, {"k-99999"}};
  const auto judge = [](const std::string&, const Example&, Engine) -> Result<bool> {
    return Error(ErrorCode::internal, "not to be asked");
  };
  EXPECT_THAT(check_rules(one_rule(rule), judge).value(),
      ElementsAre(fault("secret.a", "match example 2 is not found"), fault("secret.a", "no_match example 2 is found")));
}

}  // namespace
}  // namespace guard
