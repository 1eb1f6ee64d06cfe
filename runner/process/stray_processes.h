// Processes of sandboxes that nobody else will end: an engine that died may forget a container that lives on, and
// gVisor's sandbox and gofer processes survive a start of theirs that failed or hung. Found by their command lines.
// Linux only; sees the processes of this machine alone.
#pragma once

#include <string>
#include <string_view>

#include "common/result.h"
#include "runner/process/run_folder.h"

namespace guard {

// What guard-init carries on its command line: whose run it is ("cache label/run id").
Result<std::string> run_owner(const std::string& run_id);

// Kills the inits of this run, and returns how many there were. A PID 1 takes everything of its sandbox along.
int kill_inits_of(const std::string& owner);

// Kills the inits of runs of this cache folder whose guard is dead. `removed` holds run ids, `failed` sentences on
// those that this user may not kill.
SweepResult sweep_stray_inits(SweepMode mode = SweepMode::remove);

// Kills, and returns how many, those runsc processes whose command line names the container. Only a whole id (64 hex
// digits) names one: anything else returns 0. Processes of others, without the right to kill them, are left.
int kill_runtime_processes(std::string_view container_id);

}  // namespace guard
