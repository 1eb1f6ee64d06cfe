// Finders look at the stream's bytes in memory and report spans; each has a frontier before which all of its spans are
// known. What lies before every frontier is final: it leaves, with one marker in the place of each hidden region. What
// lies behind stays, with 64 bytes of left context. No finder knows where a push ended.
//
// redact_whole() is the same definition without any of this: it looks at every offset of a text that is all there.
#include "redact/redactor.h"

#include <algorithm>
#include <vector>

#include "redact/known_values.h"
#include "redact/prefix_finder.h"
#include "redact/run_finder.h"
#include "redact/secret_state.h"

namespace guard {
namespace {

// Bounds what a large push adds to memory.
constexpr std::size_t kSliceBytes = 65536;

// At a forced end, what may be the beginning of a long run: a word is no reason to hide it, a mixture is.
bool looks_random(std::string_view text) {
  constexpr std::size_t kLiveRunBytes = 8;
  if (text.size() < kLiveRunBytes) return false;
  const auto unlike_a_word = [](char c) { return !(c >= 'a' && c <= 'z'); };
  return std::any_of(text.begin() + 1, text.end(), unlike_a_word);
}

}  // namespace

struct Redactor::State {
  State(const SecretSource::State& secrets_in, ByteSink& out_in)
      : secrets(secrets_in),
        out(out_in),
        known(secrets_in.known),
        prefixes(secrets_in.triggers, secrets_in.kinds, secrets_in.first_kind) {
    for (const SecretKind& run : secrets.runs) {
      runs.emplace_back(run, secrets.first_run + static_cast<std::uint32_t>(&run - secrets.runs.data()));
    }
  }

  StreamText text(bool ended) const { return StreamText(buffer, buffer_begin, ended); }
  Offset frontier() const;
  Result<void> advance(bool ended);
  Result<void> emit(const StreamText& from, Offset to);
  Result<void> keep(const StreamText& from, Offset to);
  void go_on_with_named_value(const StreamText& from, Offset to);
  void hide_live_end();
  Result<void> end(bool by_force);

  const SecretSource::State& secrets;
  ByteSink& out;
  std::string buffer;
  Offset buffer_begin = 0;
  Offset emitted = 0;       // all before this has left or is hidden
  Offset hidden_until = 0;  // end of the last region
  ByteSet named_value;      // what the last region goes on with, if it holds a named value and is open
  KnownFinder known;
  PrefixFinder prefixes;
  std::vector<RunFinder> runs;
  std::vector<SecretSpan> spans;  // that begin at `emitted` or later
  std::map<std::string, std::uint64_t> counts;
  bool closed = false;  // finished or failed: nothing leaves any more
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
  while (!bytes.empty()) {
    const auto slice = bytes.first(std::min(bytes.size(), kSliceBytes));
    bytes = bytes.subspan(slice.size());
    state_->buffer.append(slice.data(), slice.size());
    auto advanced = state_->advance(false);
    if (!advanced) {
      state_->closed = true;
      return advanced;
    }
  }
  return ok();
}

Result<void> Redactor::finish() {
  return state_->end(false);
}
Result<void> Redactor::finish_cut() {
  return state_->end(true);
}

const std::map<std::string, std::uint64_t>& Redactor::counts() const noexcept {
  return state_->counts;
}

std::size_t Redactor::carried_bytes() const noexcept {
  return state_->buffer.size();
}

Result<void> Redactor::State::end(bool by_force) {
  if (closed) return Error(ErrorCode::withheld, "the redactor was closed; its output is withheld");
  if (by_force) hide_live_end();
  auto advanced = advance(true);
  closed = true;
  if (!advanced) return advanced;
  return out.finish();
}

Offset Redactor::State::frontier() const {
  Offset first = std::min(known.frontier(), prefixes.frontier());
  for (const RunFinder& run : runs) first = std::min(first, run.frontier());
  return first;
}

Result<void> Redactor::State::advance(bool ended) {
  const StreamText all = text(ended);
  known.advance(all, spans);
  GUARD_TRY(prefixes.advance(all, known, spans));
  for (RunFinder& run : runs) run.advance(all, spans);

  const Offset final_until = ended ? all.end() : frontier();
  GUARD_TRY(emit(all, final_until));
  const Offset keep_from = std::max(buffer_begin, final_until - std::min<Offset>(final_until, kLeftContextBytes));
  buffer.erase(0, static_cast<std::size_t>(keep_from - buffer_begin));
  buffer_begin = keep_from;
  return ok();
}

// Lets out [emitted, to).
Result<void> Redactor::State::emit(const StreamText& from, Offset to) {
  std::sort(spans.begin(), spans.end(), [](const SecretSpan& a, const SecretSpan& b) {
    return a.begin != b.begin ? a.begin < b.begin : a.kind < b.kind;
  });
  auto span = spans.begin();
  for (; span != spans.end() && span->begin < to; ++span) {
    go_on_with_named_value(from, span->begin);
    // A region that touches the one before it is the same region: one marker tells no length and no seams.
    if (span->begin > hidden_until || counts.empty()) {
      GUARD_TRY(keep(from, span->begin));
      const std::string& kind = secrets.markers[span->kind];
      GUARD_TRY(out.push(marker_text(kind)));
      ++counts[kind];
    }
    hidden_until = std::max(hidden_until, span->end);
    if (const ByteSet* tail = secrets.named_value_tail(span->kind)) named_value |= *tail;
  }
  spans.erase(spans.begin(), span);
  go_on_with_named_value(from, to);
  return keep(from, to);
}

// Extends the last region, if it holds a named value, up to `to` at most. A region that ends before `to` is closed.
void Redactor::State::go_on_with_named_value(const StreamText& from, Offset to) {
  if (hidden_until >= to) return;
  if (!named_value.empty()) {
    while (hidden_until < to && named_value.has(from.at(hidden_until))) ++hidden_until;
  }
  if (hidden_until < to) named_value = ByteSet();
}

// Lets out what is not hidden of [emitted, to).
Result<void> Redactor::State::keep(const StreamText& from, Offset to) {
  const Offset begin = std::max(emitted, std::min(hidden_until, to));
  emitted = std::max(emitted, to);
  if (begin >= to) return ok();
  return out.push(from.between(begin, to));
}

// Half a key at the end of a stream that was cut off is no match, but it is half a key.
void Redactor::State::hide_live_end() {
  const StreamText all = text(false);
  std::uint32_t marker = 0;
  const Offset live = prefixes.live_from(all, marker);
  if (live < all.end()) spans.push_back({live, all.end(), marker});
  for (const RunFinder& run : runs) {
    const Offset begin = run.live_from(all);
    if (begin < all.end() && looks_random(all.from(begin))) {
      spans.push_back({begin, all.end(), secrets.first_run + static_cast<std::uint32_t>(&run - runs.data())});
    }
  }
  std::uint32_t known_marker = 0;
  const Offset begun = secrets.known.begun_at_end(all, known_marker);
  if (begun < all.end()) spans.push_back({begun, all.end(), known_marker});
}

}  // namespace guard
