// What seccomp_compiler.cc has made of the profile. Apart from the compiler, so that libseccomp is no part of guard.
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_io.h"
#include "runner/sandbox/seccomp_filter.h"

extern "C" {
extern const char guard_seccomp_profile[];
extern const char guard_seccomp_profile_end[];
extern const char guard_seccomp_bpf[];
extern const char guard_seccomp_bpf_end[];
}

namespace guard {

std::string_view seccomp_profile_json() {
  return {guard_seccomp_profile, static_cast<std::size_t>(guard_seccomp_profile_end - guard_seccomp_profile)};
}

Result<UniqueFd> seccomp_filter() {
  UniqueFd file(::memfd_create("seccomp", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!file) return Error::from_errno(ErrorCode::environment_creation_failed, "memfd_create", errno);
  GUARD_TRY(
      write_all(file.get(), {guard_seccomp_bpf, static_cast<std::size_t>(guard_seccomp_bpf_end - guard_seccomp_bpf)}));
  if (::lseek(file.get(), 0, SEEK_SET) != 0 ||
      ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL) != 0) {
    return Error::from_errno(ErrorCode::environment_creation_failed, "sealing the seccomp filter", errno);
  }
  return file;
}

}  // namespace guard
