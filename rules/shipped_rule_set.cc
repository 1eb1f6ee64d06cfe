// The shipped rules as values. Start-up is a feature: `guard check` of a small file takes less than a millisecond, so
// nothing here parses, checks or compiles; the build has done it.

#include "rules/rule_codec.h"
#include "rules/rule_set.h"
#include "rules/shipped_data.h"

namespace guard {
namespace {

struct Lists {
  std::vector<Rule> rules;
  std::vector<Fact> facts;
};

enum class Secrets : std::uint8_t { leave_out, take };

Lists read_lists(Secrets secrets) {
  RuleReader reader(shipped_rules_data().rules);
  Lists out;
  if (reader.rest().empty()) return out;
  std::uint32_t left = reader.number();
  out.rules.reserve(left);
  for (; left > 0; --left) {
    RuleReader record(reader.view());
    Rule rule;
    if (secrets == Secrets::leave_out && RuleReader(record).number() == static_cast<std::uint32_t>(Tier::secret))
      continue;
    std::vector<std::string> hints;
    code_rule(record, rule, hints);
    for (std::size_t i = 0; i + 1 < hints.size(); i += 2) rule.redact.emplace(hints[i], hints[i + 1]);
    out.rules.push_back(std::move(rule));
  }
  out.facts.resize(reader.number());
  for (Fact& fact : out.facts) code_common(reader, fact);
  return out;
}

void read_examples(Lists& lists) {
  RuleReader reader(shipped_rules_data().examples);
  for (Rule& rule : lists.rules) code_examples(reader, rule);
  for (Fact& fact : lists.facts) code_examples(reader, fact);
}

}  // namespace

// Never destroyed: the process ends without giving thousands of small texts back one by one.

const RuleSet& RuleSet::shipped() {
  static const RuleSet& set = *[] {
    Lists from = read_lists(Secrets::take);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(shipped_rules_data().digest));
  }();
  return set;
}

const RuleSet& RuleSet::shipped_gate() {
  static const RuleSet& set = *[] {
    Lists from = read_lists(Secrets::leave_out);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(shipped_rules_data().digest));
  }();
  return set;
}

const RuleSet& RuleSet::shipped_with_examples() {
  static const RuleSet& set = *[] {
    Lists from = read_lists(Secrets::take);
    read_examples(from);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(shipped_rules_data().digest));
  }();
  return set;
}

}  // namespace guard
