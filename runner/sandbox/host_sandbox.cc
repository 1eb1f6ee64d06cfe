// The host backend isolates nothing: the program is the person, with their files and their network. What it keeps of
// the promise: a bare environment, limits of time and output, control groups where there are any (memory watched
// elsewhere), and a process tree that is gone when the run is over. A program that kills its supervisor, which it may
// do here, can leave processes behind where there are no control groups to find them by.
#include <unistd.h>

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
    GUARD_TRY(validate_host_folder(spec, "the host backend"));
    GUARD_TRY_ASSIGN(const std::filesystem::path init, init_binary_path());
    const RunCgroup cgroup = RunCgroup::create(spec.run_id, spec.limits, cgroup_places_here());
    if (spec.require_cgroups && (!cgroup.holds("memory") || !cgroup.holds("pids"))) {
      return Error(
          ErrorCode::environment_unavailable, "limits of memory and processes can't be enforced by control groups here")
          .detail("environmentType", "host");
    }
    InitRun run(cgroup);
    run.confinement = Confinement::not_claimed;
    // Here RLIMIT_NPROC counts whatever else the person runs, too. It is no more than the wall behind the watching,
    // which a fork bomb would outrun, and stands so far behind that the watching gets to see the limit passed. (It does
    // not bind root, who has control groups.)
    const std::uint32_t nproc =
        !cgroup.holds("pids") ? tasks_of_user(::getuid()) + spec.limits.pids + kTasksBehindLimit : 0;
    run.child.argv = init_command(init.string(), spec, {.nproc = nproc});
    run.child.cwd = spec.host_folder.string();
    run.child.env = spec.env;
    run.child.join_cgroups = cgroup.join_descriptors();
    GUARD_TRY_ASSIGN(ExecResult result, run_under_init(spec, run, out, err, cancel));
    add_missing_limits(result);
    return result;
  }
};

}  // namespace

std::unique_ptr<Sandbox> make_host_sandbox() { return std::make_unique<HostSandbox>(); }

}  // namespace guard
