#include "runner/sandbox/namespace_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdio>
#include <fstream>

#include "common/file_io.h"
#include "common/text/text.h"
#include "docker/container_config.h"
#include "runner/files/scratch_file.h"
#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_run.h"
#include "runner/process/stray_processes.h"
#include "runner/process/subprocess.h"
#include "runner/sandbox/bwrap_args.h"
#include "runner/sandbox/seccomp_filter.h"

namespace guard {
namespace {

// The numbers at which bubblewrap finds what we hand it.
constexpr int kSeccompFd = 10;
constexpr int kInfoFd = 11;
constexpr int kPreparedArgsFd = 12;
constexpr int kPlainArgsFd = 13;

constexpr uid_t kHostUserBase = 1'900'000'000;
constexpr uid_t kNobody = 65'534;

// The user a root-run sandbox drops to: outside what distributions hand out to people, services and containers. In a
// container that maps few users there may be no such number; nobody is the next best.
Result<uid_t> host_user() {
  const uid_t wanted = kHostUserBase + static_cast<uid_t>(::getpid());
  std::ifstream map("/proc/self/uid_map");
  bool nobody_mapped = false;
  for (unsigned long long first = 0, outside = 0, count = 0; map >> first >> outside >> count;) {
    if (wanted >= first && wanted - first < count) return wanted;
    if (kNobody >= first && kNobody - first < count) nobody_mapped = true;
  }
  if (nobody_mapped) return kNobody;
  return Error(ErrorCode::environment_unavailable, "there is no unprivileged user to run the sandbox as")
      .hint("run guard as an ordinary user, or in a container that maps more than root");
}

// The file that execve(2) will get, or empty.
std::string find_bwrap(const NamespaceOptions& options) {
  for (const std::filesystem::path& folder : options.bwrap_folders) {
    std::string candidate = folder / "bwrap";
    struct stat found {};
    if (::stat(candidate.c_str(), &found) == 0 && S_ISREG(found.st_mode) && ::access(candidate.c_str(), X_OK) == 0) {
      return candidate;
    }
  }
  return {};
}

// What engines mask in /proc is masked here, too; there is no /sys.
ProcMasks proc_masks() {
  ProcMasks masks;
  for (const std::string path : docker::masked_paths()) {
    struct stat found {};
    if (!path.starts_with("/proc/") || ::stat(path.c_str(), &found) != 0) continue;
    (S_ISDIR(found.st_mode) ? masks.folders : masks.files).push_back(path);
  }
  return masks;
}

Result<std::vector<RootEntry>> root_entries(const std::filesystem::path& root) {
  if (root.empty()) return Error(ErrorCode::image_missing, "no root folder was named for the embedded sandbox");
  std::error_code error;
  std::vector<std::filesystem::directory_entry> found;
  for (std::filesystem::directory_iterator entry(root, error), end; !error && entry != end; entry.increment(error)) {
    found.push_back(*entry);
  }
  std::sort(found.begin(), found.end());
  std::vector<RootEntry> entries;
  for (const auto& entry : found) {
    const std::string name = entry.path().filename().string();
    // Made afresh for every run.
    if (name == "proc" || name == "sys" || name == "dev" || name == "tmp" || name == "app") continue;
    const std::string target = "/" + name;
    if (error) break;
    if (entry.is_symlink(error)) {
      entries.push_back({std::filesystem::read_symlink(entry.path(), error).string(), target, RootEntry::Kind::link});
    } else if (entry.is_directory(error) || entry.is_regular_file(error)) {
      entries.push_back({entry.path().string(), target, RootEntry::Kind::mounted});
    }
  }
  if (error) {
    return Error(
        ErrorCode::image_missing, fmt::format("cannot read the root folder {}: {}", root.string(), error.message()))
        .detail("image", root.string());
  }
  entries.push_back({{}, "/app", RootEntry::Kind::folder});
  return entries;
}

// Arguments in a memory file: a command line can be read by every user of the host, and the environment may hold
// secrets.
Result<UniqueFd> args_file(const std::vector<std::string>& args) {
  std::string text;
  for (const std::string& arg : args) text.append(arg).push_back('\0');
  return memory_file("bwrap-args", text);
}

// What the stage before bubblewrap mounts over, in a namespace of its own; here it stays empty.
Result<std::filesystem::path> mount_point() {
  GUARD_TRY_ASSIGN(const std::filesystem::path cache, shared_cache_folder());
  std::filesystem::path folder = cache / "scratch";
  GUARD_TRY(make_folders(folder, 0755).context("making the mount point of the folders in memory"));
  return folder;
}

// Since 5.14 RLIMIT_NPROC counts per user namespace; before, it counted everything the user runs on the machine.
bool nproc_is_per_namespace() {
  utsname name{};
  int major = 0;
  int minor = 0;
  if (::uname(&name) != 0 || std::sscanf(name.release, "%d.%d", &major, &minor) != 2) return false;
  return major > 5 || (major == 5 && minor >= 14);
}

// Runs bubblewrap inside bubblewrap, under the filter: what a real run needs, and nothing that lasts. Its version.
Result<std::string> trial_run(const std::string& bwrap, Deadline deadline) {
  GUARD_TRY_ASSIGN(const UniqueFd filter, seccomp_filter());
  ProcessSpec trial;
  trial.argv = {bwrap, "--unshare-user", "--unshare-all", "--disable-userns", "--uid", "1000", "--gid", "1000",
      "--die-with-parent", "--new-session", "--as-pid-1", "--seccomp", fmt::format("{}", kSeccompFd), "--ro-bind", "/",
      "/", "--proc", "/proc", "--dev", "/dev", "--", bwrap, "--version"};
  trial.descriptors = {{filter.get(), kSeccompFd}};
  trial.deadline = deadline;
  trial.grace = milliseconds(0);
  if (::geteuid() == 0) {
    GUARD_TRY_ASSIGN(trial.become_user, host_user());
  }
  const CancelToken never;
  GUARD_TRY_ASSIGN(CollectedProcess said, collect_process(trial, 4096, never));
  const Outcome& outcome = said.result.outcome;
  if (outcome.kind == OutcomeKind::timed_out)
    return Error(ErrorCode::environment_unavailable, "a trial run of bubblewrap did not end in time");
  std::string words = said.out + said.err;
  while (!words.empty() && words.back() == '\n') words.pop_back();
  if (outcome.kind != OutcomeKind::exited || outcome.value != 0) {
    return Error(
        ErrorCode::environment_unavailable, fmt::format("a trial run of bubblewrap failed: {}", printable(words)));
  }
  return printable(words.substr(words.rfind(' ') + 1));
}

class NamespaceSandbox final : public Sandbox {
 public:
  explicit NamespaceSandbox(NamespaceOptions options) : options_(std::move(options)) {}
  std::string_view name() const noexcept override { return "namespace"; }
  SandboxProbe probe(Deadline deadline) const override;
  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override;

 private:
  NamespaceOptions options_;
};

SandboxProbe NamespaceSandbox::probe(Deadline deadline) const {
  SandboxProbe probe;
  const std::string bwrap = find_bwrap(options_);
  if (bwrap.empty()) {
    probe.state = ProbeState::absent;
    probe.reason = "bubblewrap is not installed";
    probe.remedy = "install it: apt install bubblewrap (dnf, pacman and apk call it bubblewrap, too)";
    return probe;
  }
  probe.endpoint = bwrap;
  probe.remedy =
      "allow user namespaces (sysctl user.max_user_namespaces, kernel.unprivileged_userns_clone, "
      "kernel.apparmor_restrict_unprivileged_userns), or use another backend";
  std::string controllers;
  for (const auto& [controller, place] : options_.cgroups) {
    const bool writable = std::any_of(place.parents.begin(), place.parents.end(),
        [](const auto& parent) { return ::access(parent.c_str(), W_OK) == 0; });
    if (writable)
      controllers += fmt::format(
          "{}{}:{}", controllers.empty() ? "" : ",", controller, place.version == CgroupVersion::v1 ? "v1" : "v2");
  }
  probe.facts["cgroups"] = controllers.empty() ? "none" : controllers;

  auto version = trial_run(bwrap, deadline);
  if (!version) {
    probe.reason = version.error().message();
    return probe;
  }
  probe.version = *std::move(version);
  probe.state = ProbeState::available;
  probe.reason = "user namespaces and seccomp work";
  probe.remedy.clear();
  return probe;
}

Result<ExecResult> NamespaceSandbox::run(
    const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  GUARD_TRY(validate(spec));
  if (spec.network != Network::none) {
    return Error(ErrorCode::input_invalid, "the embedded sandbox has no network to offer")
        .hint("use `network = \"none\"`, or the docker backend");
  }
  const std::string bwrap = find_bwrap(options_);
  if (bwrap.empty()) {
    return Error(ErrorCode::environment_unavailable, "bubblewrap is not installed")
        .hint("install it: apt install bubblewrap")
        .detail("environmentType", "namespace");
  }
  BwrapInputs inputs;
  inputs.seccomp_fd = kSeccompFd;
  inputs.info_fd = kInfoFd;
  inputs.masks = proc_masks();
  GUARD_TRY_ASSIGN(inputs.root, root_entries(spec.image.root_folder));
  GUARD_TRY_ASSIGN(const std::filesystem::path init, init_binary_path());
  inputs.init_source = init.string();
  GUARD_TRY_ASSIGN(const UniqueFd filter, seccomp_filter());
  GUARD_TRY_ASSIGN(const UniqueFd plain_args, args_file(bwrap_args(spec, inputs)));
  GUARD_TRY_ASSIGN(const std::filesystem::path scratch_at, mount_point());
  inputs.scratch_at = scratch_at.string();
  GUARD_TRY_ASSIGN(const UniqueFd prepared_args, args_file(bwrap_args(spec, inputs)));

  const RunCgroup cgroup = RunCgroup::create(spec.run_id, spec.limits, options_.cgroups);
  if (spec.require_cgroups && (!cgroup.holds("memory") || !cgroup.holds("pids"))) {
    return Error(
        ErrorCode::environment_unavailable, "limits of memory and processes can't be enforced by control groups here")
        .hint("run guard where control groups are delegated to it (systemd: Delegate=yes), or drop `require_cgroups`")
        .detail("environmentType", "namespace");
  }
  InitRun run(cgroup);
  run.info_fd = kInfoFd;
  const bool limit_nproc = !cgroup.holds("pids") && nproc_is_per_namespace();
  run.child.argv = scratch_stage_command(spec, {init.string(), inputs.scratch_at, kPreparedArgsFd, kPlainArgsFd});
  run.child.argv.push_back(bwrap);
  // bubblewrap and init are tasks, too.
  const std::uint32_t nproc = limit_nproc ? spec.limits.pids + 2 : 0;
  InitDuties duties;
  duties.nproc = nproc;
  duties.own_folders = true;
  GUARD_TRY_ASSIGN(duties.owner, run_owner(spec.run_id));
  for (std::string& word : init_command(kInitInside, spec, duties)) run.child.argv.push_back(std::move(word));
  run.child.cwd = "/";
  run.child.descriptors = {
      {filter.get(), kSeccompFd}, {prepared_args.get(), kPreparedArgsFd}, {plain_args.get(), kPlainArgsFd}};
  run.child.join_cgroups = cgroup.join_descriptors();
  if (::geteuid() == 0) {
    GUARD_TRY_ASSIGN(run.child.become_user, host_user());
  }
  GUARD_TRY_ASSIGN(ExecResult result, run_under_init(spec, run, out, err, cancel));
  if (limit_nproc) result.enforced_by["pids"] = "rlimit";
  result.enforced_by["network"] = "namespace";
  result.enforced_by["syscalls"] = "seccomp";
  add_folder_limits(spec.limits, result);
  return result;
}

}  // namespace

std::unique_ptr<Sandbox> make_namespace_sandbox_with(NamespaceOptions options) {
  return std::make_unique<NamespaceSandbox>(std::move(options));
}

std::unique_ptr<Sandbox> make_namespace_sandbox() { return make_namespace_sandbox_with({}); }

}  // namespace guard
