// Finders look at the stream's bytes in memory and report spans; each has a frontier before which all of its spans are
// known. What lies before every frontier is final: it leaves, with one marker in the place of each hidden region. What
// lies behind stays, with 64 bytes of left context. No finder knows where a push ended.
//
// The same finders read the stream's shadow (visible_text.h); what they find there hides the bytes that it is made of.
//
// redact_whole() in the tests is the same definition without any of this: it looks at every offset of a text that is
// all there.
#include "redact/redactor.h"

#include <algorithm>
#include <vector>

#include "redact/masked_regions.h"
#include "redact/stream/finders.h"
#include "redact/stream/regions.h"
#include "redact/stream/secret_state.h"
#include "redact/stream/visible_text.h"

namespace guard {
namespace {

// Bounds what a large push adds to memory.
constexpr std::size_t kSliceBytes = 65536;

// From this size on a push is looked at where it lies, once what was held back before it is decided; this much of it is
// joined with that at a time.
constexpr std::size_t kInPlaceBytes = 4096;
constexpr std::size_t kJoinedBytes = 2048;

// How much of the buffer may be dead before it is moved: single bytes must not move all of it.
constexpr std::size_t kDeadBytesMax = 2048;

class NowhereSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char>) override { return ok(); }
  Result<void> finish() override { return ok(); }
};

}  // namespace

// Behind a secret of the stream a reader of the output sees a marker's end, whatever the shadow shows there.
class StreamMask final : public OuterMask {
 public:
  StreamMask(const VisibleText& shadow, const HiddenStretches& hidden, Offset frontier)
      : shadow_(&shadow), hidden_(&hidden), frontier_(frontier) {}
  bool knows(Offset at) const override { return frontier_ > shadow_->to_stream(at); }
  bool ends_before(Offset at) const override {
    const Offset here = shadow_->to_stream(at);
    if (hidden_->hides(here)) return false;
    const std::optional<Offset> before = shadow_->before_in_stream(at);
    return (here > 0 && hidden_->hides(here - 1)) || (before && hidden_->hides(*before));
  }
  Offset last_seam(Offset from, Offset to) const override { return shadow_->last_seam(from, to); }

 private:
  const VisibleText* shadow_;
  const HiddenStretches* hidden_;
  Offset frontier_;
};

struct Redactor::State {
  State(const SecretSource::State& secrets_in, ByteSink& out_in)
      : secrets(secrets_in),
        out(out_in),
        finders(secrets_in),
        regions(secrets_in, Regions::Gaps::go_on_behind),
        shadow(secrets_in),
        shadow_finders(secrets_in),
        shadow_regions(secrets_in, Regions::Gaps::none) {}

  StreamText text(bool ended) const { return StreamText(buffer, buffer_begin, ended); }
  // Without what may become a gap at its end: that must not yet end a candidate before it.
  StreamText read_of(const StreamText& held) const {
    return StreamText(held.between(held.begin(), shadow.passed()), held.begin(), held.ended());
  }
  Result<void> take(std::string_view bytes);
  Result<void> take_in_place(std::string_view& bytes);
  Result<void> take_joined(std::string_view& bytes);
  Result<Offset> advance(const StreamText& held);
  Result<Offset> advance_shadow(bool ended);
  Result<void> emit(const StreamText& from, Offset to);
  Result<void> go_on(const StreamText& from, Offset to);
  Result<void> keep(const StreamText& from, Offset hidden_until, Offset to);
  void go_on_in_shadow(const StreamText& all, Offset to);
  void hide_live_end();
  Result<void> end(bool by_force);

  const SecretSource::State& secrets;
  ByteSink& out;
  std::string buffer;
  Offset buffer_begin = 0;
  Offset emitted = 0;  // all before this has left or is hidden
  Finders finders;
  HiddenStretches hidden_in_stream;  // of late, by what the finders found in the stream itself
  Regions regions;
  VisibleText shadow;
  Finders shadow_finders;
  Regions shadow_regions;
  std::vector<SecretSpan> spans;         // that begin at `emitted` or later
  std::vector<SecretSpan> shadow_spans;  // of the shadow, not carried back yet
  std::map<std::string, std::uint64_t> counts;
  bool closed = false;                        // finished or failed: nothing leaves any more
  std::vector<MaskedRegion>* told = nullptr;  // where regions are asked for
};

Redactor::Redactor(std::unique_ptr<State> state) : state_(std::move(state)) {}
Redactor::Redactor(Redactor&&) noexcept = default;
Redactor& Redactor::operator=(Redactor&&) noexcept = default;
Redactor::~Redactor() = default;

Result<Redactor> Redactor::create(const SecretSource& secrets, ByteSink& out) {
  return Redactor(std::make_unique<State>(secrets.state(), out));
}

Result<void> Redactor::push(std::span<const char> bytes) {
  if (state_->closed) return Error(ErrorCode::withheld, "the redactor was closed; its output is withheld");
  auto taken = state_->take({bytes.data(), bytes.size()});
  if (!taken) state_->closed = true;
  return taken;
}

Result<void> Redactor::finish() { return state_->end(false); }
Result<void> Redactor::finish_cut() { return state_->end(true); }

const std::map<std::string, std::uint64_t>& Redactor::counts() const noexcept { return state_->counts; }

std::size_t Redactor::held_bytes() const noexcept {
  return static_cast<std::size_t>(state_->text(false).end() - state_->emitted);
}

std::size_t Redactor::carried_bytes() const noexcept { return state_->buffer.size() + state_->shadow.carried_bytes(); }

Result<void> Redactor::State::end(bool by_force) {
  if (closed) return Error(ErrorCode::withheld, "the redactor was closed; its output is withheld");
  if (by_force) hide_live_end();
  const auto advanced = advance(text(true));
  closed = true;
  if (!advanced) return advanced.error();
  buffer.clear();
  return out.finish();
}

Result<void> Redactor::State::take(std::string_view bytes) {
  while (!bytes.empty()) {
    if (buffer.empty() && bytes.size() >= kInPlaceBytes) {
      GUARD_TRY(take_in_place(bytes));
    } else {
      GUARD_TRY(take_joined(bytes));
    }
  }
  return ok();
}

// Takes from the beginning of `bytes`, before which nothing is held. What of it has to be held stays in there if enough
// follows it.
Result<void> Redactor::State::take_in_place(std::string_view& bytes) {
  const std::string_view slice = bytes.substr(0, kSliceBytes);
  GUARD_TRY_ASSIGN(const Offset kept_from, advance(StreamText(slice, buffer_begin, false)));
  const auto left = static_cast<std::size_t>(kept_from - buffer_begin);
  buffer_begin = kept_from;
  if (left > slice.size() / 2 && bytes.size() - left >= kInPlaceBytes && slice.size() < bytes.size()) {
    bytes.remove_prefix(left);
  } else {
    buffer = slice.substr(left);
    bytes.remove_prefix(slice.size());
  }
  return ok();
}

// Takes from the beginning of `bytes` behind what is held.
Result<void> Redactor::State::take_joined(std::string_view& bytes) {
  const bool large = bytes.size() >= kInPlaceBytes + kJoinedBytes;
  const std::string_view slice = bytes.substr(0, large ? kJoinedBytes : kSliceBytes);
  buffer += slice;
  bytes.remove_prefix(slice.size());
  GUARD_TRY_ASSIGN(const Offset kept_from, advance(text(false)));
  const auto dead = static_cast<std::size_t>(kept_from - buffer_begin);
  const std::size_t kept = buffer.size() - dead;
  if (large && kept <= slice.size()) {
    bytes = std::string_view(bytes.data() - kept, bytes.size() + kept);
    buffer.clear();
    buffer_begin = kept_from;
  } else if (dead > kDeadBytesMax) {
    buffer.erase(0, dead);
    buffer_begin = kept_from;
  }
  return ok();
}

// Lets out what is decided of `held`, which is what is in memory. From the offset that is answered on it is needed
// again.
Result<Offset> Redactor::State::advance(const StreamText& held) {
  const bool ended = held.ended();
  shadow.advance(held);
  const StreamText all = read_of(held);
  const std::size_t first_new = spans.size();
  GUARD_TRY(finders.advance(all, shadow.triggers_of_stream(), nullptr, spans));
  for (std::size_t i = first_new; i < spans.size(); ++i) hidden_in_stream.add(spans[i].begin, spans[i].end);
  GUARD_TRY_ASSIGN(const Offset shadow_frontier, advance_shadow(ended));

  const Offset final_until = ended ? all.end() : std::min(finders.frontier(), shadow_frontier);
  GUARD_TRY(emit(all, final_until));
  const Offset kept_from = std::min(final_until - std::min<Offset>(final_until, kLeftContextBytes),
      shadow.read() - std::min<Offset>(shadow.read(), VisibleText::kLineBytesMax));
  hidden_in_stream.forget_before(kept_from);
  return std::max(kept_from, held.begin());
}

// The stream's offset before which all spans of the shadow have been reported.
Result<Offset> Redactor::State::advance_shadow(bool ended) {
  const StreamText all = shadow.text(ended);
  const StreamMask in_stream(shadow, hidden_in_stream, ended ? shadow.read() + 1 : finders.frontier());
  GUARD_TRY(shadow_finders.advance(all, shadow.triggers(), &in_stream, shadow_spans));
  const Offset frontier = ended ? all.end() : shadow_finders.frontier();
  std::sort(shadow_spans.begin(), shadow_spans.end(), in_order);
  auto span = shadow_spans.begin();
  for (; span != shadow_spans.end() && span->begin < frontier; ++span) {
    go_on_in_shadow(all, span->begin);
    shadow_regions.take(*span);
    SecretSpan hidden = *span;
    hidden.goes_on = hidden.goes_on || span->begin > shadow_regions.begin();
    shadow.carry_back(hidden, spans);
    // Also as a part of its region: where that began with a named value, this belongs to it.
    hidden.kind = shadow_regions.kind();
    if (hidden.kind != span->kind) shadow.carry_back(hidden, spans);
  }
  shadow_spans.erase(shadow_spans.begin(), span);
  go_on_in_shadow(all, frontier);
  const Offset decided = shadow.carry_back(frontier);
  shadow.forget_before(frontier);
  return decided;
}

void Redactor::State::go_on_in_shadow(const StreamText& all, Offset to) {
  const Offset before = shadow_regions.end();
  shadow_regions.go_on(all, to);
  if (shadow_regions.end() > before)
    shadow.carry_back({before, shadow_regions.end(), shadow_regions.kind(), true}, spans);
}

// Lets out [emitted, to).
Result<void> Redactor::State::emit(const StreamText& from, Offset to) {
  std::sort(spans.begin(), spans.end(), in_order);
  auto span = spans.begin();
  for (; span != spans.end() && span->begin < to; ++span) {
    if (span->end <= emitted) continue;  // the shadow begins with its line, and most of that has left
    GUARD_TRY(go_on(from, span->begin));
    const Offset hidden_until = regions.end();
    if (regions.take(*span)) {
      GUARD_TRY(keep(from, hidden_until, span->begin));
      if (!span->goes_on) {
        const std::string_view kind = secrets.name(span->kind);
        GUARD_TRY(out.push(marker_text(kind)));
        ++counts[std::string(kind)];
      }
    }
  }
  spans.erase(spans.begin(), span);
  GUARD_TRY(go_on(from, to));
  return keep(from, regions.end(), to);
}

// Up to `to`, over the gaps that a named value goes on behind; those leave.
Result<void> Redactor::State::go_on(const StreamText& from, Offset to) {
  while (const auto behind_gaps = regions.go_on(from, to)) {
    GUARD_TRY(keep(from, regions.end(), *behind_gaps));
    regions.go_on_from(*behind_gaps);
  }
  return ok();
}

// Lets out what is not hidden of [emitted, to).
Result<void> Redactor::State::keep(const StreamText& from, Offset hidden_until, Offset to) {
  const Offset begin = std::max(emitted, std::min(hidden_until, to));
  if (told != nullptr && begin > emitted) {
    if (!told->empty() && told->back().end == emitted) {
      told->back().end = static_cast<std::size_t>(begin);
    } else {
      told->push_back({static_cast<std::size_t>(emitted), static_cast<std::size_t>(begin)});
    }
  }
  emitted = std::max(emitted, to);
  if (begin >= to) return ok();
  return out.push(from.between(begin, to));
}

// Half a key at the end of a stream that was cut off is no match, but it is half a key; also where half an escape
// follows it.
void Redactor::State::hide_live_end() {
  finders.add_live_end(text(false), shadow.triggers_of_stream(), spans);
  finders.add_live_end(read_of(text(false)), shadow.triggers_of_stream(), spans);
  shadow_finders.add_live_end(shadow.text(false), shadow.triggers(), shadow_spans);
  // The line that may go on with the secret before it.
  const Offset end = text(false).end();
  const auto waits =
      std::find_if(spans.begin(), spans.end(), [&](const SecretSpan& span) { return span.end == shadow.read(); });
  if (shadow.read() < end && waits != spans.end()) spans.push_back({shadow.read(), end, waits->kind, true});
}

Result<std::vector<MaskedRegion>> masked_regions(const SecretSource& secrets, std::string_view text) {
  std::vector<MaskedRegion> found;
  NowhereSink nowhere;
  GUARD_TRY_ASSIGN(Redactor redactor, Redactor::create(secrets, nowhere));
  redactor.state_->told = &found;
  GUARD_TRY(redactor.push(text));
  GUARD_TRY(redactor.finish());
  return found;
}

Result<std::string> redact_text(const SecretSource& secrets, std::string_view text) {
  StringSink redacted;
  GUARD_TRY_ASSIGN(Redactor redactor, Redactor::create(secrets, redacted));
  GUARD_TRY(redactor.push(text));
  GUARD_TRY(redactor.finish());
  return std::move(redacted.text);
}

}  // namespace guard
