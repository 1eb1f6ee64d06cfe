// What the build generates out of rules/*.toml, in read-only memory. rules_compiler writes it; shipped_rule_set.cc and
// matcher.cc read it.
#pragma once

#include <array>
#include <string_view>

#include "rules/rule.h"

namespace guard {

struct ShippedRules {
  std::string_view digest;           // RuleSet::digest() of these rules; empty: there are none
  std::string_view library_version;  // of Hyperscan, when the databases were made
  std::string_view rules;            // as rule_codec.h writes them: facts, then rules, secrets last
  std::string_view examples;         // of the same, in the same order
  // HyperscanScanner images by View; empty: no pattern looks at that view.
  std::array<std::string_view, kViewCount> databases;
};

// Defined beside the generated files; rules_compiler itself is linked with an empty one.
const ShippedRules& shipped_rules_data() noexcept;

}  // namespace guard
