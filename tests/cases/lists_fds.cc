// Says which descriptors it was born with.
#include <fcntl.h>

#include <cstdio>

int main() {
  for (int fd = 0; fd < 4096; ++fd) {
    if (::fcntl(fd, F_GETFD) >= 0) std::printf("fd %d\n", fd);
  }
  return 0;
}
