// A request to stop, made once, by a signal or by a caller. Waits poll fd() beside what they wait for.
//
// Thread-safe. cancel() is async-signal-safe. The token outlives whoever holds a reference to it.
#pragma once

#include <atomic>

#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

class CancelToken {
 public:
  CancelToken();
  CancelToken(const CancelToken&) = delete;
  CancelToken& operator=(const CancelToken&) = delete;

  // `signal_number` is 0 when no signal was the cause. The first call wins.
  void cancel(int signal_number = 0) noexcept;
  bool cancelled() const noexcept { return cancelled_.load(std::memory_order_acquire); }
  int signal_number() const noexcept { return signal_.load(std::memory_order_acquire); }

  // Readable from the moment of cancellation on, for ever. Do not read from it. -1 where no descriptor could be had.
  int fd() const noexcept { return event_.get(); }

 private:
  std::atomic<bool> cancelled_{false};
  std::atomic<int> signal_{0};
  UniqueFd event_;
};

// Routes SIGINT, SIGTERM and SIGHUP into `token`, and ignores SIGPIPE. Call once, from main, before any thread starts.
// A second signal of the same kind does not kill guard: children and containers have to be removed first, and that has
// a deadline.
Result<void> cancel_on_signals(CancelToken& token);

}  // namespace guard
