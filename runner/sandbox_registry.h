// The table of backends by name, and where the container engine is.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/environment.h"
#include "common/result.h"
#include "common/time.h"
#include "runner/container_use_sandbox.h"
#include "runner/sandbox.h"

namespace guard {

// The engine's state (SPEC section 1) and, where it is available, its socket. Looked up once, when a run starts.
struct EngineLocation {
  SandboxProbe probe;
  std::string socket;
};
EngineLocation locate_engine(const Environment& environment, Deadline deadline, const CancelToken& cancel);

// "docker", "namespace", "host", "container-use". INPUT_INVALID for any other name.
Result<std::unique_ptr<Sandbox>> make_sandbox(std::string_view name, const DockerOptions& docker,
                                              const ContainerUseOptions& container_use = {});

// Removes what killed runs of this cache folder left behind: containers (where `socket` is not empty), processes and cgroups, run
// folders. Runs that are alive are left alone. Sentences about what could not be removed.
struct Leftovers {
  std::vector<std::string> removed;
  std::vector<std::string> failed;
};
Leftovers remove_leftovers(const std::string& socket, const CancelToken& cancel);

}  // namespace guard
