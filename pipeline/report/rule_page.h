// The page that says of every rule what it finds and what to write instead (docs/rules.md), and where in it a finding
// is explained. The page is written by `guard rules doc`; a test holds the committed one against it.
#pragma once

#include <string>
#include <string_view>

#include "rules/rule_set.h"
#include "validator/finding.h"

namespace guard {

// "docs/rules.md#host.eval", relative to guard's repository; findings that no rule of a tier makes share the section of
// their kind.
std::string rule_page(std::string_view rule, FindingTier tier);

// The part behind '#'.
std::string rule_anchor(std::string_view rule, FindingTier tier);

// The whole page, in Markdown: one line a rule.
std::string rules_page(const RuleSet& rules);

}  // namespace guard
