// The shipped rules as values. Start-up is a feature: `guard check` of a small file takes less than a millisecond, so
// nothing here parses, checks or compiles; the build has done it.

#include <type_traits>

#include "rules/rule_set.h"
#include "rules/shipped_data.h"

namespace guard {
namespace {

enum class Examples : std::uint8_t { leave_out, take };
enum class Secrets : std::uint8_t { leave_out, take };

std::vector<std::string> texts(const ShippedRules& data, ShippedRange range) {
  std::vector<std::string> out;
  out.reserve(range.count);
  for (const std::string_view text : data.texts.subspan(range.first, range.count)) out.emplace_back(text);
  return out;
}

std::vector<Example> examples(const ShippedRules& data, ShippedRange range) {
  std::vector<Example> out;
  const auto list = data.texts.subspan(range.first, range.count);
  for (std::size_t i = 0; i + 1 < list.size(); i += 2) out.push_back({std::string(list[i]), std::string(list[i + 1])});
  return out;
}

std::vector<Pattern> patterns(const ShippedRules& data, ShippedRange range) {
  std::vector<Pattern> out;
  out.reserve(range.count);
  for (const ShippedPattern& from : data.patterns.subspan(range.first, range.count)) {
    Pattern& pattern = out.emplace_back();
    pattern.regex = from.regex;
    for (std::size_t view = 0; view < kViewCount; ++view) {
      if ((from.views >> view & 1u) != 0) pattern.views.push_back(static_cast<View>(view));
    }
    pattern.capture = from.capture;
    pattern.bytes_max = from.bytes_max;
  }
  return out;
}

template <typename Owner>
void fill(Owner& out, const ShippedRules& data, const ShippedRule& from, Examples wanted) {
  out.id = from.id;
  out.title = from.title;
  out.patterns = patterns(data, from.patterns);
  out.file = from.file;
  out.line = from.line;
  out.column = from.column;
  if (wanted == Examples::leave_out) return;
  out.match = examples(data, from.match);
  out.no_match = examples(data, from.no_match);
  if constexpr (std::is_same_v<Owner, Rule>) out.references = texts(data, from.references);
}

struct Lists {
  std::vector<Rule> rules;
  std::vector<Fact> facts;
};

Lists lists(const ShippedRules& data, Examples wanted, Secrets secrets = Secrets::take) {
  Lists out;
  std::size_t facts = 0;
  for (const ShippedRule& from : data.rules) facts += from.fact ? 1 : 0;
  out.facts.reserve(facts);
  out.rules.reserve(data.rules.size() - facts);
  for (const ShippedRule& from : data.rules) {
    if (from.fact) {
      fill(out.facts.emplace_back(), data, from, wanted);
      continue;
    }
    if (from.tier == Tier::secret && secrets == Secrets::leave_out) continue;
    Rule& rule = out.rules.emplace_back();
    fill(rule, data, from, wanted);
    rule.tier = from.tier;
    rule.severity = from.severity;
    rule.why = from.why;
    rule.fix = from.fix;
    rule.kind = from.kind;
    rule.needs = texts(data, from.needs);
    rule.all_of = texts(data, from.all_of);
    rule.paths = texts(data, from.paths);
    const std::vector<std::string> hints = texts(data, from.redact);
    for (std::size_t i = 0; i + 1 < hints.size(); i += 2) rule.redact.emplace(hints[i], hints[i + 1]);
  }
  return out;
}

}  // namespace

const RuleSet& RuleSet::shipped() {
  // Never destroyed: the process ends without giving thousands of small texts back one by one.
  static const RuleSet& set = *[] {
    const ShippedRules& data = shipped_rules_data();
    Lists from = lists(data, Examples::leave_out);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(data.digest));
  }();
  return set;
}

const RuleSet& RuleSet::shipped_gate() {
  static const RuleSet& set = *[] {
    const ShippedRules& data = shipped_rules_data();
    Lists from = lists(data, Examples::leave_out, Secrets::leave_out);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(data.digest));
  }();
  return set;
}

const RuleSet& RuleSet::shipped_with_examples() {
  static const RuleSet& set = *[] {
    const ShippedRules& data = shipped_rules_data();
    Lists from = lists(data, Examples::take);
    return new RuleSet(std::move(from.rules), std::move(from.facts), std::string(data.digest));
  }();
  return set;
}

}  // namespace guard
