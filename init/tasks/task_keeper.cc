#include "init/tasks/task_keeper.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "init/processes.h"
#include "init/tasks/file_operations.h"

namespace guard::init {
namespace {

using task_protocol::TaskOperation;

constexpr int kSweepEveryMs = 5;

// What the child says where it can't become the program.
struct StartFailure {
  int error;
  char step[32];
};

[[noreturn]] void end_with(TaskRecord& record) {
  rusage usage{};
  getrusage(RUSAGE_CHILDREN, &usage);
  record.max_rss_kb = usage.ru_maxrss;
  record.user_us = static_cast<long long>(usage.ru_utime.tv_sec) * 1'000'000 + usage.ru_utime.tv_usec;
  record.sys_us = static_cast<long long>(usage.ru_stime.tv_sec) * 1'000'000 + usage.ru_stime.tv_usec;
  send(kControl, &record, sizeof record, MSG_NOSIGNAL);
  _exit(0);
}

[[noreturn]] void end_with(TaskRecord& record, const char* step, int error) {
  record.error = error;
  snprintf(record.step, sizeof record.step, "%s", step);
  end_with(record);
}

[[noreturn]] void become_program(const TaskStart& start, int status) {
  become_own_session();
  const char* step = "chdir";
  if (chdir(start.folder) == 0) {
    step = "terminal";
    if (!start.wants_terminal || ioctl(0, TIOCSCTTY, 0) == 0) {
      step = "exec";
      environ = start.environment;
      execvp(start.argv[0], start.argv);
    }
  }
  StartFailure failure{errno, {}};
  snprintf(failure.step, sizeof failure.step, "%s", step);
  const ssize_t ignored = write(status, &failure, sizeof failure);
  static_cast<void>(ignored);
  _exit(127);
}

class Keeper {
 public:
  Keeper(pid_t program, int signals) : program_(program), signals_(signals) {}

  // Returns once nothing of the task is left: how the program ended.
  int wait_for_all() {
    while (!reap()) {
      if (program_ended_ || killing_) {
        signal_everything(SIGKILL);
        if (reap()) break;
      }
      pollfd fds[2] = {{control_open_ ? kControl : -1, POLLIN, 0}, {signals_, POLLIN, 0}};
      poll(fds, 2, program_ended_ || killing_ ? kSweepEveryMs : -1);
      drain_signals(signals_);
      if (fds[0].revents != 0) take_orders();
    }
    return status_;
  }

 private:
  // True when no child is left.
  bool reap() {
    for (;;) {
      int status = 0;
      const pid_t pid = waitpid(-1, &status, WNOHANG | __WALL);
      if (pid == 0) return false;
      if (pid < 0 && errno == EINTR) continue;
      if (pid < 0) return true;
      if (pid != program_) continue;
      program_ended_ = true;
      status_ = status;
    }
  }

  void take_orders() {
    unsigned char orders[64];
    const ssize_t size = recv(kControl, orders, sizeof orders, MSG_DONTWAIT);
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
    if (size <= 0) {
      control_open_ = false;
      killing_ = true;
      return;
    }
    for (ssize_t i = 0; i < size; ++i) {
      if (orders[i] == SIGKILL) {
        killing_ = true;
      } else if ((orders[i] & kToEverything) != 0) {
        signal_everything(orders[i] & ~kToEverything);
        signal_everything(SIGCONT);
      } else if (!program_ended_) {
        // Before it has a group of its own the signal waits for it: all are blocked until it becomes the program.
        if (kill(-program_, orders[i]) != 0 && errno == ESRCH) kill(program_, orders[i]);
      }
    }
  }

  pid_t program_;
  int signals_;
  int status_ = 0;
  bool program_ended_ = false;
  bool killing_ = false;
  bool control_open_ = true;
};

}  // namespace

[[noreturn]] void keep_task(const TaskStart& start, const TaskEnds& ends) {
  TaskRecord record;
  prctl(PR_SET_CHILD_SUBREAPER, 1);
  if (dup2(ends.input, 0) < 0 || dup2(ends.out, 1) < 0 || dup2(ends.err, 2) < 0 || dup2(ends.control, kControl) < 0)
    _exit(kExitCannotServe);
  fcntl(kControl, F_SETFD, FD_CLOEXEC);
  // Others' streams among them: a copy held here would keep these from ending.
  close_from(kControl + 1);

  if (start.kind != TaskOperation::program) {
    if (chdir(start.folder) != 0 && start.kind != TaskOperation::usage) end_with(record, "chdir", errno);
    const Failure failure = run_file_operation(start.kind, start.argc, start.argv);
    if (failure.step != nullptr) end_with(record, failure.step, failure.error);
    end_with(record);
  }

  sigset_t all;
  sigfillset(&all);
  const int signals = signalfd(-1, &all, SFD_CLOEXEC | SFD_NONBLOCK);
  int status[2];
  if (signals < 0 || pipe2(status, O_CLOEXEC) != 0) end_with(record, "pipe", errno);
  const pid_t program = fork();
  if (program < 0) end_with(record, "fork", errno);
  if (program == 0) become_program(start, status[1]);
  send(kControl, &program, sizeof program, MSG_NOSIGNAL);
  close(status[1]);
  for (int fd = 0; fd < kControl; ++fd) close(fd);

  record.wait_status = Keeper(program, signals).wait_for_all();
  StartFailure failure{};
  if (read(status[0], &failure, sizeof failure) == static_cast<ssize_t>(sizeof failure))
    end_with(record, failure.step, failure.error);
  end_with(record);
}

}  // namespace guard::init
