// Joins spans into regions: what overlaps or touches is one region with one marker, which then tells no length and no
// seams. A region that holds a named value goes on as long as that could: NAME=<key>rest hides the rest, too. Without
// this the output, which shows NAME=[REDACTED:...]rest, would be redacted once more by the next reader.
#pragma once

#include "redact/secret_state.h"
#include "redact/stream_text.h"

namespace guard {

class Regions {
 public:
  explicit Regions(const SecretSource::State& secrets) : secrets_(&secrets) {}

  // The next span in order. True if a region begins with it.
  bool take(const StreamText& text, const SecretSpan& span) {
    go_on(text, span.begin);
    const bool begins = none_ || span.begin > end_;
    none_ = false;
    if (begins) {
      begin_ = span.begin;
      kind_ = span.kind;
    }
    end_ = begins ? span.end : std::max(end_, span.end);
    if (const ByteSet* tail = secrets_->named_value_tail(span.kind)) named_value_ |= *tail;
    return begins;
  }

  // Extends the last region, if it holds a named value, up to `to` at most. One that ends before `to` is closed.
  void go_on(const StreamText& text, Offset to) {
    if (end_ >= to) return;
    if (!named_value_.empty()) {
      while (end_ < to && named_value_.has(text.at(end_))) ++end_;
    }
    if (end_ < to) named_value_ = ByteSet();
  }

  Offset begin() const noexcept { return begin_; }
  std::uint32_t kind() const noexcept { return kind_; }  // of the region's first span
  Offset end() const noexcept { return end_; }           // of the last region, as far as it is known

 private:
  const SecretSource::State* secrets_;
  bool none_ = true;
  Offset begin_ = 0;
  std::uint32_t kind_ = 0;
  Offset end_ = 0;
  ByteSet named_value_;  // what the last region goes on with
};

}  // namespace guard
