// What a container runtime other than the engine's own may leave behind: gVisor's sandbox and gofer processes live on when a
// start of theirs failed or hung, and no engine lists them. Linux only; sees the processes of an engine on this machine.
#pragma once

#include <string>
#include <string_view>

namespace guard {

// Kills, and returns how many, those runsc processes whose command line names the container. Only a whole id (64 hex
// digits) names one: anything else returns 0. Processes of others, without the right to kill them, are left.
int kill_runtime_processes(std::string_view container_id);

}  // namespace guard
