// The walls that bubblewrap leaves to us where the stage before it could be run (init/stages/scratch_stage.h): it looks
// at all mounts for each that it makes, and these are many.
//
//   guard-init --finish [MASKED]... -- INIT [ARG...]
//
// We begin as root of bubblewrap's user namespace, with three capabilities, and nothing else runs yet. Each MASKED, a
// file or folder of /proc, is covered; no more user namespaces can be made than the one that we enter, as user and
// group 1000; and INIT, executed without a capability, can be looked into by nobody who is no user of that one.
#pragma once

namespace guard::init {

// Returns an exit status only where a step failed, which is said on standard error.
int run_finish_stage(int argc, char** argv);

}  // namespace guard::init
