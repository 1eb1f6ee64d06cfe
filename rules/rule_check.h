// `guard rules check`: proves that each rule finds its `match` examples, leaves its `no_match` examples alone, and that
// both engines say the same. Examples go through the same views as real files, so the judge is handed in by the caller
// (rules/ knows nothing of views).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "common/result.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"

namespace guard {

struct RuleFault {
  std::string rule;
  std::string place;    // file:line
  std::string message;  // "match example 2 is not found: ..."
};

// True if `id` (a rule or a fact) is found in `example` with `engine`.
using ExampleJudge = std::function<Result<bool>(const std::string& id, const Example& example, Engine engine)>;

// Rules of Tier::secret are matched here, as raw text: no judge of findings knows them. RuleSet::shipped() is checked
// with its examples. A rule or fact without a match example is a fault.
Result<std::vector<RuleFault>> check_rules(const RuleSet& rules, const ExampleJudge& judge);

}  // namespace guard
