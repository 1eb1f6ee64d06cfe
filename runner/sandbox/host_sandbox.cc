// The host backend isolates nothing: the program is the person, with their files and their network. What it keeps of
// the promise: a bare environment, limits of time and output, control groups where there are any (memory watched
// elsewhere), and a process tree that is gone when the run is over. A program that kills its supervisor, which it may
// do here, can leave processes behind where there are no control groups to find them by.
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_io.h"
#include "runner/init_side/init_binary.h"
#include "runner/init_side/init_run.h"
#include "runner/process/process_tree.h"
#include "runner/sandbox/sandbox.h"

namespace guard {
namespace {

constexpr std::uint32_t kTasksBehindLimit = 32;

class HostSandbox final : public Sandbox {
 public:
  std::string_view name() const noexcept override { return "host"; }

  SandboxProbe probe(Deadline) const override {
    SandboxProbe probe;
    probe.state = ProbeState::available;
    probe.reason = "the host needs nothing, and isolates nothing";
    return probe;
  }

  Result<ExecResult> run(const SandboxSpec& spec, ByteSink& out, ByteSink& err, const CancelToken& cancel) override {
    GUARD_TRY(validate(spec));
    if (spec.collect) {
      return Error(ErrorCode::input_invalid, "the host backend has no folder of its own to collect files from");
    }
    struct stat found {};
    if (spec.host_folder.empty() || ::stat(spec.host_folder.c_str(), &found) != 0 || !S_ISDIR(found.st_mode)) {
      return Error(ErrorCode::input_invalid,
          fmt::format("the host backend needs a folder to run in; \"{}\" is none", spec.host_folder.string()));
    }
    GUARD_TRY_ASSIGN(const std::filesystem::path init, init_binary_path());
    const RunCgroup cgroup = RunCgroup::create(spec.run_id, spec.limits, cgroup_places_here());
    if (spec.require_cgroups && (!cgroup.holds("memory") || !cgroup.holds("pids"))) {
      return Error(
          ErrorCode::environment_unavailable, "limits of memory and processes can't be enforced by control groups here")
          .detail("environmentType", "host");
    }
    InitRun run;
    run.cgroup = &cgroup;
    run.watch_memory = !cgroup.holds("memory");
    run.watch_pids = !cgroup.holds("pids");
    run.confinement = Confinement::not_claimed;
    // Here RLIMIT_NPROC counts whatever else the person runs, too. It is no more than the wall behind the watching,
    // which a fork bomb would outrun, and stands so far behind that the watching gets to see the limit passed. (It does
    // not bind root, who has control groups.)
    const std::uint32_t nproc = run.watch_pids ? tasks_of_user(::getuid()) + spec.limits.pids + kTasksBehindLimit : 0;
    run.child.argv = init_command(init.string(), spec, {.nproc = nproc});
    run.child.cwd = spec.host_folder.string();
    run.child.env = spec.env;
    run.child.join_cgroups = cgroup.join_descriptors();
    GUARD_TRY_ASSIGN(ExecResult result, run_under_init(spec, run, out, err, cancel));
    result.enforced_by = {
        {"memory", cgroup.holds("memory") ? "cgroup" : "watched"},
        {"swap", cgroup.limits_swap() ? "cgroup" : "none"},
        {"pids", cgroup.holds("pids") ? "cgroup" : "watched"},
        {"cpus", cgroup.holds("cpu") ? "cgroup" : "none"},
        {"tmp_size", "none"},
        {"tmp_files", "none"},
        {"tmp_noexec", "none"},
        {"sandbox_size", "none"},
        {"sandbox_files", "none"},
        {"open_files", "rlimit"},
        {"file_size", "rlimit"},
        {"output", "guard"},
        {"time", "guard"},
        {"network", "none"},
        {"files", "none"},
        {"syscalls", "none"},
    };
    return result;
  }
};

}  // namespace

std::unique_ptr<Sandbox> make_host_sandbox() { return std::make_unique<HostSandbox>(); }

}  // namespace guard
