#include "runner/process/subprocess.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "runner/files/scratch_file.h"

namespace guard {
namespace {

// How long the pipes are waited for once the group was killed: a process that left the group may hold them for ever.
constexpr milliseconds kDrainSpan{1'000};

struct Stream {
  UniqueFd fd;
  ByteSink* sink = nullptr;
};

Result<UniqueFd> attach(StreamMode mode, int number, Stream& stream, ByteSink& sink, ChildSpec& child) {
  if (mode == StreamMode::inherit) child.descriptors.emplace_back(number, number);
  if (mode != StreamMode::pipe) return UniqueFd();
  GUARD_TRY_ASSIGN(Pipe pipe, make_pipe(ErrorCode::execution_failed));
  stream.fd = std::move(pipe.read);
  stream.sink = &sink;
  if (::fcntl(stream.fd.get(), F_SETFL, O_NONBLOCK) != 0)
    return Error::from_errno(ErrorCode::execution_failed, "fcntl", errno);
  child.descriptors.emplace_back(pipe.write.get(), number);
  return std::move(pipe.write);
}

// Reads once; the stream is closed at its end.
Result<void> read_some(Stream& stream) {
  std::array<char, 64ul * 1024> buffer;
  const ssize_t size = ::read(stream.fd.get(), buffer.data(), buffer.size());
  if (size > 0) return stream.sink->push(std::span(buffer.data(), static_cast<std::size_t>(size)));
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return ok();
  stream.fd.reset();
  return ok();
}

class Collector final : public ByteSink {
 public:
  Collector(std::string& text, std::uint64_t bytes_max, bool& truncated)
      : text_(text), bytes_max_(bytes_max), truncated_(truncated) {}
  Result<void> push(std::span<const char> bytes) override {
    const std::uint64_t room = bytes_max_ - text_.size();
    const auto kept = static_cast<std::size_t>(std::min<std::uint64_t>(room, bytes.size()));
    text_.append(bytes.data(), kept);
    if (kept < bytes.size()) truncated_ = true;
    return ok();
  }
  Result<void> finish() override { return ok(); }

 private:
  std::string& text_;
  std::uint64_t bytes_max_;
  bool& truncated_;
};

// Why the child is being ended by us, and when TERM becomes KILL.
struct Stop {
  std::optional<OutcomeKind> why;
  Deadline kill_at = Deadline::never();
  bool killed = false;
};

void stop_if_due(Stop& stop, const ProcessSpec& spec, const CancelToken& cancel, const ChildProcess& child) {
  if (!stop.why && (cancel.cancelled() || spec.deadline.passed())) {
    stop.why = cancel.cancelled() ? OutcomeKind::cancelled : OutcomeKind::timed_out;
    stop.kill_at = Deadline::after(spec.grace);
    child.signal_group(SIGTERM);
    child.signal_group(SIGCONT);  // a stopped process could not act on TERM
  }
  if (stop.why && !stop.killed && stop.kill_at.passed()) {
    stop.killed = true;
    child.signal_group(SIGKILL);
  }
}

}  // namespace

Result<ProcessResult> run_process(const ProcessSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  const auto began = SteadyClock::now();
  const milliseconds limit = spec.deadline.remaining();
  ChildSpec child_spec = spec;
  child_spec.descriptors.clear();
  std::array<Stream, 2> streams;
  UniqueFd input;
  if (!spec.stdin_text.empty()) {
    // Rather than a pipe: nothing to pump, and a child that does not read can't block us.
    GUARD_TRY_ASSIGN(input, memory_file("stdin", spec.stdin_text));
    child_spec.descriptors.emplace_back(input.get(), 0);
  }
  GUARD_TRY_ASSIGN(UniqueFd out_write, attach(spec.out, 1, streams[0], out, child_spec));
  GUARD_TRY_ASSIGN(UniqueFd err_write, attach(spec.err, 2, streams[1], err, child_spec));
  child_spec.descriptors.insert(child_spec.descriptors.end(), spec.descriptors.begin(), spec.descriptors.end());
  GUARD_TRY_ASSIGN(ChildProcess child, ChildProcess::start(child_spec));
  out_write.reset();
  err_write.reset();

  Stop stop;
  std::optional<int> status;
  Deadline drain_until = Deadline::never();
  while (!status || streams[0].fd || streams[1].fd) {
    if (!status) stop_if_due(stop, spec, cancel, child);
    if (drain_until.passed()) break;
    std::array<pollfd, 4> fds = {pollfd{streams[0].fd.get(), POLLIN, 0}, pollfd{streams[1].fd.get(), POLLIN, 0},
        pollfd{status ? -1 : child.pidfd(), POLLIN, 0}, pollfd{stop.why ? -1 : cancel.fd(), POLLIN, 0}};
    Deadline wake = drain_until;
    if (!status) wake = stop.killed ? Deadline::never() : stop.why ? stop.kill_at : spec.deadline;
    if (::poll(fds.data(), fds.size(), wake.poll_timeout()) < 0 && errno != EINTR) {
      return Error::from_errno(ErrorCode::execution_failed, "poll", errno);
    }
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].fd && fds[i].revents != 0) GUARD_TRY(read_some(streams[i]));
    }
    if (!status && fds[2].revents != 0) {
      status = child.reap();
      drain_until = Deadline::after(kDrainSpan);
    }
  }

  ProcessResult result;
  result.wall = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - began);
  if (stop.why) {
    result.outcome.kind = *stop.why;
    if (*stop.why == OutcomeKind::timed_out) result.outcome.value = limit.count();
  } else if (WIFSIGNALED(*status)) {
    result.outcome = {OutcomeKind::signaled, WTERMSIG(*status), {}};
  } else {
    result.outcome = {OutcomeKind::exited, WEXITSTATUS(*status), {}};
  }
  return result;
}

Result<CollectedProcess> collect_process(const ProcessSpec& spec, std::uint64_t bytes_max, const CancelToken& cancel) {
  CollectedProcess collected;
  Collector out(collected.out, bytes_max, collected.truncated);
  Collector err(collected.err, bytes_max, collected.truncated);
  GUARD_TRY_ASSIGN(collected.result, run_process(spec, out, err, cancel));
  return collected;
}

}  // namespace guard
