// What guard asks of the engine for one run, as a pure function: choices in, JSON body of POST /containers/create out.
//
// Everything that confines the program is decided here and is compared with a golden file, so that no line of it can go
// missing unseen. What may be widened is a field; what may not is a constant in the .cc, with its reason.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard::docker {

// The user inside. Not root, and not a user that an image gives any right to.
inline constexpr std::uint32_t kUid = 1000;
inline constexpr std::uint32_t kGid = 1000;

// Read-only, always. `source` is an absolute path that the engine can see.
struct BindMount {
  std::string source;
  std::string target;
  bool writable = false;
};

// A folder in memory, owned by the program's user.
struct TmpfsMount {
  std::string target;
  std::uint64_t bytes_max = 0;
  std::uint64_t files_max = 0;
  bool shared = false;  // open to all, with the sticky bit, as /tmp is
};

struct ContainerConfig {
  std::string image;                 // an id, so that a tag moved meanwhile changes nothing
  std::vector<std::string> command;  // absolute program and its arguments; replaces entrypoint and command of the image
  std::string working_dir;
  std::uint32_t user = kUid;  // and group; another one where a folder of this machine's is to be written to
  std::map<std::string, std::string> env;    // complete
  std::vector<std::string> image_env_names;  // what the image would add; taken out unless named in `env`
  std::vector<BindMount> mounts;
  std::vector<TmpfsMount> scratch;
  std::uint64_t memory_bytes = 0;
  double cpus = 0;
  std::uint32_t pids = 0;
  std::uint32_t open_files = 0;
  std::uint64_t file_bytes = 0;
  std::string network_mode = "none";
  bool ipv6_loopback = false;        // ::1 too; the kernel has to know IPv6, or the container does not start
  std::string_view seccomp_profile;  // Docker's JSON form
  std::string seccomp_file;          // the same in a file, for podman, which reads it itself
  std::string apparmor_profile;      // empty: the engine's own choice
  std::string runtime;               // empty: the engine's default
  bool podman = false;               // asked in podman's words; see container_config.cc
  std::map<std::string, std::string> labels;
};

// What no program may read in /proc and /sys, on any backend: it tells about the host.
std::span<const char* const> masked_paths() noexcept;

std::string container_config(const ContainerConfig& config);

// The request is JSON, which has no other bytes than UTF-8: with what stands in their place another folder may be
// meant, or another value. INPUT_INVALID with the name of what is none.
Result<void> check_is_text(const ContainerConfig& config);

// podman writes mounts as options of its command line, where a comma or colon in a name begins another option.
// INPUT_INVALID with the name of the first path that it would take for something else.
Result<void> check_names_for_podman(const ContainerConfig& config);

}  // namespace guard::docker
