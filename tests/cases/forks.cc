// Forks until it can't, says so, and goes on trying for ever.
#include <unistd.h>

#include <cerrno>
#include <cstdio>

int main() {
  bool said = false;
  for (int count = 0;;) {
    const pid_t pid = ::fork();
    if (pid == 0) {
      for (;;) ::pause();
    }
    if (pid > 0) {
      ++count;
    } else if (!said) {
      said = true;
      std::printf("refused after %d with %d\n", count, errno);
      std::fflush(stdout);
    } else {
      ::usleep(1000);
    }
  }
}
