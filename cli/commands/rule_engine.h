// The rules a verb works with, and the matcher made from them: those shipped in this binary, or a folder of a person's
// own.
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "common/result.h"
#include "rules/matching/matcher.h"
#include "rules/rule_set.h"

namespace guard {

struct RuleEngine {
  std::unique_ptr<RuleSet> own;    // of a folder
  const RuleSet* rules = nullptr;  // `own`, or the shipped ones
  std::optional<Matcher> matcher;
};

// `folder` empty: the shipped rules. Else that folder's rules instead of the shipped docker and host tiers;
// ALWAYS_BLOCK and the banned patterns stay as they are shipped, whatever the folder holds.
Result<RuleEngine> load_rule_engine(const std::string& folder);

// The folder's rules and nothing else, for `guard rules`.
Result<RuleEngine> load_rules_alone(const std::string& folder);

}  // namespace guard
