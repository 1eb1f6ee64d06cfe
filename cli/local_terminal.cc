#include "cli/local_terminal.h"

#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cerrno>
#include <thread>

#include "cli/streams.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

// So soon it is seen that guard is to stop, or that the program has ended while it did not read.
constexpr milliseconds kLookAround{100};

// What signal handlers need: there is one terminal and one person.
termios saved_modes{};
std::atomic<bool> is_raw = false;
std::atomic<int> changes = -1;  // an eventfd

// Async-signal-safe. Now, and not once all is written: whoever reads the terminal may have stopped to.
void restore() {
  if (is_raw.exchange(false)) ::tcsetattr(STDIN_FILENO, TCSANOW, &saved_modes);
}

void make_raw() {
  termios raw = saved_modes;
  ::cfmakeraw(&raw);
  is_raw = true;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &raw);
}

extern "C" void on_change(int) {
  const int saved = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(changes, &one, sizeof one);
  errno = saved;
}

// With SA_RESETHAND: the second one of its kind does what it always did.
extern "C" void on_end(int number) {
  restore();
  ::raise(number);
}

class RawTerminal {
 public:
  explicit RawTerminal(int change_event) {
    ::tcgetattr(STDIN_FILENO, &saved_modes);
    changes = change_event;
    struct sigaction action {};
    sigemptyset(&action.sa_mask);
    action.sa_handler = on_change;
    action.sa_flags = SA_RESTART;
    for (std::size_t i = 0; i < kChanges.size(); ++i) ::sigaction(kChanges[i], &action, &before_[i]);
    action.sa_handler = on_end;
    action.sa_flags = SA_RESETHAND | SA_NODEFER;
    for (std::size_t i = 0; i < kEnds.size(); ++i) ::sigaction(kEnds[i], &action, &before_[kChanges.size() + i]);
    make_raw();
  }
  RawTerminal(const RawTerminal&) = delete;
  RawTerminal& operator=(const RawTerminal&) = delete;
  ~RawTerminal() {
    restore();
    for (std::size_t i = 0; i < kChanges.size(); ++i) ::sigaction(kChanges[i], &before_[i], nullptr);
    for (std::size_t i = 0; i < kEnds.size(); ++i) ::sigaction(kEnds[i], &before_[kChanges.size() + i], nullptr);
    changes = -1;
  }

 private:
  // A new size; back from being stopped, where a shell has set modes of its own meanwhile.
  static constexpr std::array kChanges = {SIGWINCH, SIGCONT};
  // INT, TERM and HUP reach the cancel token, and end guard in order.
  static constexpr std::array kEnds = {SIGQUIT, SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGUSR1,
      SIGUSR2, SIGALRM, SIGVTALRM, SIGPROF, SIGXCPU, SIGXFSZ, SIGIO, SIGPWR, SIGSTKFLT};
  std::array<struct sigaction, kChanges.size() + kEnds.size()> before_{};
};

// What is typed, until the task has ended.
class Keyboard {
 public:
  Keyboard(Task& task, int change_event, const CancelToken& cancel)
      : task_(task), changes_(change_event), cancel_(cancel) {}

  void serve(const std::atomic<bool>& over, int over_event) {
    bool open = true;
    while (!over && !cancel_.cancelled()) {
      pollfd fds[] = {{open ? STDIN_FILENO : -1, POLLIN, 0}, {changes_, POLLIN, 0}, {over_event, POLLIN, 0},
          {cancel_.fd(), POLLIN, 0}};
      if (::poll(fds, std::size(fds), -1) < 0) continue;
      if (fds[1].revents != 0) take_change();
      if (fds[0].revents != 0) open = pass_keys(over);
    }
  }

 private:
  void take_change() {
    std::uint64_t count = 0;
    [[maybe_unused]] const auto size = ::read(changes_, &count, sizeof count);
    if (is_raw) make_raw();
    static_cast<void>(task_.resize(terminal_size()));
  }

  // False: the terminal has hung up.
  bool pass_keys(const std::atomic<bool>& over) {
    std::array<char, 4096> keys;
    const ssize_t size = ::read(STDIN_FILENO, keys.data(), keys.size());
    if (size < 0 && (errno == EINTR || errno == EAGAIN)) return true;
    if (size <= 0) {
      static_cast<void>(task_.close_input());
      return false;
    }
    const std::string_view bytes(keys.data(), static_cast<std::size_t>(size));
    while (!over && !cancel_.cancelled()) {
      const auto written = task_.write_input(bytes, Deadline::after(kLookAround));
      if (written || written.error().code() != ErrorCode::execution_timeout) return true;
    }
    return true;
  }

  Task& task_;
  const int changes_;
  const CancelToken& cancel_;
};

// A thread that INT, TERM and HUP do not reach: they are to break a write of the other one's to a terminal that nobody
// reads.
std::thread thread_without_signals(std::function<void()> work) {
  sigset_t ends{};
  sigset_t before{};
  sigemptyset(&ends);
  for (const int number : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&ends, number);
  ::pthread_sigmask(SIG_BLOCK, &ends, &before);
  std::thread thread(std::move(work));
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return thread;
}

}  // namespace

Result<void> need_terminal() {
  if (::isatty(STDIN_FILENO) == 1 && ::isatty(STDOUT_FILENO) == 1) return ok();
  return Error(ErrorCode::usage, "an interactive command needs a terminal as standard input and output")
      .hint(
          "where a script runs it use `guard exec` or `guard session exec` without --tty; --stdin FILE hands input in");
}

TerminalSize terminal_size() {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {size.ws_row, size.ws_col};
}

Result<TaskEnd> run_on_terminal(Task& task, const CancelToken& cancel) {
  const UniqueFd changed(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  const UniqueFd over_event(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!changed || !over_event) return Error::from_errno(ErrorCode::internal, "eventfd", errno);
  const RawTerminal raw(changed.get());
  static_cast<void>(task.resize(terminal_size()));  // it may have changed while the sandbox was started
  std::atomic<bool> over = false;
  std::thread keyboard =
      thread_without_signals([&] { Keyboard(task, changed.get(), cancel).serve(over, over_event.get()); });
  OutStream screen(STDOUT_FILENO, Buffering::none);
  screen.give_up_when(cancel);
  Result<void> shown = ok();
  while (shown && !cancel.cancelled()) {
    auto piece = task.read(Deadline::after(kLookAround));
    if (!piece && piece.error().code() == ErrorCode::execution_timeout) continue;
    if (!piece || !*piece) break;
    shown = screen.push(std::span((*piece)->bytes.data(), (*piece)->bytes.size()));
  }
  over = true;
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(over_event.get(), &one, sizeof one);
  keyboard.join();
  if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while somebody worked on the terminal");
  GUARD_TRY(shown);
  return task.end();
}

}  // namespace guard
