#include "pipeline/run/run_spec.h"

#include <fmt/format.h>

#include <algorithm>

#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/network.h"
#include "runner/egress/egress.h"
#include "runner/files/plain_path.h"
#include "runner/files/writable_folder.h"
#include "runner/init_side/init_binary.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

void set_limits(const RunPlan& plan, SandboxSpec& spec) {
  const Config& config = plan.config;
  spec.limits = limits_of(config);
  spec.network = network_of(config);
  spec.timeout = config.timeout(plan.choice.backend);
  if (plan.tests() && config.run.file_timeout.count() > 0) {
    // One file alone, or each in a sandbox of its own, has no more time than a file may take.
    spec.each_timeout = config.run.file_timeout;
    if (plan.jobs() > 1 || plan.tree.tests.size() == 1) spec.timeout = std::min(spec.timeout, spec.each_timeout);
  }
  spec.grace = std::chrono::seconds(config.run.grace_s);
  spec.require_cgroups = config.require_cgroups;
}

void set_environment(const RunPlan& plan, SandboxSpec& spec) {
  spec.env = {{"HOME", "/tmp"}, {"USER", "runner"}, {"TMPDIR", "/tmp"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"},
      {"LANG", "C.UTF-8"},
      // bun then refuses test.only and unstored snapshots: both would let a run look greener than it is.
      {"CI", "true"}, {"DO_NOT_TRACK", "1"},
      // Or what a test writes below /tmp would be what src/ means.
      {"BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0"},
      {"BUN_JSC_useShadowRealm", "0"}};  // its realm has a process and a test runner of its own
  if (plan.choice.backend == Backend::host) {
    for (const auto& name : plan.config.host.env) {
      if (const auto found = plan.request.environment.find(name); found != plan.request.environment.end())
        spec.env[name] = found->second;
    }
  }
  if (spec.network == Network::allowlist) spec.env.merge(egress_environment());
  for (const auto& [name, value] : plan.variables) spec.env[name] = value;
}

// guard's own scripts, read-only beside what is staged, and the command that loads them.
Result<void> set_test_command(
    const RunPlan& plan, const RunFolder& folder, const StagedTree& staged, SandboxSpec& spec) {
  const bool in_place = plan.works_in_staged_folder();
  const bool in_environment = plan.choice.backend == Backend::container_use;
  const fs::path script =
      in_environment ? spec.host_folder / kAttestationInEnvironment : folder.path() / "attestation.mjs";
  const auto add = [&](const fs::path& file, std::string_view text, std::string_view inside) -> Result<void> {
    GUARD_TRY(write_new_file(file, text, 0444).context("staging what will run"));
    if (!in_place) spec.mounts.push_back({file, std::string(inside)});
    return ok();
  };
  if (!spec.image.has_attestation) {
    GUARD_TRY(add(script, attestation_script(), kAttestationInside));
    GUARD_TRY(add(script.parent_path() / kAttestationCore, attestation_core(), fmt::format("/{}", kAttestationCore)));
  }
  TestOptions options = plan.request.options;
  options.preload = plan.preload.names;
  if (!options.preload.empty()) {
    spec.env["GUARD_PRELOADS"] = "1";
    GUARD_TRY(add(script.parent_path() / kBunfig, plan.preload.config, fmt::format("/{}", kBunfig)));
    GUARD_TRY(add(script.parent_path() / kPreloaded, kPreloadedText, fmt::format("/{}", kPreloaded)));
  }
  if (staged.imports_by_name) spec.env["GUARD_IMPORTS_BY_NAME"] = "1";
  spec.report = ReportChannel::on;
  spec.attestation = Attestation::on;
  spec.argv = in_environment ? test_command(kBunInEnvironment, kAttestationInEnvironment, plan.tree.tests, options)
      : in_place             ? test_command(plan.host_bun.native(), script.native(), plan.tree.tests, options)
                             : test_command(kBunInside, kAttestationInside, plan.tree.tests, options);
  return ok();
}

bool lies_in_any(std::string_view path, const std::vector<WritableFolder>& folders) {
  return std::any_of(
      folders.begin(), folders.end(), [&](const auto& folder) { return is_same_or_below(path, folder.path); });
}

// A folder of the project, if there is one of that name among what was staged.
Result<void> set_working_dir(const RunPlan& plan, const StagedTree& staged, SandboxSpec& spec) {
  if (plan.request.working_dir.empty()) return ok();
  std::string folder = fs::path(plan.request.working_dir).lexically_normal().generic_string();
  while (folder.ends_with('/')) folder.pop_back();
  if (folder == ".") return ok();
  std::error_code failure;
  if (folder.empty() || folder == ".." || folder.starts_with("../") || folder.front() == '/' ||
      (!fs::is_directory(fs::symlink_status(staged.app / folder, failure)) && !lies_in_any(folder, plan.writes))) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} is no folder of the project in which there are files", printable(plan.request.working_dir)))
        .hint("name one relative to the project's folder; ignored files are not staged");
  }
  if (plan.choice.backend == Backend::container_use)
    return Error(ErrorCode::input_invalid, "container-use starts every command in the project's folder");
  if (plan.works_in_staged_folder() && lies_in_any(folder, plan.writes)) {
    return Error(ErrorCode::input_invalid,
        "on the host --cwd can't lie in a folder of --write: what is above it would be the project, and not the copy");
  }
  if (plan.works_in_staged_folder()) {
    spec.host_folder /= folder;
  } else {
    spec.working_dir = fmt::format("{}/{}", spec.working_dir, folder);
  }
  return ok();
}

// The folders themselves, in the place of what would be staged there.
Result<void> share(const RunPlan& plan, const StagedTree& staged, SandboxSpec& spec) {
  for (const WritableFolder& folder : plan.writes) {
    const fs::path source = plan.request.project / folder.path;
    const fs::path place = staged.app / folder.path;
    // A backend that can't mount refuses it itself.
    if (plan.choice.backend != Backend::host) {
      GUARD_TRY(make_folders(place));  // what it is mounted on
      spec.shared.push_back({source, fmt::format("{}/{}", spec.working_dir, folder.path), folder.identity});
      continue;
    }
    GUARD_TRY(make_folders(place.parent_path()));
    std::error_code failure;
    fs::create_directory_symlink(source, place, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(place.native()), failure.value());
  }
  return ok();
}

}  // namespace

Result<std::vector<WritableFolder>> shared_folders(const fs::path& project, const std::vector<std::string>& names) {
  std::vector<WritableFolder> folders;
  for (const std::string& name : names) {
    GUARD_TRY_ASSIGN(WritableFolder folder, writable_folder(project, name));
    const bool twice = lies_in_any(folder.path, folders) ||
        std::any_of(folders.begin(), folders.end(),
            [&](const auto& other) { return is_same_or_below(other.path, folder.path); });
    if (twice)
      return Error(
          ErrorCode::input_invalid, fmt::format("--write {} lies in another one, or holds it", printable(name)))
          .hint("name the outer folder alone");
    folders.push_back(std::move(folder));
  }
  return folders;
}

void leave_to_command(const std::vector<WritableFolder>& folders, ProjectTree& tree) {
  if (folders.empty()) return;
  std::erase_if(tree.gated.files, [&](const SourceFile& file) { return lies_in_any(file.path, folders); });
  std::erase_if(tree.others, [&](const std::string& path) { return lies_in_any(path, folders); });
  const bool shared = tree.writable.empty() || lies_in_any(tree.writable, folders) ||
      std::any_of(folders.begin(), folders.end(),
          [&](const auto& folder) { return is_same_or_below(folder.path, tree.writable); });
  if (shared) tree.writable = folders.front().path;
}

Result<void> fill_run_spec(const RunPlan& plan, const RunFolder& folder, const StagedTree& staged, SandboxSpec& spec) {
  const Config& config = plan.config;
  spec.run_id = folder.run_id();
  spec.host_folder = staged.app;
  mount_staged(staged, plan.tree.writable, config.limits.sandbox_bytes, config.limits.sandbox_files, spec);
  // Of what is shared no copy is in memory, and nothing is handed out.
  if (lies_in_any(plan.tree.writable, plan.writes)) spec.scratch.clear();
  // Elsewhere tests write into the staged copy itself, which is thrown away unseen.
  if (!plan.works_in_staged_folder() && !spec.scratch.empty()) {
    CollectRequest& collect = spec.collect.emplace();
    collect.folder = spec.scratch.front().target;
    if (plan.collect_policy() != CollectPolicy::none || plan.coverage()) {
      collect.files_max = CollectRequest::kFilesMax;
      collect.bytes_max = CollectRequest::kBytesMax;
      // A larger file would only be a finding.
      collect.file_bytes_max = std::min(CollectRequest::kFileBytesMax, config.check.max_file_bytes);
    }
  }
  set_limits(plan, spec);
  set_environment(plan, spec);
  if (plan.tests()) return set_test_command(plan, folder, staged, spec);
  spec.argv = plan.request.argv;
  spec.input_descriptor = plan.request.input_descriptor;
  GUARD_TRY(share(plan, staged, spec));
  return set_working_dir(plan, staged, spec);
}

}  // namespace guard
