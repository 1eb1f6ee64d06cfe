#include "redact/stream/finders.h"

#include <algorithm>

namespace guard {
namespace {

// At a forced end, what may be the beginning of a long run: a word is no reason to hide it, a mixture is.
bool looks_random(std::string_view text) {
  constexpr std::size_t kLiveRunBytes = 8;
  if (text.size() < kLiveRunBytes) return false;
  const auto unlike_a_word = [](char c) { return !(c >= 'a' && c <= 'z'); };
  return std::any_of(text.begin() + 1, text.end(), unlike_a_word);
}

}  // namespace

Finders::Finders(const SecretSource::State& secrets)
    : secrets_(&secrets), known_(secrets.known), prefixes_(secrets), wrapped_(secrets.wrapped_runs()) {
  for (std::uint32_t i = 0; i < secrets.runs.size(); ++i) {
    if (!secrets.is_off(secrets.kinds.size() + i)) runs_.emplace_back(secrets.runs[i], secrets.first_run() + i);
  }
}

Result<void> Finders::advance(
    const StreamText& text, TriggerScan& triggers, const OuterMask* outer, std::vector<SecretSpan>& spans) {
  known_.advance(text, spans);
  GUARD_TRY(prefixes_.advance(text, triggers, known_, outer, spans));
  for (RunFinder& run : runs_) run.advance(text, outer, spans);
  if (wrapped_) wrapped_->advance(text, spans);
  return ok();
}

Offset Finders::frontier() const {
  Offset first = std::min(known_.frontier(), prefixes_.frontier());
  for (const RunFinder& run : runs_) first = std::min(first, run.frontier());
  return wrapped_ ? std::min(first, wrapped_->frontier()) : first;
}

void Finders::add_live_end(const StreamText& text, TriggerScan& triggers, std::vector<SecretSpan>& spans) const {
  const auto add = [&](Offset begin, std::uint32_t marker) {
    if (begin < text.end()) spans.push_back({begin, text.end(), marker});
  };
  std::uint32_t marker = 0;
  const Offset live = prefixes_.live_from(text, triggers, marker);
  add(live, marker);
  for (const RunFinder& run : runs_) {
    const Offset begin = run.live_from(text);
    if (begin < text.end() && looks_random(text.from(begin))) add(begin, run.marker());
  }
  if (wrapped_) add(wrapped_->live_from(text), wrapped_->marker());
  const Offset begun = secrets_->known.begun_at_end(text, marker);
  add(begun, marker);
}

}  // namespace guard
