// The cap of `guard redact --keep both`: the first half of the bytes as they come, the last half at the end, and
// between them a line that says how much was left out. The tail begins with a line, so no marker, character or escape
// is cut.
#pragma once

#include <algorithm>
#include <string>

#include "common/output_cap.h"

namespace guard {

class HeadAndTail final : public ByteSink {
 public:
  // `out` must outlive this. 0: no cap.
  HeadAndTail(std::uint64_t bytes_max, ByteSink& out)
      : head_(bytes_max == 0 ? 0 : std::max<std::uint64_t>(bytes_max / 2, 1)),
        tail_max_(bytes_max / 2),
        cap_(head_, out),
        out_(out) {}

  Result<void> push(std::span<const char> bytes) override {
    const std::uint64_t before = head_.dropped_bytes();
    GUARD_TRY(cap_.push(bytes));
    const auto dropped =
        static_cast<std::size_t>(std::min<std::uint64_t>(head_.dropped_bytes() - before, bytes.size()));
    tail_.append(bytes.data() + bytes.size() - dropped, dropped);
    // Moved rarely, so that a stream of small pushes stays linear.
    if (tail_.size() > 2 * tail_max_ + 65536) tail_.erase(0, tail_.size() - static_cast<std::size_t>(tail_max_));
    return ok();
  }
  Result<void> finish() override { return cap_.finish(); }

  // Once, after the last stream.
  Result<void> close() {
    if (head_.dropped_bytes() == 0) return ok();
    if (tail_.size() > tail_max_) tail_.erase(0, tail_.size() - static_cast<std::size_t>(tail_max_));
    const std::size_t line_end = tail_.find('\n');
    tail_.erase(0, line_end == std::string::npos ? tail_.size() : line_end + 1);
    GUARD_TRY(out_.push("\n[guard: " + std::to_string(dropped_bytes()) + " bytes left out]\n"));
    GUARD_TRY(out_.push(tail_));
    return out_.finish();
  }

  std::uint64_t kept_bytes() const noexcept { return head_.kept_bytes() + tail_.size(); }
  std::uint64_t dropped_bytes() const noexcept { return head_.dropped_bytes() - tail_.size(); }  // after close()

 private:
  OutputBudget head_;
  std::uint64_t tail_max_;
  OutputCap cap_;
  ByteSink& out_;
  std::string tail_;
};

}  // namespace guard
