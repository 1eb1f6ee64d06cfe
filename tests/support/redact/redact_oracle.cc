#include "tests/support/redact/redact_oracle.h"

// F, written down: every offset is looked at, all of the text is there, and time does not matter.
#include <algorithm>
#include <array>
#include <vector>

#include "redact/kinds/pem_tail.h"
#include "redact/stream/gap.h"
#include "redact/stream/secret_state.h"
#include "redact/stream/visible_text.h"

namespace guard {
namespace {

bool same_ignoring_case(std::string_view text, std::string_view lower) {
  return std::equal(text.begin(), text.end(), lower.begin(), lower.end(),
      [](char a, char b) { return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b; });
}

class Definition {
 public:
  Definition(const SecretSource::State& secrets, std::string_view text) : secrets_(secrets), text_(text) {}

  Result<std::string> output() {
    GUARD_TRY(find_in_both());
    return rewrite();
  }

 private:
  Result<void> find_in_both() {
    GUARD_TRY(find());
    VisibleText shadow(secrets_);
    shadow.advance(StreamText(text_, 0, true));
    const StreamText reading = shadow.text(true);
    Definition second(secrets_, reading.between(0, reading.end()));
    second.outer_ = this;
    second.shadow_ = &shadow;
    GUARD_TRY(second.find());
    // The regions, and each span once more: the region is named by its first, and goes on as any of them does.
    auto span = second.spans_.begin();
    for (const SecretSpan& region : second.merged()) {
      shadow.carry_back(region, spans_);
      for (; span != second.spans_.end() && span->begin < region.end; ++span) {
        SecretSpan part = *span;
        part.goes_on = part.goes_on || part.begin > region.begin;
        shadow.carry_back(part, spans_);
      }
    }
    return ok();
  }

  Result<void> find() {
    find_known();
    known_mask_.resize(text_.size(), false);
    for (const SecretSpan& span : spans_) {
      for (Offset at = span.begin; at < span.end; ++at) known_mask_[static_cast<std::size_t>(at)] = true;
    }
    find_beginnings();
    for (std::uint32_t i = 0; i < secrets_.kinds.size(); ++i) GUARD_TRY(find_kind(i));
    for (std::uint32_t i = 0; i < secrets_.runs.size(); ++i) {
      if (!secrets_.is_off(secrets_.kinds.size() + i)) find_runs(secrets_.runs[i], secrets_.first_run() + i);
    }
    if (auto wrapped = secrets_.wrapped_runs()) wrapped->advance(StreamText(text_, 0, true), spans_);
    return ok();
  }

  // A secret of the stream hides the byte before this one of the shadow's, or the end of the gap before that.
  bool masked_in_stream(std::size_t at) const {
    if (outer_ == nullptr) return false;
    const auto hidden = [&](Offset byte) {
      return std::any_of(outer_->spans_.begin(), outer_->spans_.end(),
          [&](const SecretSpan& span) { return span.begin <= byte && byte < span.end; });
    };
    const Offset here = shadow_->to_stream(at);
    if (hidden(here)) return false;
    const std::optional<Offset> before = shadow_->before_in_stream(at);
    return (here > 0 && hidden(here - 1)) || (before && hidden(*before));
  }

  void find_known() {
    for (const KnownText& known : secrets_.known.short_texts()) {
      for (std::size_t at = text_.find(known.text); at != std::string_view::npos; at = text_.find(known.text, at + 1)) {
        spans_.push_back({at, at + known.text.size(), known.kind});
      }
    }
    constexpr std::size_t size = KnownValues::kFragmentBytes;
    for (const KnownText& known : secrets_.known.long_texts()) {
      for (std::size_t at = 0; at + size <= text_.size(); ++at) {
        if (known.text.find(text_.substr(at, size)) != std::string::npos) spans_.push_back({at, at + size, known.kind});
      }
    }
  }

  // Compares every prefix with every offset; sorting them by their first byte spares most of it.
  void find_beginnings() {
    beginnings_.resize(secrets_.kinds.size());
    struct Prefix {
      std::string_view text;
      std::uint32_t kind;
    };
    std::array<std::vector<Prefix>, 256> prefixes;
    for (std::uint32_t i = 0; i < secrets_.kinds.size(); ++i) {
      for (const std::string_view prefix : secrets_.kinds[i].prefixes) {
        const char first = prefix.front();
        prefixes[static_cast<unsigned char>(first)].push_back({prefix, i});
        const bool letter = first >= 'a' && first <= 'z';
        if (letter && secrets_.kinds[i].fold_case)
          prefixes[static_cast<unsigned char>(first - 'a' + 'A')].push_back({prefix, i});
      }
    }
    for (std::size_t at = 0; at < text_.size(); ++at) {
      for (const Prefix& prefix : prefixes[static_cast<unsigned char>(text_[at])]) {
        const std::string_view here = text_.substr(at, prefix.text.size());
        const bool same =
            secrets_.kinds[prefix.kind].fold_case ? same_ignoring_case(here, prefix.text) : here == prefix.text;
        std::vector<std::size_t>& places = beginnings_[prefix.kind];
        if (same && (places.empty() || places.back() != at)) places.push_back(at);
      }
    }
  }

  // The first offset from `at` on where one of the kind's prefixes stands.
  std::size_t next_beginning(std::uint32_t kind, std::size_t at) const {
    const std::vector<std::size_t>& places = beginnings_[kind];
    const auto place = std::lower_bound(places.begin(), places.end(), at);
    return place == places.end() ? text_.size() : *place;
  }

  Result<void> find_kind(std::uint32_t index) {
    const SecretKind& kind = secrets_.kinds[index];
    const std::uint32_t marker = secrets_.first_kind() + index;
    for (std::size_t at = next_beginning(index, 0); at < text_.size();) {
      std::size_t from = at;
      while (from > 0 && at - from < kind.lead_max && kind.lead.has(text_[from - 1])) --from;
      const std::string_view window = decision_window(text_.substr(from), kind.value);
      const std::size_t left = from - std::min(from, kLeftContextBytes);
      const bool left_masked = from > 0 && (known_mask_[from - 1] || masked_in_stream(from));
      GUARD_TRY_ASSIGN(const KindMatch match,
          secrets_.decide(index, {text_.substr(left, from - left), left_masked, window, at - from}));
      std::size_t end = at;
      if (match.found && kind.machine == SecretKind::Machine::pem) {
        const bool open = window.size() == kWindowBytes;
        GUARD_TRY_ASSIGN(PemTail tail, PemTail::open(from, from + match.end, window.substr(match.end), open));
        if (tail.active()) {
          GUARD_TRY(tail.advance(StreamText(text_, 0, true)));
          end = static_cast<std::size_t>(tail.end());
          spans_.push_back({from, end, marker});
        }
      } else if (match.found) {
        end = from + match.end;
        while (end < text_.size() && kind.tail.has(text_[end])) ++end;
        spans_.push_back({from + match.begin, end, marker});
      }
      at = next_beginning(index, std::max(end, at + 1));
    }
    return ok();
  }

  // Each `min` bytes of the alphabet in a row that meet every need hide themselves and the rest of their run.
  void find_runs(const SecretKind& kind, std::uint32_t marker) {
    const auto in_alphabet = [&](char c) { return kind.run_chars.has(c); };
    for (std::size_t at = 0; at < text_.size(); ++at) {
      if (!in_alphabet(text_[at])) continue;
      const auto run_end = std::find_if_not(text_.begin() + static_cast<std::ptrdiff_t>(at), text_.end(), in_alphabet);
      std::size_t end = static_cast<std::size_t>(run_end - text_.begin());
      for (; at + kind.size_min <= end; ++at) {
        const std::string_view window = text_.substr(at, kind.size_min);
        if (missing_in_run(kind, window) || (shadow_ != nullptr && shadow_->last_seam(at, at + kind.size_min) > at))
          continue;
        const std::size_t left = at - std::min(at, kLeftContextBytes);
        if (const std::size_t escape = rest_of_escape(text_.substr(left, at - left), window); escape > 0) {
          at += escape - 1;
          continue;
        }
        const std::size_t begin = at;
        for (std::size_t pad = 0; pad < kRunPadMax && end < text_.size() && kind.run_pad.has(text_[end]); ++pad) ++end;
        spans_.push_back({begin, end, marker});
        break;
      }
      at = end - 1;
    }
  }

  // All spans that overlap or touch, and what named values in them go on with, as one region; the first span names it.
  // Where a named value goes on behind gaps, that is a region that goes on.
  std::vector<SecretSpan> merged() {
    std::sort(spans_.begin(), spans_.end(), in_order);
    std::vector<SecretSpan> regions;
    for (auto span = spans_.begin(); span != spans_.end();) {
      SecretSpan region = *span;
      std::size_t at = static_cast<std::size_t>(region.begin);
      ByteSet named_value;
      for (;;) {
        if (span != spans_.end() && span->begin <= at) {
          at = std::max(at, static_cast<std::size_t>(span->end));
          if (const ByteSet* tail = secrets_.named_value_tail(span->kind)) named_value |= *tail;
          ++span;
        } else if (at < text_.size() && named_value.has(text_[at])) {
          ++at;
        } else {
          region.end = at;
          regions.push_back(region);
          at = behind_gaps(at, span == spans_.end() ? text_.size() : static_cast<std::size_t>(span->begin));
          if (at == region.end || at == text_.size() || named_value.empty()) break;
          const bool by_span = span != spans_.end() && span->begin <= at;
          // A part that goes on behind gaps has no marker: for the reader the value is not over.
          if (by_span ? !span->goes_on || span->begin != at : !named_value.has(text_[at])) break;
          region.begin = at;
          region.goes_on = true;
        }
      }
    }
    return regions;
  }

  std::size_t behind_gaps(std::size_t at, std::size_t limit) const {
    while (outer_ == nullptr && at < limit) {
      const Gap gap = gap_at(text_.substr(at), true);
      if (gap.kind != Gap::Kind::escape && gap.kind != Gap::Kind::invisible) break;
      at += gap.size;
    }
    return at;
  }

  std::string rewrite() {
    std::string out;
    std::size_t at = 0;
    for (const SecretSpan& region : merged()) {
      out += text_.substr(at, static_cast<std::size_t>(region.begin) - at);
      if (!region.goes_on) out += marker_text(secrets_.name(region.kind));
      at = static_cast<std::size_t>(region.end);
    }
    out += text_.substr(at);
    return out;
  }

  const SecretSource::State& secrets_;
  std::string_view text_;
  std::vector<std::vector<std::size_t>> beginnings_;  // by kind, in order
  std::vector<SecretSpan> spans_;
  std::vector<bool> known_mask_;       // the bytes of known values
  const Definition* outer_ = nullptr;  // of the stream, if this is its shadow
  const VisibleText* shadow_ = nullptr;
};

}  // namespace

Result<std::string> redact_whole(const SecretSource& secrets, std::string_view text) {
  return Definition(secrets.state(), text).output();
}

}  // namespace guard
