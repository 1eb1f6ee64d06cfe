#include "rules/rule_set.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "common/hash.h"
#include "common/text/text.h"
#include "common/text/toml_file.h"
#include "rules/matching/regex_dialect.h"

namespace guard {
namespace {

// Changes when the meaning of a field does, so that no cached database survives it.
constexpr std::string_view kDigestVersion = "guard rules 1";

void digest_list(Sha256& hash, const std::vector<std::string>& list) {
  hash.update_field(std::to_string(list.size()));
  for (const std::string& text : list) hash.update_field(text);
}

void digest_patterns(Sha256& hash, const std::vector<Pattern>& patterns) {
  hash.update_field(std::to_string(patterns.size()));
  for (const Pattern& pattern : patterns) {
    hash.update_field(pattern.regex);
    for (const View view : pattern.views) hash.update_field(to_string(view));
    hash.update_field(fmt::format("capture {}", pattern.capture));
  }
}

// Order counts: databases number their patterns by it.
std::string digest_of(const std::vector<Rule>& rules, const std::vector<Fact>& facts) {
  Sha256 hash;
  hash.update_field(kDigestVersion);
  hash.update_field(fmt::format("{} rules, {} facts", rules.size(), facts.size()));
  for (const Rule& rule : rules) {
    hash.update_field(rule.id);
    hash.update_field(to_string(rule.tier));
    hash.update_field(rule.severity == Severity::block ? "block" : "note");
    digest_patterns(hash, rule.patterns);
    digest_list(hash, rule.needs);
    digest_list(hash, rule.all_of);
    digest_list(hash, rule.paths);
    hash.update_field(rule.kind);
    hash.update_field(std::to_string(rule.redact.size()));
    for (const auto& [key, value] : rule.redact) {
      hash.update_field(key);
      hash.update_field(value);
    }
  }
  for (const Fact& fact : facts) {
    hash.update_field(fact.id);
    digest_patterns(hash, fact.patterns);
  }
  return hash.finish_hex();
}

template <typename Owner>
void check_patterns(Owner& owner, std::vector<std::string>& faults) {
  for (std::size_t i = 0; i < owner.patterns.size(); ++i) {
    Pattern& pattern = owner.patterns[i];
    if (pattern.bytes_max != 0) continue;
    RegexFault fault;
    if (!check_pattern(pattern, fault)) {
      faults.push_back(toml_complaint(
          owner.file, owner.line, owner.column, fmt::format("{}: pattern {}: {}", owner.id, i + 1, fault.sentence)));
    }
  }
}

}  // namespace

std::string_view to_string(Tier tier) noexcept {
  switch (tier) {
    case Tier::always: return "always";
    case Tier::docker: return "docker";
    case Tier::host: return "host";
    case Tier::banned: return "banned";
    case Tier::secret: return "secret";
  }
  return "always";
}

std::string_view to_string(View view) noexcept {
  switch (view) {
    case View::raw: return "raw";
    case View::code: return "code";
    case View::strings: return "strings";
    case View::commands: return "commands";
    case View::uses: return "uses";
  }
  return "raw";
}

std::vector<std::string> set_faults(std::span<const Rule> rules, std::span<const Fact> facts) {
  std::vector<std::string> faults;
  std::map<std::string_view, std::string> places;
  std::vector<std::string_view> fact_ids;
  const auto note_id = [&](const auto& owner) {
    const auto [known, fresh] = places.emplace(owner.id, fmt::format("{}:{}", owner.file, owner.line));
    if (!fresh) {
      faults.push_back(toml_complaint(owner.file, owner.line, owner.column,
          fmt::format("the id \"{}\" is taken already, at {}", owner.id, known->second)));
    }
  };
  for (const Fact& fact : facts) {
    note_id(fact);
    fact_ids.push_back(fact.id);
  }
  for (const Rule& rule : rules) {
    note_id(rule);
    for (const auto* list : {&rule.needs, &rule.all_of}) {
      for (const std::string& name : *list) {
        if (std::find(fact_ids.begin(), fact_ids.end(), name) != fact_ids.end()) continue;
        const std::string_view near = nearest_word(name, fact_ids);
        faults.push_back(toml_complaint(rule.file, rule.line, rule.column,
            fmt::format("{} names the fact \"{}\", which is not defined{}", rule.id, name,
                near.empty() ? std::string() : fmt::format("; did you mean \"{}\"?", near))));
      }
    }
  }
  return faults;
}

Result<RuleSet> RuleSet::create(std::vector<Rule> rules, std::vector<Fact> facts) {
  std::vector<std::string> faults;
  for (Fact& fact : facts) check_patterns(fact, faults);
  for (Rule& rule : rules) check_patterns(rule, faults);
  for (std::string& fault : set_faults(rules, facts)) faults.push_back(std::move(fault));
  if (!faults.empty()) return Error(ErrorCode::rules_invalid, fmt::format("{}", fmt::join(faults, "\n")));
  std::string digest = digest_of(rules, facts);
  return RuleSet(std::move(rules), std::move(facts), std::move(digest));
}

const Rule* RuleSet::find(std::string_view id) const noexcept {
  const auto at = std::find_if(rules_.begin(), rules_.end(), [&](const Rule& rule) { return rule.id == id; });
  return at == rules_.end() ? nullptr : &*at;
}

const Fact* RuleSet::find_fact(std::string_view id) const noexcept {
  const auto at = std::find_if(facts_.begin(), facts_.end(), [&](const Fact& fact) { return fact.id == id; });
  return at == facts_.end() ? nullptr : &*at;
}

}  // namespace guard
