// Tries to get at its supervisor's descriptors and memory, and to stop or kill it; says what came of each: "name
// errno".
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

namespace {

void say(const char* what, long result) { std::printf("%s %d\n", what, result < 0 ? errno : 0); }

}  // namespace

int main() {
  const pid_t supervisor = ::getppid();
  char path[64];
  int opened = 0;
  for (int fd = 0; fd < 64; ++fd) {
    std::snprintf(path, sizeof path, "/proc/%d/fd/%d", supervisor, fd);
    if (::open(path, O_WRONLY | O_CLOEXEC) >= 0 || ::open(path, O_RDONLY | O_CLOEXEC) >= 0) ++opened;
  }
  std::printf("opened %d\n", opened);
  std::snprintf(path, sizeof path, "/proc/%d/fd", supervisor);
  say("list_fds", ::opendir(path) == nullptr ? -1 : 0);
  std::snprintf(path, sizeof path, "/proc/%d/mem", supervisor);
  say("open_mem", ::open(path, O_RDWR | O_CLOEXEC));
  std::snprintf(path, sizeof path, "/proc/%d/environ", supervisor);
  say("open_environ", ::open(path, O_RDONLY | O_CLOEXEC));
  say("ptrace", ::ptrace(PTRACE_ATTACH, supervisor, nullptr, nullptr));
  char byte = 0;
  iovec here = {&byte, 1};
  say("process_vm_readv", ::syscall(SYS_process_vm_readv, supervisor, &here, 1UL, &here, 1UL, 0UL));
  const long pidfd = ::syscall(SYS_pidfd_open, supervisor, 0);
  say("pidfd_getfd", ::syscall(SYS_pidfd_getfd, pidfd, 1, 0));
  ::kill(supervisor, SIGSTOP);
  ::kill(supervisor, SIGKILL);
  ::kill(supervisor, SIGHUP);
  ::kill(supervisor, SIGUSR1);
  ::kill(supervisor, SIGRTMIN);
  std::puts("done");
  return 0;
}
