// A point on the steady clock by which something must be over. Waits take a Deadline, never a bare number.
#pragma once

#include <algorithm>
#include <chrono>
#include <limits>

namespace guard {

using SteadyClock = std::chrono::steady_clock;
using std::chrono::milliseconds;

class Deadline {
 public:
  // Longer than anybody waits is never.
  static Deadline after(milliseconds span) {
    return span > std::chrono::hours(24 * 365) ? never() : Deadline(SteadyClock::now() + span);
  }
  static Deadline never() { return Deadline(SteadyClock::time_point::max()); }

  bool passed() const { return when_ != SteadyClock::time_point::max() && SteadyClock::now() >= when_; }

  // Never negative. never() answers milliseconds::max().
  milliseconds remaining() const {
    if (when_ == SteadyClock::time_point::max()) return milliseconds::max();
    const auto left = std::chrono::ceil<milliseconds>(when_ - SteadyClock::now());
    return std::max(left, milliseconds(0));
  }

  // For poll(2): -1 waits for ever.
  int poll_timeout() const {
    const auto left = remaining();
    if (left == milliseconds::max()) return -1;
    return static_cast<int>(std::min<long long>(left.count(), std::numeric_limits<int>::max()));
  }

  Deadline sooner(Deadline other) const { return Deadline(std::min(when_, other.when_)); }

 private:
  explicit Deadline(SteadyClock::time_point when) : when_(when) {}
  SteadyClock::time_point when_;
};

}  // namespace guard
