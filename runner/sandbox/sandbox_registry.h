// Makes a backend's sandbox, and says where the container engine is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/own_entry.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/sandbox/backend.h"
#include "runner/sandbox/container_use_sandbox.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// The engine's state and, where it is available, where it is. Looked up once, when a run starts.
struct EngineLocation {
  SandboxProbe probe;
  docker::Endpoint engine;
};
// `plain_tcp`: what the configuration allows, docker.plain_tcp.
EngineLocation locate_engine(
    const Environment& environment, bool plain_tcp, Deadline deadline, const CancelToken& cancel);

// Each backend takes its own part.
struct SandboxOptions {
  DockerOptions docker;
  ContainerUseOptions container_use;
};
std::unique_ptr<Sandbox> make_sandbox(Backend backend, const SandboxOptions& options);

// A look at all processes costs more than the rest: where_runs_died leaves it out where no engine is asked, as the
// embedded sandbox dies with its guard, and no run has died.
enum class LookAtProcesses : std::uint8_t { always, where_runs_died };

// Removes what killed runs of this cache folder left behind: containers and images of runs (where `engine` is not
// empty), processes and cgroups, run folders. Runs that are alive are left alone. Sentences about what could not be
// removed.
struct Leftovers {
  std::vector<std::string> removed;
  std::vector<std::string> failed;
};
Leftovers remove_leftovers(const docker::Endpoint& engine, const CancelToken& cancel, LookAtProcesses look,
    SweepMode mode = SweepMode::remove);

// The same of one run, but for what an engine knows, and processes.
Result<void> remove_leftover_of(const std::string& run_id);

}  // namespace guard
