#include "common/cancel.h"

#include <sys/eventfd.h>

#include <cerrno>
#include <csignal>
#include <cstdint>

namespace guard {
namespace {

// The one token that signals reach. Set once, before any signal can come.
std::atomic<CancelToken*> signal_target{nullptr};

extern "C" void on_stop_signal(int number) {
  const int saved = errno;
  if (CancelToken* token = signal_target.load(std::memory_order_acquire)) token->cancel(number);
  errno = saved;
}

}  // namespace

CancelToken::CancelToken() : event_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

void CancelToken::cancel(int signal_number) noexcept {
  if (cancelled_.exchange(true, std::memory_order_acq_rel)) return;
  signal_.store(signal_number, std::memory_order_release);
  const std::uint64_t one = 1;
  // The flag is already set; a failed write only makes a waiter notice later, at its next deadline.
  [[maybe_unused]] const auto written = ::write(event_.get(), &one, sizeof one);
}

Result<void> cancel_on_signals(CancelToken& token) {
  signal_target.store(&token, std::memory_order_release);
  struct sigaction action {};
  action.sa_handler = on_stop_signal;
  sigemptyset(&action.sa_mask);
  action.sa_flags = 0;  // no SA_RESTART: blocking calls notice
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) {
    if (::sigaction(number, &action, nullptr) != 0) return Error::from_errno(ErrorCode::internal, "sigaction", errno);
  }
  struct sigaction ignore {};
  ignore.sa_handler = SIG_IGN;
  sigemptyset(&ignore.sa_mask);
  for (const int number : {SIGPIPE, SIGXFSZ}) {
    if (::sigaction(number, &ignore, nullptr) != 0) return Error::from_errno(ErrorCode::internal, "sigaction", errno);
  }
  return ok();
}

}  // namespace guard
