#include "runner/init_side/init_process.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <string_view>
#include <utility>

#include "runner/process/process_tree.h"

namespace guard {
namespace {

constexpr int kLifeLineBytes = 512 * 1024;
constexpr std::size_t kComplaintBytesMax = 16ul * 1024;
// Init reads whatever else it does; beyond this it is stopped, or starved.
constexpr milliseconds kSendLimit{20'000};
constexpr milliseconds kLookAtCut{20};

}  // namespace

Result<void> InitProcess::start(ChildSpec child) {
  GUARD_TRY_ASSIGN(Pipe life_line, make_pipe(ErrorCode::environment_creation_failed));
  GUARD_TRY_ASSIGN(Pipe frames, make_pipe(ErrorCode::environment_creation_failed));
  GUARD_TRY_ASSIGN(Pipe complaints, make_pipe(ErrorCode::environment_creation_failed));
  Pipe info;
  child.descriptors.emplace_back(life_line.read.get(), 0);
  child.descriptors.emplace_back(frames.write.get(), 1);
  child.descriptors.emplace_back(complaints.write.get(), 2);
  if (info_fd_ >= 0) {
    GUARD_TRY_ASSIGN(info, make_pipe(ErrorCode::environment_creation_failed));
    child.descriptors.emplace_back(info.write.get(), info_fd_);
  }
  for (const int fd : {frames.read.get(), complaints.read.get(), info.read.get(), life_line.write.get()}) {
    if (fd >= 0 && ::fcntl(fd, F_SETFL, O_NONBLOCK) != 0) {
      return Error::from_errno(ErrorCode::environment_creation_failed, "fcntl", errno);
    }
  }
  GUARD_TRY_ASSIGN(ChildProcess started, ChildProcess::start(child));
  child_.emplace(std::move(started));
  life_line_ = std::move(life_line.write);
  frames_ = std::move(frames.read);
  complaints_ = std::move(complaints.read);
  info_ = std::move(info.read);
  if (info_fd_ < 0) init_pid_ = child_->pid();
  return ok();
}

Result<void> InitProcess::send(std::string_view frames) {
  const std::lock_guard lock(sending_);
  Deadline deadline = Deadline::after(kSendLimit);
  while (!frames.empty()) {
    deaf_ = deaf_ || cutting_ || !life_line_ || deadline.passed();
    if (deaf_) return Error(ErrorCode::environment_unavailable, "the sandbox's init does not listen any more");
    const ssize_t sent = ::write(life_line_.get(), frames.data(), frames.size());
    if (sent > 0) {
      frames.remove_prefix(static_cast<std::size_t>(sent));
      deadline = Deadline::after(kSendLimit);
    }
    if (sent >= 0 || errno == EINTR) continue;
    deaf_ = errno != EAGAIN;
    if (deaf_) return Error::from_errno(ErrorCode::environment_unavailable, "speaking to the sandbox", errno);
    // For all that a connection of a program may have in flight. A user's pipes have few pages altogether, so only
    // where it is needed; where there are no more of them, it is slower.
    if (!std::exchange(widened_, true) && ::fcntl(life_line_.get(), F_SETPIPE_SZ, kLifeLineBytes) > 0) continue;
    // In short waits, for who cuts the line must not wait for us.
    pollfd room{life_line_.get(), POLLOUT, 0};
    ::poll(&room, 1, static_cast<int>(kLookAtCut.count()));
  }
  return ok();
}

void InitProcess::cut_life_line() noexcept {
  cutting_ = true;
  const std::lock_guard lock(sending_);
  life_line_.reset();
}

void InitProcess::read_complaints() {
  std::array<char, 4096> buffer;
  const ssize_t size = ::read(complaints_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  if (size <= 0) {
    complaints_.reset();
    return;
  }
  const std::size_t room = kComplaintBytesMax - complaint_text_.size();
  complaint_text_.append(buffer.data(), std::min(room, static_cast<std::size_t>(size)));
}

// {"child-pid": 4711, ...}, from bubblewrap.
Result<void> InitProcess::read_info() {
  std::array<char, 1024> buffer;
  const ssize_t size = ::read(info_.get(), buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return ok();
  if (size > 0) info_text_.append(buffer.data(), static_cast<std::size_t>(size));
  if (size <= 0 || info_text_.size() > 4096) info_.reset();
  static constexpr std::string_view kKey = "\"child-pid\":";
  const std::size_t at = info_text_.find(kKey);
  if (init_pidfd_ || at == std::string::npos) return ok();
  const std::size_t digits = info_text_.find_first_not_of(' ', at + kKey.size());
  // Not before something follows the number: it may have been cut.
  if (digits == std::string::npos || info_text_.find_first_not_of("0123456789", digits) == std::string::npos)
    return ok();
  pid_t pid = -1;
  std::from_chars(info_text_.data() + digits, info_text_.data() + info_text_.size(), pid);
  if (pid <= 1) return ok();
  init_pid_ = pid;
  init_pidfd_.reset(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
  if (!init_pidfd_ && !child_ended_ && errno != ESRCH) {
    return Error::from_errno(ErrorCode::environment_creation_failed, "pidfd_open of the sandbox's init", errno);
  }
  return ok();
}

void InitProcess::signal(int signal_number) const {
  const int fd = info_fd_ < 0 ? child_->pidfd() : init_pidfd_.get();
  if (fd >= 0) ::syscall(SYS_pidfd_send_signal, fd, signal_number, nullptr, 0);
}

void InitProcess::kill(Deadline deadline) {
  cut_life_line();
  cgroup_.kill_all();
  if (info_fd_ < 0 && !child_ended_) kill_tree(child_->pid(), deadline);
  signal(SIGKILL);
  child_->signal_group(SIGKILL);
}

bool InitProcess::finish(Deadline deadline) {
  cut_life_line();
  child_->reap();
  // A PID 1 has ended only when every process of its namespace has, which is later than the end of its stream.
  pollfd ended{init_pidfd_.get(), POLLIN, 0};
  int ready = init_pidfd_ ? -1 : 1;
  while (ready < 0) {
    ready = ::poll(&ended, 1, deadline.poll_timeout());
    if (ready < 0 && errno != EINTR) return false;
  }
  while (complaints_ && complaint_text_.size() < kComplaintBytesMax) {
    const std::size_t before = complaint_text_.size();
    read_complaints();
    if (complaint_text_.size() == before) break;
  }
  return ready > 0;
}

}  // namespace guard
