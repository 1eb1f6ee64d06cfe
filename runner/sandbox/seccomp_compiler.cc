// seccomp_compiler PROFILE OUTPUT: the system call filter as the kernel takes it, made when guard is built. A program
// of the build, not of guard.
#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "common/file_io.h"
#include "runner/sandbox/seccomp_filter.h"

namespace {

constexpr std::uint64_t kProfileBytesMax = 1 << 20;
constexpr std::uint64_t kProgramBytesMax = 1 << 20;

guard::Result<void> compile(const char* profile, const char* output) {
  GUARD_TRY_ASSIGN(const std::string json, guard::read_file(profile, kProfileBytesMax));
  GUARD_TRY_ASSIGN(const guard::UniqueFd filter, guard::compile_seccomp_filter(json));
  GUARD_TRY_ASSIGN(
      const std::string program, guard::read_file(fmt::format("/proc/self/fd/{}", filter.get()), kProgramBytesMax));
  return guard::write_file_atomically(output, program);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fputs("usage: seccomp_compiler PROFILE OUTPUT\n", stderr);
    return 64;
  }
  const auto done = compile(argv[1], argv[2]);
  if (done) return 0;
  std::fprintf(stderr, "seccomp_compiler: %s\n", done.error().to_string().c_str());
  return 1;
}
