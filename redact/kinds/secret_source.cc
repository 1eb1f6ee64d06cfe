#include "redact/kinds/secret_source.h"

#include <algorithm>
#include <set>

#include "redact/stream/seam.h"
#include "redact/stream/secret_state.h"

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

// Which of the known values stand in a marker: they would be hidden in there, and that marker's marker again.
std::set<std::uint32_t> part_of_markers(const SecretSource::State& state) {
  std::string markers;
  for (std::uint32_t i = 0; i < state.first_run() + state.runs.size(); ++i)
    markers += marker_text(state.name(i)) + "\n";
  std::vector<SecretSpan> spans;
  KnownFinder finder(state.known);
  finder.advance(StreamText(markers, 0, true), spans);
  std::set<std::uint32_t> found;
  for (const SecretSpan& span : spans) found.insert(span.kind);
  for (const KnownText& known : state.known.short_texts()) {
    if (markers.find(known.text) != std::string::npos) found.insert(known.kind);
  }
  return found;
}

// If two threads race, the first result wins.
template <class Made, class From>
const Made& made_once(std::atomic<const Made*>& place, const From& from) {
  const Made* made = place.load(std::memory_order_acquire);
  if (made == nullptr) {
    auto ours = std::make_unique<const Made>(from);
    made = place.compare_exchange_strong(made, ours.get()) ? ours.release() : made;
  }
  return *made;
}

}  // namespace

SecretSource::SecretSource(std::unique_ptr<State> state) : state_(std::move(state)) {}
SecretSource::SecretSource(SecretSource&&) noexcept = default;
SecretSource& SecretSource::operator=(SecretSource&&) noexcept = default;
SecretSource::~SecretSource() = default;

const std::vector<std::pair<std::string, std::string>>& SecretSource::refused() const noexcept {
  return state_->refused;
}

Result<SecretSource> SecretSource::create(
    const RuleSet& rules, std::vector<KnownSecret> known, const std::vector<std::string>& kinds_off) {
  GUARD_TRY_ASSIGN(auto own, OwnKindTable::create(rules));
  auto state = std::make_unique<State>(own->table());
  state->own = std::move(own);
  return make(std::move(state), std::move(known), kinds_off);
}

Result<SecretSource> SecretSource::shipped(std::vector<KnownSecret> known, const std::vector<std::string>& kinds_off) {
  return make(std::make_unique<State>(shipped_kind_table()), std::move(known), kinds_off);
}

Result<SecretSource> SecretSource::make(
    std::unique_ptr<State> state, std::vector<KnownSecret> known, const std::vector<std::string>& kinds_off) {
  if (!kinds_off.empty()) state->kinds_off.resize(state->kinds.size() + state->runs.size());
  for (const std::string& off : kinds_off) {
    bool any = false;
    for (std::size_t i = 0; i < state->kinds_off.size(); ++i) {
      const bool same = state->name(static_cast<std::uint32_t>(i)) == off;  // no known value is there yet
      if (same) state->kinds_off[i] = true;
      any = any || same;
    }
    if (any) continue;
    return Error(ErrorCode::config_invalid, "redact.kinds_off names " + off + ", and there is no such kind")
        .hint("`guard rules list` shows the kinds in the tier called secret");
  }

  std::vector<std::string> reasons;
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    state->known_names.push_back(marker_name(known[i].name));
    reasons.push_back(state->known.add(known[i].value, i));
  }
  if (!known.empty()) {
    state->known.index();
    const std::set<std::uint32_t> in_markers = part_of_markers(*state);
    for (const std::uint32_t kind : in_markers) {
      reasons[kind] = "it is part of what guard prints in place of secrets";
      state->known.drop(kind);
    }
    if (!in_markers.empty()) state->known.index();
  }
  for (std::uint32_t i = 0; i < known.size(); ++i) {
    if (!reasons[i].empty()) state->refused.emplace_back(known[i].name, std::move(reasons[i]));
  }
  return SecretSource(std::move(state));
}

SecretSource::State::State(const KindTable& table)
    : kinds(table.kinds),
      runs(table.runs),
      triggers(table.kinds),
      judges_(std::make_unique<std::atomic<const SecretMatcher*>[]>(table.kinds.size())) {}

SecretSource::State::~State() {
  for (std::size_t i = 0; i < kinds.size(); ++i) delete judges_[i].load();
  delete seams_.load();
}

Result<KindMatch> SecretSource::State::decide(std::uint32_t kind, const Candidate& candidate, LastRefusal* last) const {
  if (is_off(kind)) return KindMatch();
  return made_once(judges_[kind], kinds[kind]).decide(candidate, last);
}

const SeamTable& SecretSource::State::seams() const { return made_once(seams_, *this); }

}  // namespace guard
