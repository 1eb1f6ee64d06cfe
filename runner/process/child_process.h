// One child process at the head of its own process group. What runs when is the caller's business (subprocess.h,
// init_run.h); this only starts it with nothing it should not have, and makes sure that it is gone in the end.
//
// Linux only: pidfd, close_range. Not thread-safe, but children may be started by several threads.
#pragma once

#include <signal.h>
#include <sys/types.h>

#include <map>
#include <optional>
#include <shared_mutex>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// Both ends close-on-exec. `code` with errno where there is none to be had.
struct Pipe {
  UniqueFd read;
  UniqueFd write;
};
Result<Pipe> make_pipe(ErrorCode code);

// To be held alone by whoever has a file open for writing that will be executed: a child has a copy of every descriptor
// of ours until it executes, and what anybody has open for writing can't be executed (ETXTBSY). start() holds it
// shared.
std::shared_mutex& executable_writes();

struct ChildSpec {
  std::vector<std::string> argv;           // argv[0] is looked up in PATH of `env` unless it holds a '/'
  std::string cwd;                         // empty: ours
  std::map<std::string, std::string> env;  // complete
  // A descriptor of ours and the number it gets in the child. All others are closed there; 0, 1 and 2 that are not
  // named become /dev/null.
  std::vector<std::pair<int, int>> descriptors;
  // Open cgroup.procs (or tasks) files that the child enters before it executes anything.
  std::vector<int> join_cgroups;
  // Root drops to this user and group, with no further groups, before it executes anything.
  std::optional<uid_t> become_user;
  // What the child gets when the thread that started it ends before it does: SIGTERM for a program that must clean up
  // behind itself, 0 for one that is to come to its end.
  int death_signal = SIGKILL;
};

// The first executable regular file of this name in the absolute folders of PATH in `env`; names with a '/' stand for
// themselves. FILE_NOT_FOUND.
Result<std::string> find_program(const std::string& name, const std::map<std::string, std::string>& env);

class ChildProcess {
 public:
  // Fails with FILE_NOT_FOUND or EXECUTION_FAILED (errno) when the program never ran. The child gets
  // death_signal when the thread that started it ends.
  static Result<ChildProcess> start(const ChildSpec& spec);
  ChildProcess(ChildProcess&& other) noexcept;
  ChildProcess& operator=(ChildProcess&& other) noexcept;
  ~ChildProcess();  // kills the group and reaps

  pid_t pid() const noexcept { return pid_; }
  // Readable once the child has ended.
  int pidfd() const noexcept { return pidfd_.get(); }

  // To the whole group. The leader stays unreaped until reap(), so the group's number can't have become somebody
  // else's.
  void signal_group(int signal_number) const noexcept;

  // Waits for the child's end, kills what is left of its group, and returns the wait status. Later calls return the
  // same.
  int reap();

 private:
  ChildProcess(pid_t pid, UniqueFd pidfd) : pid_(pid), pidfd_(std::move(pidfd)) {}
  pid_t pid_ = -1;
  UniqueFd pidfd_;
  std::optional<int> status_;
};

}  // namespace guard
