#include "cli/rule_engine.h"

#include "rules/rule_loader.h"

namespace guard {

Result<RuleEngine> load_rule_engine(const std::string& folder) {
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

}  // namespace guard
