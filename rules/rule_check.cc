#include "rules/rule_check.h"

#include <fmt/format.h>

#include <array>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::array kEngines = {Engine::hyperscan_and_re2, Engine::re2_only};
constexpr std::size_t kShownBytes = 80;

std::string shown(const Example& example) {
  std::string text = printable(std::string_view(example.text).substr(0, kShownBytes));
  return example.text.size() > kShownBytes ? text + "..." : text;
}

std::string_view name_of(Engine engine) {
  return engine == Engine::hyperscan_and_re2 ? "Hyperscan and RE2" : "RE2 alone";
}

class Check {
 public:
  Check(const ExampleJudge& judge, std::vector<RuleFault>& faults) : judge_(judge), faults_(faults) {}

  template <typename Owner>
  Result<void> examples(const Owner& owner) {
    if (owner.match.empty()) {
      faults_.push_back(
          {owner.id, fmt::format("{}:{}", owner.file, owner.line), "no match example: nothing is proved"});
    }
    GUARD_TRY(list(owner, owner.match, true));
    return list(owner, owner.no_match, false);
  }

 private:
  template <typename Owner>
  Result<void> list(const Owner& owner, const std::vector<Example>& examples, bool wanted) {
    const std::string_view list_name = wanted ? "match" : "no_match";
    for (std::size_t i = 0; i < examples.size(); ++i) {
      std::array<bool, kEngines.size()> found{};
      for (std::size_t engine = 0; engine < kEngines.size(); ++engine) {
        auto answer = judge_(owner.id, examples[i], kEngines[engine]);
        if (!answer) {
          return std::move(answer).error().context(
              fmt::format("judging {} example {} of {}", list_name, i + 1, owner.id));
        }
        found[engine] = *answer;
      }
      const auto complain = [&](std::string message) {
        faults_.push_back({owner.id, fmt::format("{}:{}", owner.file, owner.line), std::move(message)});
      };
      if (found[0] != found[1]) {
        complain(fmt::format("{} example {} is found by {} only: {}", list_name, i + 1,
            name_of(kEngines[found[0] ? 0 : 1]), shown(examples[i])));
      } else if (found[0] != wanted) {
        complain(
            fmt::format("{} example {} is {}found: {}", list_name, i + 1, wanted ? "not " : "", shown(examples[i])));
      }
    }
    return ok();
  }

  const ExampleJudge& judge_;
  std::vector<RuleFault>& faults_;
};

// Secrets are no findings, so no judge of findings knows them: they are looked for as if they were banned.
Result<void> check_secrets(const RuleSet& rules, std::vector<RuleFault>& faults) {
  std::vector<Rule> secrets;
  for (const Rule& rule : rules.rules()) {
    if (rule.tier != Tier::secret || (rule.match.empty() && rule.no_match.empty())) continue;
    secrets.push_back(rule);
    secrets.back().tier = Tier::banned;
  }
  if (secrets.empty()) return ok();
  GUARD_TRY_ASSIGN(const RuleSet set, RuleSet::create(std::move(secrets), {}));
  GUARD_TRY_ASSIGN(const Matcher both, Matcher::create(set, Engine::hyperscan_and_re2));
  GUARD_TRY_ASSIGN(const Matcher re2, Matcher::create(set, Engine::re2_only));
  Matcher::Scratch scratch;
  const ExampleJudge judge = [&](const std::string& id, const Example& example, Engine engine) -> Result<bool> {
    std::vector<Match> hits;
    GUARD_TRY((engine == Engine::re2_only ? re2 : both).scan(View::raw, example.text, scratch, hits));
    for (const Match& hit : hits) {
      if (set.rules()[hit.index].id == id) return true;
    }
    return false;
  };
  Check check(judge, faults);
  for (const Rule& rule : set.rules()) GUARD_TRY(check.examples(rule));
  return ok();
}

}  // namespace

Result<std::vector<RuleFault>> check_rules(const RuleSet& given, const ExampleJudge& judge) {
  const RuleSet& rules = given.with_examples();
  std::vector<RuleFault> faults;
  Check check(judge, faults);
  for (const Fact& fact : rules.facts()) GUARD_TRY(check.examples(fact));
  for (const Rule& rule : rules.rules()) {
    if (rule.tier != Tier::secret) GUARD_TRY(check.examples(rule));
  }
  GUARD_TRY(check_secrets(rules, faults));
  return faults;
}

}  // namespace guard
