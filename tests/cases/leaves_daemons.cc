// Ends with 0, but leaves three processes behind that hold its outputs: one in its own session that ignores TERM, one
// that is stopped, and one whose parent is gone.
#include <signal.h>
#include <unistd.h>

#include <cstdio>

int main() {
  if (::fork() == 0) {
    ::setsid();
    ::signal(SIGTERM, SIG_IGN);
    for (;;) ::pause();
  }
  if (::fork() == 0) {
    ::raise(SIGSTOP);
    for (;;) ::pause();
  }
  if (::fork() == 0) {
    if (::fork() == 0) {
      for (;;) ::pause();
    }
    ::_exit(0);
  }
  ::usleep(50'000);
  std::puts("left");
  return 0;
}
