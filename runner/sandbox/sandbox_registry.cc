#include "runner/sandbox/sandbox_registry.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>

#include "common/file_io.h"
#include "common/own_entry.h"
#include "docker/engine_probe.h"
#include "runner/process/run_folder.h"
#include "runner/process/stray_processes.h"
#include "runner/sandbox/cgroup.h"
#include "runner/sandbox/docker_sweep.h"

namespace guard {
namespace {

// Where files of ours are written that outlive a run: the cache, each folder in it, and each image.
std::vector<std::filesystem::path> cache_folders() {
  const auto cache = cache_folder();
  if (!cache) return {};
  std::vector<std::filesystem::path> folders = {*cache};
  for (const auto& parent : {*cache, *cache / "images"}) {
    std::error_code failure;
    for (std::filesystem::directory_iterator entry(parent, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (entry->path().filename() != "runs" && std::filesystem::is_directory(entry->symlink_status(failure)))
        folders.push_back(entry->path());
    }
  }
  return folders;
}

}  // namespace

EngineLocation locate_engine(
    const Environment& environment, bool plain_tcp, Deadline deadline, const CancelToken& cancel) {
  const auto allowed = plain_tcp ? docker::PlainTcp::anywhere : docker::PlainTcp::loopback_only;
  const docker::EngineProbe probe =
      docker::probe_engine(docker::engine_candidates(environment, allowed), deadline, cancel);
  EngineLocation location;
  location.engine = probe.endpoint;
  location.probe = sandbox_probe(probe);
  return location;
}

std::unique_ptr<Sandbox> make_sandbox(Backend backend, const SandboxOptions& options) {
  switch (backend) {
    case Backend::namespace_sandbox: return make_namespace_sandbox();
    case Backend::container_use: return make_container_use_sandbox(options.container_use);
    case Backend::host: return make_host_sandbox();
    case Backend::docker: break;
  }
  return make_docker_sandbox(options.docker);
}

namespace {

// And on the host the processes in them: those of the embedded sandbox die with guard.
Result<void> remove_groups(const std::string& run_id) { return remove_cgroups_of(run_id, cgroup_places_here()); }

}  // namespace

Result<void> remove_leftover_of(const std::string& run_id) {
  GUARD_TRY(remove_dead_run(run_id, remove_groups));
  return ok();
}

Leftovers remove_leftovers(
    const docker::Endpoint& engine, const CancelToken& cancel, LookAtProcesses look, SweepMode mode) {
  Leftovers leftovers;
  if (!engine.empty()) {
    auto swept = docker_sweep(engine, cancel, mode);
    if (swept) {
      leftovers.removed = std::move(swept->removed);
      leftovers.failed = std::move(swept->failed);
    } else {
      leftovers.failed.push_back(swept.error().message());
    }
  }
  const auto add = [&leftovers](auto swept) {
    for (auto& run : swept.removed) {
      // A run whose container was removed a moment ago has a folder, too.
      if (std::find(leftovers.removed.begin(), leftovers.removed.end(), run) == leftovers.removed.end())
        leftovers.removed.push_back(std::move(run));
    }
    leftovers.failed.insert(leftovers.failed.end(), swept.failed.begin(), swept.failed.end());
  };
  // Behind the engine, which removes what it knows in order; before the folders, which some of them still hold.
  if (look == LookAtProcesses::always || !engine.empty() ||
      !sweep_dead_runs(remove_groups, SweepMode::list).removed.empty())
    add(sweep_stray_inits(mode));
  add(sweep_dead_runs(remove_groups, mode));
  for (const auto& folder : cache_folders()) add(sweep_own(folder, mode));
  return leftovers;
}

}  // namespace guard
