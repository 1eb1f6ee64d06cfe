// What seccomp_compiler.cc has made of the profile. Apart from the compiler, so that libseccomp is no part of guard.
#include "runner/files/scratch_file.h"
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
  return memory_file(
      "seccomp", {guard_seccomp_bpf, static_cast<std::size_t>(guard_seccomp_bpf_end - guard_seccomp_bpf)}, Sealed::yes);
}

}  // namespace guard
