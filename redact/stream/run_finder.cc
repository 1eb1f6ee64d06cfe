#include "redact/stream/run_finder.h"

#include <algorithm>
#include <optional>

namespace guard {

void RunFinder::advance(const StreamText& text, const OuterMask* outer, std::vector<SecretSpan>& spans) {
  for (;;) {
    if (state_ == State::searching) {
      if (!search(text, outer)) return;
      state_ = State::inside;
      told_ = false;
    }
    if (state_ == State::inside) {
      const Offset end = text.skip(begin_, kind_->run_chars);
      if (end > begin_) spans.push_back({begin_, end, marker_, told_});
      told_ = true;
      begin_ = end;
      if (end == text.end()) return;
      state_ = State::padding;
      padding_left_ = kRunPadMax;
    }
    const Offset from = begin_;
    while (padding_left_ > 0 && begin_ < text.end() && kind_->run_pad.has(text.at(begin_))) {
      ++begin_;
      --padding_left_;
    }
    if (begin_ > from) spans.push_back({from, begin_, marker_, true});
    if (begin_ == text.end()) return;
    state_ = State::searching;
    in_run_until_ = begin_;
  }
}

// Moves begin_ to the next secret and answers true, or as far as the text tells and answers false.
bool RunFinder::search(const StreamText& text, const OuterMask* outer) {
  const ByteSet& chars = kind_->run_chars;
  const Offset min = kind_->size_min;
  for (;;) {
    const bool short_of_text = begin_ + min > text.end();
    const Offset probe_end = short_of_text ? text.end() : begin_ + min;
    // Backwards from the far end: text that is no run is left after one look.
    const Offset seen_to = std::max(begin_, in_run_until_);
    Offset at = probe_end;
    while (at > seen_to && chars.has(text.at(at - 1))) --at;
    const bool broken = at > seen_to;
    in_run_until_ = std::max(in_run_until_, probe_end);
    if (broken) begin_ = at;
    if (short_of_text) return false;
    if (broken) continue;
    if (const Offset seam = outer == nullptr ? begin_ : outer->last_seam(begin_, begin_ + min); seam > begin_) {
      begin_ = seam;
      continue;
    }
    const std::optional<ByteSet> missing = missing_in_run(*kind_, text.between(begin_, begin_ + min));
    if (!missing) {
      // `32m` is in most alphabets; an escape that lost its end would swallow what follows.
      const std::size_t escape = rest_of_escape(text.left_of(begin_), text.between(begin_, begin_ + min));
      if (escape == 0) return true;
      begin_ += escape;
      in_run_until_ = std::max(in_run_until_, begin_);
      continue;
    }
    // No window that ends before the next byte of the missing set can do.
    Offset next = begin_ + min;
    while (next < text.end() && chars.has(text.at(next)) && !missing->has(text.at(next))) ++next;
    if (next == text.end() || chars.has(text.at(next))) {
      begin_ = next + 1 - min;
      in_run_until_ = std::max(in_run_until_, next);
    } else {
      begin_ = next + 1;
      in_run_until_ = begin_;
    }
  }
}

}  // namespace guard
