#include "init/processes.h"

#include <dirent.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>

namespace guard::init {
namespace {

// On the host there is no namespace to name "everything of ours": it is what descends from us. Orphans come back to us
// (PR_SET_CHILD_SUBREAPER), so none is lost from the tree.
struct Process {
  pid_t pid;
  pid_t parent;
  bool ours;
};

int by_pid(const void* left, const void* right) {
  return static_cast<const Process*>(left)->pid - static_cast<const Process*>(right)->pid;
}

void signal_descendants(int signal_number) {
  static Process processes[1 << 17];
  size_t count = 0;
  DIR* proc = opendir("/proc");
  if (proc == nullptr) return;
  while (dirent* entry = readdir(proc)) {
    long long pid = 0;
    if (entry->d_name[0] < '0' || entry->d_name[0] > '9' || !read_number(entry->d_name, pid)) continue;
    if (count == sizeof processes / sizeof processes[0]) continue;
    const pid_t parent = parent_of(pid);
    if (parent >= 0) processes[count++] = {static_cast<pid_t>(pid), parent, parent == getpid()};
  }
  closedir(proc);
  qsort(processes, count, sizeof processes[0], by_pid);
  // Parents mostly have the smaller number, so few rounds do; a fork bomb makes anything quadratic hurt.
  for (bool grew = true; grew;) {
    grew = false;
    for (size_t i = 0; i < count; ++i) {
      if (processes[i].ours) continue;
      const Process wanted = {processes[i].parent, 0, false};
      const auto* parent = static_cast<const Process*>(bsearch(&wanted, processes, count, sizeof processes[0], by_pid));
      if (parent != nullptr && parent->ours) processes[i].ours = grew = true;
    }
  }
  for (size_t i = 0; i < count; ++i) {
    if (processes[i].ours) kill(processes[i].pid, signal_number);
  }
}

}  // namespace

bool read_number(const char* text, long long& number) {
  char* end = nullptr;
  errno = 0;
  number = strtoll(text, &end, 10);
  return errno == 0 && end != text && *end == '\0' && number >= 0;
}

pid_t parent_of(long long pid) {
  char text[512];
  if (!read_proc(pid, "stat", text)) return -1;
  // The name is in parentheses and may hold anything, parentheses too: the fields start behind the last one.
  const char* const fields = strrchr(text, ')');
  int parent = 0;
  return fields != nullptr && sscanf(fields + 1, " %*c %d", &parent) == 1 ? parent : -1;
}

void become_own_session() {
  setsid();
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  for (int number = 1; number < NSIG; ++number) signal(number, SIG_DFL);
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
}

long long now_ms() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<long long>(now.tv_sec) * 1000 + now.tv_nsec / 1'000'000;
}

void drain_signals(int signals) {
  signalfd_siginfo some[32];
  const ssize_t ignored = read(signals, some, sizeof some);
  static_cast<void>(ignored);
}

void close_from(int descriptor) {
  if (syscall(SYS_close_range, static_cast<unsigned>(descriptor), ~0u, 0u) == 0) return;
  const long open_max = sysconf(_SC_OPEN_MAX);
  for (int fd = descriptor; fd < (open_max > 0 ? open_max : 65536); ++fd) close(fd);
}

void signal_everything(int signal_number) {
  if (is_pid_one()) {
    kill(-1, signal_number);
    return;
  }
  // Stop them first: what is forked while we look would otherwise outrun us.
  if (signal_number == SIGKILL) signal_descendants(SIGSTOP);
  signal_descendants(signal_number);
}

[[noreturn]] void leave_at_once() {
  // Leaving a PID namespace as its PID 1 kills all that is in it. On the host it takes a few rounds.
  for (int round = 0; !is_pid_one() && round < 2'000; ++round) {
    signal_everything(SIGKILL);
    while (waitpid(-1, nullptr, WNOHANG | __WALL) > 0) {
    }
    if (waitpid(-1, nullptr, WNOHANG | __WALL) < 0 && errno == ECHILD) break;
    usleep(5'000);
  }
  _exit(kExitCannotServe);
}

bool write_text(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t wanted = static_cast<ssize_t>(strlen(text));
  const bool written = write(fd, text, static_cast<size_t>(wanted)) == wanted;
  close(fd);
  return written;
}

}  // namespace guard::init
