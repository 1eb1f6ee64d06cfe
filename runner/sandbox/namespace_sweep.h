// What a killed guard may leave behind of runs in the embedded sandbox and on the host: control groups, and on the host
// the processes in them. (Processes of the embedded sandbox die with guard: life line and parent-death signal.)
#pragma once

#include <string>

#include "common/result.h"

namespace guard {

// For sweep_dead_runs(): kills the processes in the run's control groups and removes the groups. No error when there
// are none.
Result<void> namespace_sweep(const std::string& run_id);

}  // namespace guard
