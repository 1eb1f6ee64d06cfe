// Joins spans into regions: what overlaps or touches is one region with one marker, which then tells no length and no
// seams. A region that holds a named value goes on as long as that could: NAME=<key>rest hides the rest, too, and
// NAME=<key>ESC[0mrest the rest behind the escape. Without this the output, which shows NAME=[REDACTED:...]rest, would
// be redacted once more by the next reader.
#pragma once

#include <algorithm>
#include <optional>

#include "redact/stream/gap.h"
#include "redact/stream/secret_state.h"
#include "redact/stream/stream_text.h"

namespace guard {

class Regions {
 public:
  enum class Gaps : std::uint8_t { go_on_behind, none };  // none: the text is a shadow
  Regions(const SecretSource::State& secrets, Gaps gaps) : secrets_(&secrets), gaps_(gaps) {}

  // The next span in order. True if a region begins with it.
  // All before it must have been gone on to.
  bool take(const SecretSpan& span) {
    const bool begins = none_ || span.begin > end_;
    none_ = false;
    if (begins) {
      begin_ = span.begin;
      kind_ = span.kind;
      // A part that goes on behind gaps has no marker: for the reader the value is not over.
      if (!span.goes_on || span.begin != gaps_end_) named_value_ = ByteSet();
    }
    end_ = begins ? span.end : std::max(end_, span.end);
    gaps_end_ = 0;
    if (const ByteSet* tail = secrets_->named_value_tail(span.kind)) named_value_ |= *tail;
    return begins;
  }

  // Extends the last region, if it holds a named value, up to `to` at most. Where that goes on behind gaps: from where
  // on; what is before that leaves first, then go_on_from() is due.
  std::optional<Offset> go_on(const StreamText& text, Offset to) {
    if (end_ >= to || named_value_.empty()) return std::nullopt;
    if (gaps_end_ <= end_) {
      while (end_ < to && named_value_.has(text.at(end_))) ++end_;
      gaps_end_ = end_;
    }
    while (gaps_ == Gaps::go_on_behind && gaps_end_ < to) {
      const Gap gap = gap_at(text.from(gaps_end_), text.ended());
      if (gap.kind != Gap::Kind::escape && gap.kind != Gap::Kind::invisible) break;
      gaps_end_ += gap.size;
    }
    if (gaps_end_ >= to) return std::nullopt;  // more of it may come
    if (gaps_end_ > end_ && named_value_.has(text.at(gaps_end_))) return gaps_end_;
    named_value_ = ByteSet();
    return std::nullopt;
  }
  void go_on_from(Offset at) { end_ = at; }

  Offset begin() const noexcept { return begin_; }
  std::uint32_t kind() const noexcept { return kind_; }  // of the region's first span
  Offset end() const noexcept { return end_; }           // of the last region, as far as it is known

 private:
  const SecretSource::State* secrets_;
  Gaps gaps_;
  bool none_ = true;
  Offset begin_ = 0;
  std::uint32_t kind_ = 0;
  Offset end_ = 0;
  ByteSet named_value_;  // what the last region goes on with
  Offset gaps_end_ = 0;  // of those behind it, as far as they have been seen
};

}  // namespace guard
