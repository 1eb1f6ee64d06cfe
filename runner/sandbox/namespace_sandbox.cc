#include "runner/sandbox/namespace_sandbox.h"

#include <fmt/format.h>
#include <poll.h>
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
#include "runner/files/owned_tree.h"
#include "runner/files/scratch_file.h"
#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_process.h"
#include "runner/init_side/init_run.h"
#include "runner/process/process_tree.h"
#include "runner/process/stray_processes.h"
#include "runner/process/subprocess.h"
#include "runner/sandbox/bwrap_args.h"
#include "runner/sandbox/seccomp_filter.h"
#include "runner/tasks/staying_sandbox.h"

namespace guard {
namespace {

// The numbers at which bubblewrap finds what we hand it.
constexpr int kSeccompFd = 10;
constexpr int kInfoFd = 11;
constexpr int kPreparedArgsFd = 12;
constexpr int kPlainArgsFd = 13;

constexpr milliseconds kLeaveLimit{2'000};
constexpr milliseconds kEndLimit{5'000};

constexpr uid_t kHostUserBase = 1'900'000'000;
constexpr uid_t kStayingUser = kHostUserBase - 1;
constexpr uid_t kNobody = 65'534;

uid_t user_of_this_process() { return kHostUserBase + static_cast<uid_t>(::getpid()); }

// The user a root-run sandbox drops to: outside what distributions hand out to people, services and containers. In a
// container that maps few users there may be no such number; nobody is the next best.
Result<uid_t> host_user(uid_t wanted) {
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
    // A link of the image's in the place of a mount would be followed, in bubblewrap's view of this machine.
    if (target == kInitInside) continue;
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
    GUARD_TRY_ASSIGN(trial.become_user, host_user(user_of_this_process()));
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

// All that a start needs, in one place: descriptors that bubblewrap finds, and the group that it enters.
struct NamespaceStart {
  explicit NamespaceStart(RunCgroup made) : cgroup(std::move(made)), run(cgroup) {}

  RunCgroup cgroup;
  InitRun run;
  UniqueFd filter;
  UniqueFd prepared_args;
  UniqueFd plain_args;
  bool limits_nproc = false;

  void add_enforced(std::map<std::string, std::string>& enforced_by) const {
    if (limits_nproc) enforced_by["pids"] = "rlimit";
    enforced_by["network"] = "namespace";
    enforced_by["syscalls"] = "seccomp";
  }
};

// Init is our grandchild, behind pipes.
class NamespaceLink final : public SandboxLink {
 public:
  NamespaceLink(std::unique_ptr<NamespaceStart> start, const Limits& limits)
      : start_(std::move(start)), limits_(limits), init_(start_->cgroup, start_->run.info_fd) {}

  Result<void> start() override {
    GUARD_TRY(init_.start(start_->run.child));
    started_ = true;
    return ok();
  }

  Result<bool> receive(std::string& bytes, int wake, Deadline deadline) override {
    std::array<pollfd, 5> fds = {pollfd{init_.frames(), POLLIN, 0}, pollfd{init_.complaints(), POLLIN, 0},
        pollfd{init_.info(), POLLIN, 0}, pollfd{init_.child_descriptor(), POLLIN, 0}, pollfd{wake, POLLIN, 0}};
    if (::poll(fds.data(), fds.size(), deadline.poll_timeout()) < 0 && errno != EINTR)
      return Error::from_errno(ErrorCode::environment_unavailable, "poll", errno);
    if (fds[2].revents != 0 && init_.info() >= 0) GUARD_TRY(init_.read_info());
    if (fds[1].revents != 0) init_.read_complaints();
    if (fds[3].revents != 0) init_.child_has_ended();
    if (fds[0].revents == 0) return !init_.child_ended();
    std::array<char, 64ul * 1024> buffer;
    const ssize_t size = ::read(init_.frames(), buffer.data(), buffer.size());
    if (size < 0 && (errno == EAGAIN || errno == EINTR)) return true;
    if (size > 0) bytes.append(buffer.data(), static_cast<std::size_t>(size));
    return size > 0;
  }

  std::map<std::string, std::string> enforced_by(const std::map<std::string, std::string>& hello) const override {
    ExecResult result;
    result.enforced_by = limits_of_init();
    start_->cgroup.add_enforced(result.enforced_by);
    start_->add_enforced(result.enforced_by);
    result.seen_inside = hello;
    add_folder_limits(limits_, result);
    return result.enforced_by;
  }

  // What a group limits it limits by itself: the kernel kills a task, or refuses it one, and the sandbox lives on.
  Result<void> look() override {
    if (start_->cgroup.holds("memory") || init_.pid() <= 1) return ok();
    const TreeUsage usage = measure_tree(init_.pid());
    if (!usage.complete)
      return Error(ErrorCode::environment_unavailable, "the sandbox was ended: no descriptor is left to look at it")
          .hint("raise the limit of open files (`ulimit -n`)");
    if (usage.memory_bytes <= limits_.memory_bytes) return ok();
    return Error(ErrorCode::environment_unavailable,
        fmt::format(
            "the sandbox was ended: together its tasks used more than {} bytes of memory", limits_.memory_bytes))
        .hint("where guard may make control groups, only the task that is too large is ended");
  }

  Result<void> send(std::string_view frame) override { return init_.send(frame); }

  Result<void> end() override {
    if (!started_) return ok();
    const Deadline deadline = Deadline::after(kEndLimit);
    init_.cut_life_line();
    // Init leaves by itself, and everything with it; where it does not, it is killed.
    pollfd child{init_.child_descriptor(), POLLIN, 0};
    if (child.fd >= 0 && ::poll(&child, 1, static_cast<int>(kLeaveLimit.count())) <= 0) init_.kill(deadline);
    if (init_.finish(deadline)) return ok();
    return Error(ErrorCode::environment_creation_failed, "processes of the sandbox could not be killed");
  }

  std::string complaint() const override { return init_.complaint(); }

 private:
  const std::unique_ptr<NamespaceStart> start_;
  const Limits limits_;
  InitProcess init_;
  bool started_ = false;
};

class NamespaceSandbox final : public Sandbox {
 public:
  explicit NamespaceSandbox(NamespaceOptions options) : options_(std::move(options)) {}
  std::string_view name() const noexcept override { return "namespace"; }
  SandboxProbe probe(Deadline deadline) const override;
  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override;
  Result<std::unique_ptr<OpenSandbox>> open(const SandboxSpec& spec, const CancelToken& cancel) override;

 private:
  Result<std::unique_ptr<NamespaceStart>> prepare(const SandboxSpec& spec) const;

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
  // Other kernels have no such file.
  if (const auto restriction = read_file(options_.apparmor_restriction, 64)) {
    const bool restricts = restriction->starts_with('1');
    probe.facts["userns_by_apparmor"] = restricts ? "programs with a profile" : "not restricted";
    if (restricts) {
      probe.remedy =
          "AppArmor lets only programs with a profile make user namespaces here "
          "(kernel.apparmor_restrict_unprivileged_userns = 1). guard's package for Debian and Ubuntu brings one for "
          "/usr/bin/guard; for a guard elsewhere, change the path in packaging/debian/apparmor and load it with "
          "apparmor_parser. Or use another backend";
    }
  }

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

Result<std::unique_ptr<NamespaceStart>> NamespaceSandbox::prepare(const SandboxSpec& spec) const {
  if (is_open(spec.network)) {
    return Error(ErrorCode::input_invalid, "the embedded sandbox has no network to offer")
        .hint("use `network = \"none\"` or \"allowlist\", or the docker backend");
  }
  const std::string bwrap = find_bwrap(options_);
  if (bwrap.empty()) {
    return Error(ErrorCode::environment_unavailable, "bubblewrap is not installed")
        .hint("install it: apt install bubblewrap")
        .detail("environmentType", "namespace");
  }
  auto start = std::make_unique<NamespaceStart>(RunCgroup::create(spec.run_id, spec.limits, options_.cgroups));
  const RunCgroup& cgroup = start->cgroup;
  if (spec.require_cgroups && (!cgroup.holds("memory") || !cgroup.holds("pids"))) {
    return Error(
        ErrorCode::environment_unavailable, "limits of memory and processes can't be enforced by control groups here")
        .hint("run guard where control groups are delegated to it (systemd: Delegate=yes), or drop `require_cgroups`")
        .detail("environmentType", "namespace");
  }
  BwrapInputs inputs;
  inputs.seccomp_fd = kSeccompFd;
  inputs.info_fd = kInfoFd;
  inputs.masks = proc_masks();
  GUARD_TRY_ASSIGN(inputs.root, root_entries(spec.image.root_folder));
  GUARD_TRY_ASSIGN(const std::filesystem::path init, init_binary_path());
  inputs.init_source = init.string();
  GUARD_TRY_ASSIGN(start->filter, seccomp_filter());
  GUARD_TRY_ASSIGN(start->plain_args, args_file(bwrap_args(spec, inputs)));
  GUARD_TRY_ASSIGN(const std::filesystem::path scratch_at, mount_point());
  inputs.scratch_at = scratch_at.string();
  GUARD_TRY_ASSIGN(start->prepared_args, args_file(bwrap_args(spec, inputs)));

  start->limits_nproc = !cgroup.holds("pids") && nproc_is_per_namespace();
  InitRun& run = start->run;
  run.info_fd = kInfoFd;
  run.child.argv =
      scratch_stage_command(spec, {init.string(), inputs.scratch_at, kPreparedArgsFd, kPlainArgsFd, inputs.masks});
  run.child.argv.push_back(bwrap);
  InitDuties duties;
  // bubblewrap and init are tasks, too.
  duties.nproc = start->limits_nproc ? spec.limits.pids + 2 : 0;
  duties.own_folders = true;
  GUARD_TRY_ASSIGN(duties.owner, run_owner(spec.run_id));
  for (std::string& word : init_command(kInitInside, spec, duties)) run.child.argv.push_back(std::move(word));
  run.child.cwd = "/";
  run.child.descriptors = {{start->filter.get(), kSeccompFd}, {start->prepared_args.get(), kPreparedArgsFd},
      {start->plain_args.get(), kPlainArgsFd}};
  run.child.join_cgroups = cgroup.join_descriptors();
  if (::geteuid() == 0) {
    GUARD_TRY_ASSIGN(run.child.become_user, host_user(user_of_this_process()));
  }
  return start;
}

Result<ExecResult> NamespaceSandbox::run(
    const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  GUARD_TRY(validate(spec));
  begin_stage(spec.timeline, "create");
  GUARD_TRY_ASSIGN(const auto start, prepare(spec));
  GUARD_TRY_ASSIGN(ExecResult result, run_under_init(spec, start->run, out, err, cancel));
  start->add_enforced(result.enforced_by);
  add_folder_limits(spec.limits, result);
  return result;
}

Result<std::unique_ptr<OpenSandbox>> NamespaceSandbox::open(const SandboxSpec& spec, const CancelToken& cancel) {
  GUARD_TRY(validate(spec, Serves::tasks));
  GUARD_TRY_ASSIGN(auto start, prepare(spec));
  if (::geteuid() == 0) {
    // Always the same one, so that what one sandbox has written the next one may go on with.
    GUARD_TRY_ASSIGN(const uid_t user, host_user(kStayingUser));
    start->run.child.become_user = user;
    for (const SharedFolder& folder : spec.shared) GUARD_TRY(give_tree(folder.source, user));
  }
  return open_over(std::make_unique<NamespaceLink>(std::move(start), spec.limits), spec.egress, spec.timeout, cancel);
}

}  // namespace

std::unique_ptr<Sandbox> make_namespace_sandbox_with(NamespaceOptions options) {
  return std::make_unique<NamespaceSandbox>(std::move(options));
}

std::unique_ptr<Sandbox> make_namespace_sandbox() { return make_namespace_sandbox_with({}); }

}  // namespace guard
