// guard carries the static guard-init program (init/guard_init.cc) in itself and writes it out where sandboxes can
// mount it.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// The bytes of the program.
std::string_view init_binary();

// Its SHA-256 in hex, computed when guard was built.
std::string_view init_binary_sha256();

// <cache>/init/<sha256>/guard-init, mode 0755, written atomically where it is missing. The content is verified on every
// call: this file runs inside every sandbox, so one that was tampered with is replaced.
Result<std::filesystem::path> init_binary_path();

// The same for the profile of system calls, for an engine that reads it from a file:
// <cache>/init/<sha256>/seccomp.json.
Result<std::filesystem::path> seccomp_profile_path();

// The script that bun loads before the tests (runner/init_side/attestation_start.mjs), and what it loads from beside it
// (runner/init_side/attestation.mjs); needs Attestation::on.
std::string_view attestation_script();
std::string_view attestation_core();
std::string_view attestation_sha256();  // of both, hex
// Their names beside each other, at the root of an image.
inline constexpr std::string_view kAttestationStart = ".guard-attestation.mjs";
inline constexpr std::string_view kAttestationCore = ".guard-attestation-core.js";

// The command line of init for `spec`: {program, options..., "--", spec.argv...}; without an argv, of an init that
// serves tasks. `program` is where init lies inside. Init's own deadline lies behind guard's (timeout + grace + a few
// seconds): it only matters when guard is stopped or starved.
struct InitDuties {
  std::string owner = {};     // run_owner() of stray_processes.h; empty: nobody cleans up by it
  std::uint32_t nproc = 0;    // RLIMIT_NPROC; 0 where the limit of processes is kept by other means
  bool no_life_line = false;  // where no standard input can be handed in
  bool own_filter = false;    // loads the system call filter, where whoever starts it does not
  bool tag_frames = false;    // waits for a key on its standard input first (runner/init_side/frame_tag.h)
  bool own_folders =
      false;  // /tmp and the scratch folders are the run's own: fills them, and restores them between two programs
  bool watch_cgroup = false;  // ends the run once its cgroup has killed or refused; only where that cgroup is its own
};
std::vector<std::string> init_command(std::string_view program, const SandboxSpec& spec, const InitDuties& duties);

}  // namespace guard
