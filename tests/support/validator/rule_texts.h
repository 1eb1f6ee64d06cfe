// Small rule sets for the tests of this folder.
#pragma once

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace guard {

inline Rule rule_of(std::string id, std::vector<std::string> regexes, std::vector<View> views = {View::raw},
    std::uint16_t capture = 0) {
  Rule rule;
  rule.id = std::move(id);
  rule.title = rule.why = rule.fix = "text";
  for (std::string& regex : regexes) rule.patterns.push_back({std::move(regex), views, capture});
  return rule;
}

// One rule per regex: "test.r0", "test.r1", ...
inline RuleSet set_of(const std::vector<std::string>& regexes, std::uint16_t capture = 0) {
  std::vector<Rule> rules;
  for (std::size_t i = 0; i < regexes.size(); ++i) {
    rules.push_back(rule_of(fmt::format("test.r{}", i), {regexes[i]}, {View::raw}, capture));
  }
  auto set = RuleSet::create(std::move(rules), {});
  EXPECT_TRUE(set.has_value()) << set.error().to_string();
  return set ? std::move(*set) : RuleSet::create({}, {}).value();
}

}  // namespace guard
