#include "cli/commands/rule_engine.h"

#include <algorithm>
#include <vector>

#include "rules/rule_loader.h"

namespace guard {

namespace {

bool is_fixed(Tier tier) { return tier == Tier::always || tier == Tier::banned; }

Result<RuleSet> with_fixed_tiers(const RuleSet& own) {
  std::vector<Rule> rules;
  std::vector<Fact> facts;
  for (const Rule& rule : RuleSet::shipped().rules()) {
    if (is_fixed(rule.tier)) rules.push_back(rule);
  }
  for (const Fact& fact : RuleSet::shipped().facts()) facts.push_back(fact);
  const std::size_t fixed_rules = rules.size();
  const std::size_t fixed_facts = facts.size();
  for (const Rule& rule : own.rules()) {
    const auto end = rules.begin() + static_cast<std::ptrdiff_t>(fixed_rules);
    if (std::none_of(rules.begin(), end, [&](const Rule& shipped) { return shipped.id == rule.id; }))
      rules.push_back(rule);
  }
  for (const Fact& fact : own.facts()) {
    const auto end = facts.begin() + static_cast<std::ptrdiff_t>(fixed_facts);
    if (std::none_of(facts.begin(), end, [&](const Fact& shipped) { return shipped.id == fact.id; }))
      facts.push_back(fact);
  }
  return RuleSet::create(std::move(rules), std::move(facts));
}

}  // namespace

Result<RuleEngine> load_rules_alone(const std::string& folder) {
  RuleEngine engine;
  if (folder.empty()) {
    engine.rules = &RuleSet::shipped();
  } else {
    GUARD_TRY_ASSIGN(RuleSet loaded, load_rules(folder));
    engine.own = std::make_unique<RuleSet>(std::move(loaded));
    engine.rules = engine.own.get();
  }
  GUARD_TRY_ASSIGN(engine.matcher, Matcher::create(*engine.rules));
  return engine;
}

Result<RuleEngine> load_rule_engine(const std::string& folder) {
  RuleEngine engine;
  if (folder.empty()) {
    engine.rules = &RuleSet::shipped_gate();
    GUARD_TRY_ASSIGN(engine.matcher, Matcher::create(*engine.rules));
    return engine;
  }
  GUARD_TRY_ASSIGN(const RuleSet own, load_rules(folder));
  GUARD_TRY_ASSIGN(RuleSet merged, with_fixed_tiers(own));
  engine.own = std::make_unique<RuleSet>(std::move(merged));
  engine.rules = engine.own.get();
  GUARD_TRY_ASSIGN(engine.matcher, Matcher::create(*engine.rules));
  return engine;
}

}  // namespace guard
