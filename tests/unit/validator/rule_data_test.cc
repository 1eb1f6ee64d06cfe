// The shipped rules prove themselves: every example is found, or left alone, through the same views as real files and
// with both engines.
#include <gtest/gtest.h>

#include "rules/rule_check.h"
#include "tests/unit/validator/check_support.h"

namespace guard {
namespace {

TEST(RuleData, HoldsItsExamplesWithBothEngines) {
  const Result<std::vector<RuleFault>> faults =
      check_rules(rules(), [](const std::string& id, const Example& example, Engine engine) {
        return example_matches(rules(), matcher(engine), id, example);
      });
  ASSERT_TRUE(faults) << faults.error().to_string();
  for (const RuleFault& fault : *faults) ADD_FAILURE() << fault.place << " " << fault.rule << ": " << fault.message;
}

TEST(RuleData, TellsWhatToDoInsteadForEveryBlockingRule) {
  for (const Rule& rule : rules().rules()) {
    if (rule.tier == Tier::secret) continue;
    EXPECT_FALSE(rule.title.empty()) << rule.id;
    EXPECT_FALSE(rule.why.empty()) << rule.id;
    EXPECT_FALSE(rule.fix.empty()) << rule.id;
    EXPECT_FALSE(rule.match.empty()) << rule.id;
    EXPECT_FALSE(rule.no_match.empty()) << rule.id;
    EXPECT_EQ(rule.severity, Severity::block) << rule.id;
  }
}

TEST(RuleData, BannedPatternsLookAtRawTextOnly) {
  for (const Rule& rule : rules().rules()) {
    if (rule.tier != Tier::banned) continue;
    for (const Pattern& pattern : rule.patterns) EXPECT_EQ(pattern.views, std::vector<View>{View::raw}) << rule.id;
  }
}

TEST(RuleData, AnUnknownIdIsAnErrorAndNotAMiss) {
  EXPECT_FALSE(example_matches(rules(), matcher(), "always.no_such_rule", {"x"}));
}

}  // namespace
}  // namespace guard
