#include "redact/kinds/kind_table.h"

#include <algorithm>

namespace guard {

Result<std::unique_ptr<const OwnKindTable>> OwnKindTable::create(const RuleSet& rules) {
  auto own = std::make_unique<OwnKindTable>();
  for (const Rule& rule : rules.rules()) {
    if (rule.tier != Tier::secret) continue;
    GUARD_TRY_ASSIGN(const SecretKind kind, read_secret_kind(rule, own->texts_));
    (kind.machine == SecretKind::Machine::run ? own->runs_ : own->kinds_).push_back(kind);
  }
  // A kind that goes by how a value looks names a marker only where no other kind knows the value.
  const auto rank = [](const SecretKind& kind) {
    std::size_t longest = 0;
    for (const std::string_view prefix : kind.prefixes) longest = std::max(longest, prefix.size());
    return kind.by_looks() ? 0 : longest;
  };
  std::stable_sort(own->kinds_.begin(), own->kinds_.end(),
      [&](const SecretKind& a, const SecretKind& b) { return rank(a) > rank(b); });
  const auto is_pem = [](const SecretKind& kind) { return kind.machine == SecretKind::Machine::pem; };
  if (std::count_if(own->kinds_.begin(), own->kinds_.end(), is_pem) > 1) {
    return Error(ErrorCode::rules_invalid, "more than one secret rule uses the pem machine");
  }
  own->table_ = {own->kinds_, own->runs_};
  return std::unique_ptr<const OwnKindTable>(std::move(own));
}

}  // namespace guard
