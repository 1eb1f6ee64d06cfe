// Runs a program under guard-init to its end: what the embedded sandbox and the host backend have in common. (The
// container backend has an engine between itself and the init.) Linux only.
#pragma once

#include "runner/process/child_process.h"
#include "runner/process/exec_result.h"
#include "runner/sandbox/cgroup.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// Must the init show from inside that the sandbox holds?
enum class Confinement : std::uint8_t { must_be_proved, not_claimed };

struct InitRun {
  // What it has no group for is watched instead: the run is killed when its processes together pass the limit.
  explicit InitRun(const RunCgroup& run_cgroup) : cgroup(run_cgroup) {}

  const RunCgroup& cgroup;
  ChildSpec child;   // starts the init, sooner or later; descriptors 0, 1 and 2 are added here
  int info_fd = -1;  // the number, in the child, at which bubblewrap tells the init's pid; -1: the child is the init
  Confinement confinement = Confinement::must_be_proved;
};

// enforced_by holds what init, guard and the control groups enforce; the rest is the caller's to add. When this returns
// no process of the run is left (but see host_sandbox.cc).
Result<ExecResult> run_under_init(
    const SandboxSpec& spec, const InitRun& run, ByteSink& out, ByteSink& err, const CancelToken& cancel);

}  // namespace guard
