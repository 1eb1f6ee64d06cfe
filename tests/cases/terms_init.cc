// terms_init [queue]: asks its supervisor to end, as if it were the one outside; with `queue`, under a forged sender.
// Then waits.
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>

int main(int argc, char**) {
  if (argc > 1) {
    siginfo_t info{};
    info.si_signo = SIGTERM;
    info.si_code = SI_QUEUE;
    std::printf("queue %d\n", ::syscall(SYS_rt_sigqueueinfo, ::getppid(), SIGTERM, &info) == 0 ? 0 : errno);
  } else {
    std::printf("kill %d\n", ::kill(::getppid(), SIGTERM) == 0 ? 0 : errno);
  }
  std::fflush(stdout);
  for (;;) ::pause();
}
