// Pure: what a run needs -> the arguments of bubblewrap. Nothing here looks at the machine; what has to be known of it
// comes in, so that the whole of the embedded sandbox's shape can be read in one golden test.
#pragma once

#include <string>
#include <vector>

#include "runner/sandbox/sandbox.h"

namespace guard {

// One entry of the root folder.
struct RootEntry {
  enum class Kind : std::uint8_t { mounted, link, folder };
  std::string source;  // absolute path on the host; a link's content; nothing for a new, empty folder
  std::string target;  // absolute path inside
  Kind kind = Kind::mounted;
};

// What of the kernel's own is in /proc here and is hidden inside.
struct ProcMasks {
  std::vector<std::string> files;
  std::vector<std::string> folders;
};

struct BwrapInputs {
  std::vector<RootEntry> root;  // parents before children
  ProcMasks masks;
  std::string init_source;  // guard-init on the host
  // Where the stage before bubblewrap has mounted memory_folders(), as 0, 1, ... (init/stages/scratch_stage.h). The
  // stage behind bubblewrap then hides the masks, and guard-init loads the filter. Empty: bubblewrap does all of it, as
  // well as it can.
  std::string scratch_at;
  int seccomp_fd = -1;  // as bubblewrap finds it
  int info_fd = -1;
};

// Where guard-init lies inside.
inline constexpr const char* kInitInside = "/guard-init";

// User and group of the program inside.
inline constexpr unsigned kUserInside = 1000;

// The options, without the program's name and without the command behind "--".
std::vector<std::string> bwrap_args(const SandboxSpec& spec, const BwrapInputs& inputs);

// The stage before bubblewrap and its options, up to "--"; behind it comes bubblewrap's own command.
struct ScratchStage {
  std::string program;   // guard-init on the host
  std::string at;        // an empty folder
  int prepared_fd = -1;  // as the stage finds them: bubblewrap's options where the folders could be mounted,
  int plain_fd = -1;     // and where not
  ProcMasks masks;       // that the stage behind bubblewrap hides, where the folders could be mounted
};
std::vector<std::string> scratch_stage_command(const SandboxSpec& spec, const ScratchStage& stage);

}  // namespace guard
