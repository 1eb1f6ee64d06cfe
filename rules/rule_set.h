// An immutable, indexed set of rules and facts with a digest. Shared by const reference between threads.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "rules/rule.h"

namespace guard {

class RuleSet {
 public:
  // Checks and rewrites every regex (regex_dialect.h) that was not checked yet. Fails with RULES_INVALID on a refused
  // regex, a doubled id or a fact that is named but not there; every fault is listed, a line each.
  static Result<RuleSet> create(std::vector<Rule> rules, std::vector<Fact> facts);

  // The rules shipped with this binary: built from tables that were generated and checked at build time. Without their
  // examples, which only `guard rules check` and listings need and which are most of the text.
  static const RuleSet& shipped();
  static const RuleSet& shipped_with_examples();
  // shipped() without the rules of Tier::secret, which the gate never looks at and which are most of them.
  static const RuleSet& shipped_gate();

  // This set; or, of shipped(), the one with examples: for whoever shows or proves rules.
  const RuleSet& with_examples() const { return this == &shipped() ? shipped_with_examples() : *this; }

  std::span<const Rule> rules() const noexcept { return rules_; }
  std::span<const Fact> facts() const noexcept { return facts_; }
  const Rule* find(std::string_view id) const noexcept;
  const Fact* find_fact(std::string_view id) const noexcept;

  // SHA-256 over everything that decides a match, in hex.
  const std::string& digest() const noexcept { return digest_; }

 private:
  RuleSet(std::vector<Rule> rules, std::vector<Fact> facts, std::string digest)
      : rules_(std::move(rules)), facts_(std::move(facts)), digest_(std::move(digest)) {}

  std::vector<Rule> rules_;
  std::vector<Fact> facts_;
  std::string digest_;
};

// "always", "docker", ...: the names that rule files and reports use.
std::string_view to_string(Tier tier) noexcept;
std::string_view to_string(View view) noexcept;

// What create() complains of beyond single patterns, as "file:line:column: sentence": doubled ids, unknown facts.
std::vector<std::string> set_faults(std::span<const Rule> rules, std::span<const Fact> facts);

}  // namespace guard
