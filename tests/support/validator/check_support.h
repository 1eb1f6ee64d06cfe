// Shorthands for tests of the validator: the shipped rules, both engines, one call.
#pragma once

#include <fstream>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "rules/matching/matcher.h"
#include "rules/rule_loader.h"
#include "rules/rule_set.h"
#include "validator/validator.h"

namespace guard {

inline const RuleSet& rules() {
  static const RuleSet kRules = [] {
    Result<RuleSet> loaded = load_rules(GUARD_SOURCE_DIR "/rules");
    if (!loaded) {
      ADD_FAILURE() << loaded.error().to_string();
      return RuleSet::create({}, {}).value();
    }
    return std::move(*loaded);
  }();
  return kRules;
}

inline const Matcher& matcher(Engine engine = Engine::hyperscan_and_re2) {
  static const Matcher kBoth = Matcher::create(rules(), Engine::hyperscan_and_re2).value();
  static const Matcher kRe2 = Matcher::create(rules(), Engine::re2_only).value();
  return engine == Engine::re2_only ? kRe2 : kBoth;
}

inline constexpr TierSet kDocker = {true, false};
inline constexpr TierSet kHost = {true, true};

inline Report check(
    const std::vector<SourceFile>& files, TierSet tiers = kHost, Engine engine = Engine::hyperscan_and_re2) {
  ValidatorOptions options;
  options.tiers = tiers;
  Result<Report> report = Validator(rules(), matcher(engine), options).check(files);
  if (!report) {
    ADD_FAILURE() << report.error().to_string();
    return {};
  }
  return std::move(*report);
}

// The rules that find something in one test file, in both engines alike.
inline std::set<std::string> rules_of(
    const std::string& text, TierSet tiers = kHost, const std::string& path = "sandbox/a.test.ts") {
  std::set<std::string> found;
  std::set<std::string> found_by_re2;
  for (const Finding& finding : check({{path, text}}, tiers).findings) found.insert(finding.rule);
  for (const Finding& finding : check({{path, text}}, tiers, Engine::re2_only).findings)
    found_by_re2.insert(finding.rule);
  EXPECT_EQ(found, found_by_re2) << "the engines disagree on " << text;
  return found;
}

inline bool finds(const std::string& rule, const std::string& text, TierSet tiers = kHost) {
  return rules_of(text, tiers).count(rule) > 0;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

}  // namespace guard
