#include "cli/streams.h"

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kBufferMax = 64 * 1024;

// 0, or errno. A descriptor may be in non-blocking mode because whoever started us shares it with an event loop.
int write_fully(int fd, std::string_view bytes, const CancelToken* stop) {
  for (bool waited = false; !bytes.empty(); waited = true) {
    if (waited && stop != nullptr && stop->cancelled()) return ECANCELED;
    const ssize_t written = ::write(fd, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<std::size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd ready{fd, POLLOUT, 0};
      if (::poll(&ready, 1, -1) < 0 && errno != EINTR) return errno;
    } else if (errno != EINTR) {
      return errno;
    }
  }
  return 0;
}

// Line ends in a message are its own; all other bytes may come from a file or the environment.
void print_lines(OutStream& out, std::string_view text) {
  for (std::size_t at = 0;;) {
    const std::size_t end = text.find('\n', at);
    out.write(printable(text.substr(at, end == std::string_view::npos ? end : end - at)));
    out.write("\n");
    if (end == std::string_view::npos) return;
    at = end + 1;
  }
}

}  // namespace

void OutStream::write(std::string_view text) {
  if (text_ != nullptr) {
    text_->append(text);
    return;
  }
  if (failure_ != 0) return;
  buffer_ += text;
  if (buffering_ == Buffering::full && buffer_.size() < kBufferMax) return;
  (void)flush();  // a failure stays in failure_
}

Result<void> OutStream::flush() {
  if (failure_ == 0 && !buffer_.empty()) {
    failure_ = write_fully(fd_, buffer_, stop_);
    reader_left_ = failure_ == EPIPE;
    buffer_.clear();
  }
  if (failure_ == 0 || reader_left_ || failure_ == ECANCELED) return ok();  // who asked to stop knows
  return Error::from_errno(ErrorCode::io_error,
      fd_ == STDERR_FILENO ? "cannot write to standard error" : "cannot write to standard output", failure_);
}

Result<void> OutStream::push(std::span<const char> bytes) {
  write({bytes.data(), bytes.size()});
  return flush();
}

Streams Streams::standard(const Environment& environment) {
  Streams streams{.out = OutStream(STDOUT_FILENO, Buffering::full), .err = OutStream(STDERR_FILENO, Buffering::none)};
  streams.out_is_terminal = ::isatty(STDOUT_FILENO) == 1;
  streams.err_is_terminal = ::isatty(STDERR_FILENO) == 1;
  streams.choose_color(ColorChoice::automatic, environment);
  return streams;
}

void occupy_closed_streams() noexcept {
  for (const int fd : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(fd, F_GETFD) >= 0 || errno != EBADF) continue;
    // The lowest number that is free is this one. Open the wrong way round, it fails as a closed one does.
    (void)::open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

void Streams::choose_color(ColorChoice choice, const Environment& environment) {
  out_color = wants_color(choice, out_is_terminal, environment);
  err_color = wants_color(choice, err_is_terminal, environment);
}

bool wants_color(ColorChoice choice, bool is_terminal, const Environment& environment) {
  if (choice != ColorChoice::automatic) return choice == ColorChoice::always;
  const std::string terminal = value_of(environment, "TERM");
  return is_terminal && value_of(environment, "NO_COLOR").empty() && !terminal.empty() && terminal != "dumb";
}

void print_error(Streams& streams, const Error& error) {
  (void)streams.out.flush();  // its failure is found again by whoever ends the program
  auto& err = streams.err;
  err.write(streams.err_color ? "\x1b[1;31merror:\x1b[0m " : "error: ");
  print_lines(err, fmt::format("{}: {}", error.wire_name(), error.message()));
  for (const auto& frame : error.frames()) err.print("  while {}\n", printable(frame));
  if (!error.hint().empty()) err.print("  hint: {}\n", printable(error.hint()));
}

}  // namespace guard
