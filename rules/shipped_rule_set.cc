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
  out.facts.resize(reader.number());
  for (Fact& fact : out.facts) code_common(reader, fact);
  for (std::uint32_t left = reader.number(); left > 0; --left) {
    if (secrets == Secrets::leave_out && RuleReader(reader).number() == static_cast<std::uint32_t>(Tier::secret))
      break;  // so are all that follow
    Rule& rule = out.rules.emplace_back();
    std::vector<std::string> hints;
    code_rule(reader, rule, hints);
    for (std::size_t i = 0; i + 1 < hints.size(); i += 2) rule.redact.emplace(hints[i], hints[i + 1]);
  }
  return out;
}

void read_examples(Lists& lists) {
  RuleReader reader(shipped_rules_data().examples);
  for (Fact& fact : lists.facts) code_examples(reader, fact);
  for (Rule& rule : lists.rules) code_examples(reader, rule);
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
