#include "redact/stream/prefix_finder.h"

#include <algorithm>

#include "redact/stream/secret_state.h"

namespace guard {

using Seen = Trigger::Seen;

PrefixFinder::PrefixFinder(const SecretSource::State& secrets)
    : secrets_(&secrets), first_marker_(secrets.first_kind()), states_(secrets.kinds.size()) {
  for (const SecretKind& kind : secrets.kinds) {
    if (kind.lead_max == 0) continue;
    lead_max_ = std::max(lead_max_, kind.lead_max);
    leads_ |= kind.lead;
  }
}

Result<void> PrefixFinder::advance(const StreamText& text, TriggerScan& triggers, const KnownFinder& known,
    const OuterMask* outer, std::vector<SecretSpan>& spans) {
  const Masks masks{&known, outer};
  windows_ = {};
  const std::vector<std::uint32_t> before = std::move(swallowing_);
  swallowing_.clear();
  for (const std::uint32_t kind : before) swallow(text, kind, spans);
  GUARD_TRY(follow_pem(text, spans));

  for (scan_ = triggers.next(text, scan_); scan_ < text.end(); scan_ = triggers.next(text, scan_)) {
    GUARD_TRY_ASSIGN(const bool decided, decide_at(text, scan_, masks, spans));
    if (!decided) break;
    ++scan_;
  }
  // The next match may begin before its trigger.
  frontier_ = scan_;
  for (std::size_t i = 0; i < lead_max_ && frontier_ > text.begin() && leads_.has(text.at(frontier_ - 1)); ++i)
    --frontier_;
  if (pem_) frontier_ = std::min(frontier_, pem_->tail.end());
  for (const std::uint32_t kind : swallowing_) frontier_ = std::min(frontier_, states_[kind].end);
  return ok();
}

std::optional<std::string_view> PrefixFinder::window(const StreamText& text, Offset from, Value value) {
  std::optional<Window>& last = windows_[static_cast<std::size_t>(value)];
  if (!last || last->from != from) last = {from, text.window(from, value)};
  return last->text;
}

// Decides all triggers at `at`; false where one of them needs more text. All or none, so that none is decided twice.
Result<bool> PrefixFinder::decide_at(
    const StreamText& text, Offset at, const Masks& masks, std::vector<SecretSpan>& spans) {
  const std::string_view rest = text.from(at);
  const std::span<const Trigger> triggers = secrets_->triggers.candidates(rest);
  const auto blocked = [&](const Trigger& trigger) {
    const KindState& state = states_[trigger.kind];
    return state.swallowing || at < state.end;
  };
  bool any = false;
  for (const Trigger& trigger : triggers) {
    const Seen seen = trigger.seen(rest);
    if (seen == Seen::no || blocked(trigger)) continue;
    if (seen == Seen::partly) {
      if (text.ended()) continue;
      return false;
    }
    any = true;
    if (pem_ && pem_->kind == trigger.kind) return false;  // the key before it may still reach over this one
    if (masks.known->frontier() < at || (masks.outer != nullptr && !masks.outer->knows(at))) return false;
    const SecretKind& kind = secrets_->kinds[trigger.kind];
    const Offset from = lead_of(kind, text, at);
    if (!may_begin(kind, text, from, masks)) continue;  // decided, whatever follows
    if (!window(text, from, kind.value)) return false;
  }
  if (!any) return true;
  for (const Trigger& trigger : triggers) {
    if (trigger.seen(rest) == Seen::fully && !blocked(trigger)) GUARD_TRY(decide(text, trigger.kind, at, masks, spans));
  }
  return true;
}

Offset PrefixFinder::lead_of(const SecretKind& kind, const StreamText& text, Offset at) const {
  for (std::size_t i = 0; i < kind.lead_max && at > text.begin() && kind.lead.has(text.at(at - 1)); ++i) --at;
  return at;
}

bool PrefixFinder::left_masked(Offset from, const Masks& masks) const {
  return masks.known->hides_before(from) || (masks.outer != nullptr && masks.outer->ends_before(from));
}

// False in the middle of a word, where no secret of the kind begins.
bool PrefixFinder::may_begin(const SecretKind& kind, const StreamText& text, Offset from, const Masks& masks) const {
  return kind.any_left || at_word_start(text.left_of(from)) || left_masked(from, masks);
}

Result<void> PrefixFinder::decide(
    const StreamText& text, std::uint32_t kind_index, Offset at, const Masks& masks, std::vector<SecretSpan>& spans) {
  const SecretKind& kind = secrets_->kinds[kind_index];
  const Offset from = lead_of(kind, text, at);
  if (!may_begin(kind, text, from, masks)) return ok();
  const std::string_view window = *this->window(text, from, kind.value);
  std::unique_ptr<LastRefusal>& last = states_[kind_index].last;
  if (!last) last = std::make_unique<LastRefusal>();
  const Candidate candidate{text.left_of(from), left_masked(from, masks), window, static_cast<std::size_t>(at - from)};
  GUARD_TRY_ASSIGN(const KindMatch match, secrets_->decide(kind_index, candidate, last.get()));
  if (!match.found) return ok();

  if (kind.machine == SecretKind::Machine::pem) {
    GUARD_TRY_ASSIGN(const PemTail tail,
        PemTail::open(from, from + match.end, window.substr(match.end), window.size() == kWindowBytes));
    if (!tail.active()) return ok();
    states_[kind_index].end = tail.end();
    spans.push_back({from, tail.end(), first_marker_ + kind_index});
    pem_ = OpenPem{tail, kind_index};
    return follow_pem(text, spans);
  }
  spans.push_back({from + match.begin, from + match.end, first_marker_ + kind_index});
  states_[kind_index].end = from + match.end;
  swallow(text, kind_index, spans);
  return ok();
}

void PrefixFinder::swallow(const StreamText& text, std::uint32_t kind, std::vector<SecretSpan>& spans) {
  KindState& state = states_[kind];
  const Offset end = text.skip(state.end, secrets_->kinds[kind].tail);
  if (end > state.end) spans.push_back({state.end, end, first_marker_ + kind, true});
  state.end = end;
  state.swallowing = end == text.end() && !text.ended();
  if (state.swallowing) swallowing_.push_back(kind);
}

Result<void> PrefixFinder::follow_pem(const StreamText& text, std::vector<SecretSpan>& spans) {
  if (!pem_) return ok();
  const Offset before = pem_->tail.end();
  GUARD_TRY(pem_->tail.advance(text));
  const Offset end = pem_->tail.end();
  if (end > before) spans.push_back({before, end, first_marker_ + pem_->kind, true});
  states_[pem_->kind].end = end;
  if (!pem_->tail.active()) pem_.reset();
  return ok();
}

Offset PrefixFinder::live_from(const StreamText& text, TriggerScan& triggers, std::uint32_t& marker) const {
  for (Offset at = triggers.next(text, scan_); at < text.end(); at = triggers.next(text, at + 1)) {
    const std::string_view rest = text.from(at);
    for (const Trigger& trigger : secrets_->triggers.candidates(rest)) {
      const Seen seen = trigger.seen(rest);
      if (seen == Seen::no || secrets_->is_off(trigger.kind)) continue;
      marker = first_marker_ + trigger.kind;
      const SecretKind& kind = secrets_->kinds[trigger.kind];
      const Offset from = lead_of(kind, text, at);
      if (seen == Seen::partly) {
        if (text.end() - from >= kLiveLiteralBytes) return from;
        continue;
      }
      if (!kind.any_left && !at_word_start(text.left_of(from))) continue;
      const Offset behind = at + trigger.literal.size();
      if (text.window(from, kind.value)) continue;  // decided
      // A name stays readable, what follows it does not; a key with a dot or the like in it has not failed yet either.
      if (kind.has_group) return behind;
      return from;
    }
  }
  return text.end();
}

}  // namespace guard
