// copies_input            copies its standard input to its standard output
// copies_input N          reads N bytes, says how many it got and closes its standard input
// copies_input never      reads nothing for a second and says so
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace {

char buffer[65536];

bool write_all(const char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t written = write(1, bytes, size);
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<size_t>(written);
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 1 && std::strcmp(argv[1], "never") == 0) {
    sleep(1);
    std::puts("did not read");
    return 0;
  }
  size_t left = argc > 1 ? std::strtoul(argv[1], nullptr, 10) : 0;
  size_t got = 0;
  for (;;) {
    const size_t wanted = argc > 1 && left < sizeof buffer ? left : sizeof buffer;
    const ssize_t size = wanted == 0 ? 0 : read(0, buffer, wanted);
    if (size < 0) return 2;
    if (size == 0) break;
    got += static_cast<size_t>(size);
    left -= static_cast<size_t>(size);
    if (argc == 1 && !write_all(buffer, static_cast<size_t>(size))) return 3;
  }
  if (argc == 1) return 0;
  close(0);
  std::printf("%zu\n", got);
  return 0;
}
