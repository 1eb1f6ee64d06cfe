// floods BYTES: that much on each stream, as fast as it goes.
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  static char block[64 * 1024];
  std::memset(block, 'x', sizeof block);
  std::size_t left = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  while (left > 0) {
    const std::size_t size = std::min(left, sizeof block);
    for (const int fd : {1, 2}) {
      for (std::size_t sent = 0; sent < size;) {
        const ssize_t count = ::write(fd, block + sent, size - sent);
        if (count <= 0) return 1;
        sent += static_cast<std::size_t>(count);
      }
    }
    left -= size;
  }
  return 0;
}
