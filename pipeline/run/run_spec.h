// A run as it was planned, and what its sandbox is asked for: the configuration, the staged files and the command, as
// one SandboxSpec.
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>

#include "pipeline/backend_choice.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/staging.h"
#include "pipeline/run/suite_run.h"
#include "runner/process/run_folder.h"
#include "runner/sandbox/backend.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// What is asked for, and what its first steps have found.
struct RunPlan {
  explicit RunPlan(const RunRequest& asked) : request(asked), config(asked.config) {}

  const RunRequest& request;
  const Config& config;
  BackendChoice choice = {};
  ProjectTree tree = {};
  Preload preload = {};
  std::filesystem::path host_bun = {};                // of the host backend
  std::map<std::string, std::string> variables = {};  // [run] env
  std::vector<WritableFolder> writes = {};            // shared_folders()

  bool tests() const { return request.argv.empty(); }
  bool coverage() const { return request.options.coverage == Coverage::on; }
  bool on_docker() const { return choice.backend == Backend::docker; }
  bool image_is_configured() const { return on_docker() && !config.docker.image.empty(); }

  // Where the program sees the staged folder itself: nothing of guard's own lies between the two.
  bool works_in_staged_folder() const { return !backend_row(choice.backend).takes_image; }

  // There all files would write into the same staged copy.
  std::size_t jobs() const {
    const bool side_by_side = tests() && !works_in_staged_folder();
    return side_by_side ? std::max<std::size_t>(1, std::min(request.jobs, tree.tests.size())) : 1;
  }

  // Coverage is of all files together, and tells nothing that a verdict rests on.
  Isolation isolation() const { return coverage() ? Isolation::run : config.run.isolation; }

  // What a command writes was never to be kept: there is no gate before it.
  CollectPolicy collect_policy() const { return tests() ? config.run.collect : CollectPolicy::none; }
};

// RunRequest::writes, none of them below another: writable_folder().
Result<std::vector<WritableFolder>> shared_folders(
    const std::filesystem::path& project, const std::vector<std::string>& names);

// What lies in `folders` is not staged: the command sees the folders themselves. A writable folder of the tree that
// lies in one of them, or one of them in it, can't also be in memory; then the first of them takes its place.
void leave_to_command(const std::vector<WritableFolder>& folders, ProjectTree& tree);

// Completes `spec`, whose image is chosen. Writes guard's own scripts beside what is staged. IO_ERROR.
Result<void> fill_run_spec(const RunPlan& plan, const RunFolder& folder, const StagedTree& staged, SandboxSpec& spec);

}  // namespace guard
