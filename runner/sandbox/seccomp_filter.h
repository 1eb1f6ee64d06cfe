// The system call filter of every sandbox: one allowlist (docker/seccomp.json, in the engine's own format), handed to
// the container engine as it is, and compiled when guard is built for the embedded sandbox and for guard-init.
#pragma once

#include <string_view>

#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

// The shipped profile, as JSON.
std::string_view seccomp_profile_json();

// The shipped profile, compiled: a sealed memory file positioned at its start, as `bwrap --seccomp` reads it.
Result<UniqueFd> seccomp_filter();

// Compiles a profile for the native architecture into a sealed memory file of BPF instructions, positioned at its
// start. Other architectures' calls (i386, x32) kill the caller.
//
// Knows as much of the engine's format as the shipped profile uses; INPUT_INVALID for anything else, because a rule
// that was not understood is not enforced. System calls that this libseccomp has no name for stay denied.
Result<UniqueFd> compile_seccomp_filter(std::string_view profile_json);

}  // namespace guard
