// The floor under every checker: opens and reads each file of a list once, with N threads, and drops it.
//
//   read_files THREADS < NUL-separated paths
#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <iterator>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

int main(int argc, char** argv) {
  const std::string list{std::istreambuf_iterator<char>(std::cin), {}};
  std::vector<const char*> paths;
  for (std::size_t at = 0; at < list.size(); at += std::string_view(list.c_str() + at).size() + 1) {
    paths.push_back(list.c_str() + at);
  }
  std::atomic<std::size_t> next = 0;
  std::atomic<std::uint64_t> bytes = 0;
  const auto work = [&] {
    std::vector<char> buffer(4 << 20);
    std::uint64_t own = 0;
    for (std::size_t i = next++; i < paths.size(); i = next++) {
      const int fd = ::openat(AT_FDCWD, paths[i], O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
      if (fd < 0) std::abort();
      for (ssize_t got = 1; got > 0; own += static_cast<std::uint64_t>(got)) {
        got = ::read(fd, buffer.data(), buffer.size());
        if (got < 0) std::abort();
      }
      ::close(fd);
    }
    bytes += own;
  };
  std::vector<std::thread> threads;
  const long count = argc > 1 ? std::atol(argv[1]) : 1;
  for (long i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
  std::printf("%zu files, %llu bytes\n", paths.size(), static_cast<unsigned long long>(bytes.load()));
}
