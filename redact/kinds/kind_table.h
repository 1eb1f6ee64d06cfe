// All secret kinds of a set of rules: plain data. That of the shipped rules is made while guard is built, so a start
// reads nothing and sorts nothing.
#pragma once

#include <memory>
#include <span>
#include <vector>

#include "common/result.h"
#include "redact/kinds/secret_kind.h"
#include "rules/rule_set.h"

namespace guard {

struct KindTable {
  // Of spans that begin together the first in this order names the marker: kinds with longer prefixes stand first, and
  // those that go by looks alone last.
  std::span<const SecretKind> kinds;
  std::span<const SecretKind> runs;  // Machine::run
};

// Of RuleSet::shipped().
const KindTable& shipped_kind_table() noexcept;

// Made from rules while the program runs. Immutable.
class OwnKindTable {
 public:
  // RULES_INVALID with the rule's name and what is wrong with it.
  static Result<std::unique_ptr<const OwnKindTable>> create(const RuleSet& rules);
  const KindTable& table() const noexcept { return table_; }

 private:
  KindTexts texts_;
  std::vector<SecretKind> kinds_;
  std::vector<SecretKind> runs_;
  KindTable table_;
};

}  // namespace guard
