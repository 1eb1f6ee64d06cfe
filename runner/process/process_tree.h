// What a tree of processes uses, seen from outside through /proc, for runs without control groups. Linux only.
#pragma once

#include <sys/types.h>

#include <cstdint>

#include "common/time.h"

namespace guard {

struct TreeUsage {
  std::uint64_t memory_bytes = 0;  // anonymous and shared memory that is mapped; pages of files don't count
  std::uint32_t tasks = 0;         // threads of all processes
  bool complete = true;            // false: no descriptor was left to look at all of them, so there may be more
};

// The descendants of `root`, without itself. Orphans are in it where `root` is a PID 1 or a subreaper. What is not
// mapped (an unmapped memfd, files in a tmpfs) is not seen: a watched limit is weaker than a control group's.
TreeUsage measure_tree(pid_t root);

// The descendants of `root` that still run: no zombies. At least one where not all could be looked at.
std::uint32_t living_descendants(pid_t root);

// Kills all descendants of `root`, but not itself, until none is left alive or `deadline` has passed; they are stopped
// first, so that a fork bomb can't outrun it. Fails never: an ending without success shows in the next measure_tree().
void kill_tree(pid_t root, Deadline deadline);

// Tasks that a user has on this machine: what RLIMIT_NPROC counts outside of user namespaces.
std::uint32_t tasks_of_user(uid_t user);

}  // namespace guard
