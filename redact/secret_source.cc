#include "redact/secret_source.h"

#include <algorithm>

#include "redact/secret_state.h"

namespace guard {
namespace {

constexpr std::size_t kNameBytesMax = 64;  // together with the rest of a marker below every run limit and cap boundary

// Names become part of the output, so they are reduced to what needs no quoting anywhere.
std::string marker_name(const std::string& name) {
  std::string clean;
  for (const char c : name.substr(0, kNameBytesMax)) {
    const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
    clean += plain ? c : '_';
  }
  return "env:" + clean;
}

// A value that stands in a marker would be hidden in there, and that marker's marker again.
bool stands_in(const KnownValues& values, std::uint32_t kind, const std::string& text) {
  for (const KnownValues::Text& known : values.short_texts()) {
    if (known.kind == kind && text.find(known.text) != std::string::npos) return true;
  }
  for (const KnownValues::Text& known : values.long_texts()) {
    if (known.kind != kind) continue;
    for (std::size_t at = 0; at + KnownValues::kFragmentBytes <= known.text.size(); ++at) {
      if (text.find(known.text.substr(at, KnownValues::kFragmentBytes)) != std::string::npos) return true;
    }
  }
  return false;
}

}  // namespace

SecretSource::SecretSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
SecretSource::SecretSource(SecretSource&&) noexcept = default;
SecretSource& SecretSource::operator=(SecretSource&&) noexcept = default;
SecretSource::~SecretSource() = default;

const std::vector<std::pair<std::string, std::string>>& SecretSource::refused() const noexcept {
  return state_->refused;
}

Result<SecretSource> SecretSource::create(const RuleSet& rules, std::vector<KnownSecret> known,
                                          const std::vector<std::string>& kinds_off) {
  for (const std::string& off : kinds_off) {
    if (std::any_of(rules.rules().begin(), rules.rules().end(), [&](const Rule& rule) { return rule.tier == Tier::secret && rule.kind == off; })) continue;
    return Error(ErrorCode::config_invalid, "redact.kinds_off names " + off + ", and there is no such kind")
        .hint("`guard rules list` shows the kinds in the tier called secret");
  }
  auto state = std::make_unique<State>();
  for (const KnownSecret& secret : known) state->markers.push_back(marker_name(secret.name));

  std::vector<SecretKind> created;
  created.reserve(rules.rules().size());
  for (const Rule& rule : rules.rules()) {
    if (rule.tier != Tier::secret || std::find(kinds_off.begin(), kinds_off.end(), rule.kind) != kinds_off.end()) continue;
    GUARD_TRY_ASSIGN(SecretKind kind, SecretKind::create(rule));
    (kind.machine == SecretKind::Machine::run ? state->runs : created).push_back(std::move(kind));
  }
  const auto longest_prefix = [](const SecretKind& kind) {
    std::size_t longest = 0;
    for (const std::string& prefix : kind.prefixes) longest = std::max(longest, prefix.size());
    return longest;
  };
  // A kind that goes by how a value looks names a marker only where no other kind knows the value. Hundreds of kinds are
  // moved once each, which is felt when guard starts.
  std::vector<std::pair<std::size_t, SecretKind*>> order;
  order.reserve(created.size());
  for (SecretKind& kind : created) order.emplace_back(kind.by_looks() ? 0 : longest_prefix(kind), &kind);
  std::stable_sort(order.begin(), order.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  state->kinds.reserve(order.size());
  for (const auto& [length, kind] : order) state->kinds.push_back(std::move(*kind));
  const auto pem_kinds = std::count_if(state->kinds.begin(), state->kinds.end(),
                                       [](const SecretKind& kind) { return kind.machine == SecretKind::Machine::pem; });
  if (pem_kinds > 1) return Error(ErrorCode::rules_invalid, "more than one secret rule uses the pem machine");

  state->first_kind = static_cast<std::uint32_t>(state->markers.size());
  for (const SecretKind& kind : state->kinds) {
    for (const std::string& prefix : kind.prefixes) {
      const auto index = static_cast<std::uint32_t>(&kind - state->kinds.data());
      state->triggers.add({prefix, kind.fold_case, false, index}, kind.next);
    }
    state->markers.push_back(kind.name);
  }
  state->triggers.group_short();
  state->first_run = static_cast<std::uint32_t>(state->markers.size());
  for (const SecretKind& run : state->runs) state->markers.push_back(run.name);

  std::string markers;
  for (const std::string& marker : state->markers) markers += marker_text(marker) + "\n";
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    std::string reason = state->known.add(known[i].value, i);
    if (reason.empty() && stands_in(state->known, i, markers)) {
      reason = "it is part of what guard prints in place of secrets";
      state->known.drop(i);
    }
    if (!reason.empty()) state->refused.emplace_back(known[i].name, std::move(reason));
  }
  state->known.index();
  for (const KnownValues::Text& value : state->known.short_texts())
    state->triggers.add({value.text, false, true, value.kind});
  return SecretSource(std::move(state));
}

}  // namespace guard
