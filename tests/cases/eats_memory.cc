// eats_memory BYTES [child]: takes and touches that much and waits. With `child`, a child process does, and the program
// ends with 0 whatever became of it, as a shell would.
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

int main(int argc, char** argv) {
  const std::size_t bytes = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 0;
  if (argc > 2) {
    const pid_t pid = ::fork();
    if (pid != 0) {
      ::waitpid(pid, nullptr, 0);
      std::puts("child is gone");
      return 0;
    }
  }
  void* memory = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return 3;
  std::memset(memory, 1, bytes);
  std::puts("ate");
  std::fflush(stdout);
  ::usleep(argc > 2 ? 2'000'000 : 300'000);
  return 0;
}
