// What to hide: the secret kinds of the rules, and known values (of the environment, given names).
//
// Immutable after create(); shared by const reference between redactors of several threads.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "common/result.h"
#include "rules/rule_set.h"

namespace guard {

struct KnownSecret {
  std::string name;  // shown in the marker: [REDACTED:env:NAME]
  std::string value;
};

class SecretSource {
 public:
  // Kinds are the rules of Tier::secret. RULES_INVALID when a kind has no prefix of fixed width: nothing bounded could
  // be held back then. Values that are too short or too common are left out and listed by refused().
  // `kinds_off`: kinds that are not masked; CONFIG_INVALID for one that there is not.
  static Result<SecretSource> create(
      const RuleSet& rules, std::vector<KnownSecret> known = {}, const std::vector<std::string>& kinds_off = {});
  // The same of RuleSet::shipped(), without reading its rules: from tables that were made when guard was built.
  static Result<SecretSource> shipped(
      std::vector<KnownSecret> known = {}, const std::vector<std::string>& kinds_off = {});
  SecretSource(SecretSource&&) noexcept;
  SecretSource& operator=(SecretSource&&) noexcept;
  ~SecretSource();

  // Names of known values that can't be masked, with the reason: never silently.
  const std::vector<std::pair<std::string, std::string>>& refused() const noexcept;

  struct State;
  const State& state() const noexcept { return *state_; }

 private:
  explicit SecretSource(std::unique_ptr<State> state);
  static Result<SecretSource> make(
      std::unique_ptr<State> state, std::vector<KnownSecret> known, const std::vector<std::string>& kinds_off);
  std::unique_ptr<State> state_;
};

}  // namespace guard
