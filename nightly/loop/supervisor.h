// The process between guard and a generator: what a generator starts and leaves behind ends with it, and all of it ends
// with guard.
//
// Guard starts itself as `guard nightly supervise -- PROGRAM ARGUMENT...`, so that each generator has a subreaper of
// its own.
#pragma once

#include <string>
#include <vector>

#include "common/cancel.h"

namespace guard::nightly {

// Descriptors that the supervisor is given. The life line is the reading end of a pipe that guard never writes to: its
// end is guard's end.
inline constexpr int kLifeLineFd = 3;
inline constexpr int kReportFd = 4;

// What the supervisor writes to kReportFd when all is over: one line, "exit 0 left 2", "signal 9 left 0" or "error
// <sentence>". `argv` runs with our standard streams, environment and folder. TERM, two seconds, KILL when `cancel`
// says so or guard is gone. Answers the exit status of the supervisor: 0 whenever it could report.
int supervise(const std::vector<std::string>& argv, const CancelToken& cancel);

}  // namespace guard::nightly
