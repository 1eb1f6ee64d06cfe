// guard-init as a process of this machine, started by guard itself or by bubblewrap in between: its pipes, its pid, its
// end. What is said on the pipes is the caller's business (init_run.h, runner/tasks/staying_sandbox.h).
//
// Not thread-safe, but for send(), which any thread may call. The process gets its death signal when the thread that
// called start() ends. Linux only.
#pragma once

#include <atomic>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "common/result.h"
#include "common/time.h"
#include "common/unique_fd.h"
#include "runner/process/child_process.h"
#include "runner/sandbox/cgroup.h"

namespace guard {

class InitProcess {
 public:
  // `info_fd`: the number, in the child, at which bubblewrap tells init's pid; -1: the child is init. `cgroup` must
  // outlive this.
  InitProcess(const RunCgroup& cgroup, int info_fd) : cgroup_(cgroup), info_fd_(info_fd) {}

  // Descriptors 0, 1, 2 and `info_fd` are added to `child`.
  Result<void> start(ChildSpec child);

  // All of them do not block. Negative once at its end, and before start().
  int frames() const noexcept { return frames_.get(); }
  int complaints() const noexcept { return complaints_.get(); }  // what bubblewrap or init say when they can't start
  int info() const noexcept { return info_.get(); }
  bool has_life_line() const noexcept { return static_cast<bool>(life_line_); }
  int child_descriptor() const noexcept { return child_ended_ ? -1 : child_->pidfd(); }

  void frames_ended() noexcept { frames_.reset(); }
  void cut_life_line() noexcept;
  void child_has_ended() noexcept { child_ended_ = true; }
  bool child_ended() const noexcept { return child_ended_; }

  // To init, whole: waits while init takes nothing, for some seconds at most. ENVIRONMENT_UNAVAILABLE: it does not
  // listen any more, or the life line was cut; half a frame may have left then, so that nothing follows it ever.
  Result<void> send(std::string_view frames);

  // Once they are readable. Complaints are always drained, and kept up to a limit.
  void read_complaints();
  Result<void> read_info();
  const std::string& complaint() const noexcept { return complaint_text_; }

  pid_t pid() const noexcept { return init_pid_; }  // of init; -1: not known yet
  bool can_be_signalled() const noexcept { return info_fd_ < 0 || init_pidfd_; }
  void signal(int signal_number) const;

  // Everything, at once; on the host (no info_fd) the tree, before the init.
  void kill(Deadline deadline);

  // Behind the end of the child: reaps it, waits until init and so everything in its namespace has gone, and reads what
  // is left of the complaints. False where something could not be killed by then.
  bool finish(Deadline deadline);

 private:
  const RunCgroup& cgroup_;
  int info_fd_;
  std::mutex sending_;  // the life line
  std::atomic<bool> cutting_ = false;
  bool widened_ = false;  // the life line
  bool deaf_ = false;     // under sending_
  UniqueFd life_line_;
  UniqueFd frames_;
  UniqueFd complaints_;
  UniqueFd info_;
  std::string complaint_text_;
  std::string info_text_;
  std::optional<ChildProcess> child_;
  bool child_ended_ = false;
  pid_t init_pid_ = -1;
  UniqueFd init_pidfd_;
};

}  // namespace guard
