// The shipped rules prove themselves: every example is found, or left alone, through the same views as real files and
// with both engines.
#include <gtest/gtest.h>

#include <algorithm>

#include "common/text/toml_file.h"
#include "rules/rule_check.h"
#include "tests/support/validator/check_support.h"

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

// packages.toml as it stands: ability and names.
std::vector<std::pair<std::string, std::vector<std::string>>> abilities() {
  const Result<TomlValue> root = parse_toml(read_text(GUARD_SOURCE_DIR "/rules/packages.toml"), "packages.toml");
  std::vector<std::pair<std::string, std::vector<std::string>>> out;
  if (!root || root->find("packages") == nullptr) return out;
  for (const TomlMember& list : root->find("packages")->members) {
    out.emplace_back(list.key, std::vector<std::string>());
    for (const TomlValue& name : list.value.items) out.back().second.push_back(name.text);
  }
  return out;
}

// The ways to bring a module in.
std::vector<std::string> loads_of(const std::string& module) {
  return {"import x from \"" + module + "\";", "import { x as y } from '" + module + "';",
      "import * as x from \"" + module + "/sub/path.js\";", "import \"npm:" + module + "\";",
      "const x = require(\"" + module + "\");", "const { x } = await import(`" + module + "`);",
      "export * from \"" + module + "\";",
      "import { createRequire } from \"node:module\"; createRequire(import.meta.url)(\"" + module + "\").x();"};
}

// An ability that no rule asks for would be a list that nobody reads.
TEST(RuleData, EveryPackageThatIsListedIsStoppedOrCountsAsOutput) {
  ASSERT_GE(abilities().size(), 10U);
  for (const auto& [ability, names] : abilities()) {
    EXPECT_FALSE(names.empty()) << ability;
    for (std::string name : names) {
      if (name.back() == '*') name = name.substr(0, name.size() - 1) + "x";
      const bool loads_env = ability == "loads_env";
      const bool is_fs = ability == "file_system";
      for (const std::string& load : loads_of(name)) {
        const std::string act = loads_env ? "x.loadEnv('a');"
            : is_fs                       ? "x.removeSync('a'); x.rmSync('a');"
                                          : "use(process.env.SESSION_SECRET);";
        const std::set<std::string> quiet = rules_of(act);
        std::set<std::string> found = rules_of(load + act);
        for (const std::string& rule : quiet) found.erase(rule);
        found.erase("docker.unlisted_member");
        EXPECT_FALSE(found.empty()) << ability << ": " << load;
      }
    }
  }
}

TEST(RuleData, NoPackageIsJudgedByItsNameAlone) {
  for (const auto& [ability, names] : abilities()) {
    for (std::string name : names) {
      if (name.back() == '*') name = name.substr(0, name.size() - 1) + "x";
      for (const std::string& text : {"import type { X } from \"" + name + "\";", "it(\"" + name + "\", f);",
               "// require(\"" + name + "\")", "import x from \"./" + name + "\";",
               "import x from \"@own/" + (name[0] == '@' ? name.substr(1) : name) + "\";"}) {
        EXPECT_EQ(rules_of(text), std::set<std::string>()) << ability << ": " << text;
      }
    }
  }
}

TEST(RuleData, EveryFactIsAskedForByARule) {
  for (const Fact& fact : rules().facts()) {
    if (fact.id == kNamesFileFact) continue;  // which files load each other
    const bool asked = std::any_of(rules().rules().begin(), rules().rules().end(), [&](const Rule& rule) {
      const auto names = [&](const std::vector<std::string>& ids) {
        return std::find(ids.begin(), ids.end(), fact.id) != ids.end();
      };
      return names(rule.needs) || names(rule.all_of);
    });
    EXPECT_TRUE(asked) << fact.id;
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
