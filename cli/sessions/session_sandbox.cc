#include "cli/sessions/session_sandbox.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "cli/commands/trusted_inputs.h"
#include "cli/progress.h"
#include "common/text/text.h"
#include "docker/engine_client.h"
#include "pipeline/backend_choice.h"
#include "pipeline/credentials.h"
#include "pipeline/network.h"
#include "runner/image/image.h"
#include "runner/import/image_import.h"
#include "runner/process/run_folder.h"
#include "runner/process/stray_processes.h"
#include "runner/sandbox/docker_sweep.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kStartLimit{60'000};
constexpr milliseconds kRemoveLimit{15'000};

constexpr std::uint64_t kRunBytes = 64ull << 20;

// A sandbox that stays has one processor and a little more of /tmp than a run, unless the configuration says something.
Limits session_limits(const LoadedConfig& loaded) {
  Limits limits = limits_of(loaded.config);
  const auto is_default = [&loaded](std::string_view key) {
    const ConfigEntry* entry = loaded.find(key);
    return entry == nullptr || entry->origin == "default";
  };
  if (is_default("limits.cpus")) limits.cpus = 1;
  if (is_default("limits.tmp_size")) limits.tmp_bytes = 512ull << 20;
  return limits;
}

struct Ground {
  Config config;
  std::shared_ptr<SessionNetworks> networks;
  fs::path project;
  Environment environment;
  std::shared_ptr<Sandbox> sandbox;
  ImagePlan plan;
  UniqueFd held;
  RuntimeImage image;
  Limits limits;
  bool require_cgroups = false;
};

Result<std::unique_ptr<OpenSandbox>> open_one(const Ground& ground, const std::string& id, const fs::path& workspace) {
  GUARD_TRY_ASSIGN(RunFolder folder, RunFolder::create(id));
  GUARD_TRY_ASSIGN(UniqueFd held, hold_image(ground.plan));
  struct stat found {};
  if (::stat(workspace.c_str(), &found) != 0)
    return Error::from_errno(ErrorCode::io_error, fmt::format("the workspace {}", workspace.string()), errno);
  SandboxSpec spec;
  spec.run_id = id;
  spec.working_dir = "/workspace";
  spec.env = {{"PATH", "/usr/local/bin:/usr/bin:/bin"}};
  spec.shared = {{workspace, "/workspace", {found.st_dev, found.st_ino}}};
  spec.image = ground.image;
  spec.limits = ground.limits;
  spec.network = network_of(ground.config);
  if (spec.network == Network::allowlist) {
    // Lives as long as the sandbox: its connections are taken by it.
    const CancelToken never;
    GUARD_TRY_ASSIGN(auto credentials, read_credentials(ground.config, ground.project, ground.environment, never));
    GUARD_TRY_ASSIGN(const auto egress, ground.networks->open(id, std::move(credentials)));
    GUARD_TRY(egress->show_authorities(folder.path(), spec));
    spec.egress = egress->taker();
  }
  spec.scratch = {{"/run", {}, kRunBytes, ground.limits.tmp_files}};
  spec.require_cgroups = ground.require_cgroups;
  spec.timeout = kStartLimit;
  const CancelToken never;
  GUARD_TRY_ASSIGN(auto opened, ground.sandbox->open(spec, never));
  // Its lock shows whoever sweeps that the sandbox has an owner.
  opened->keep(std::make_shared<RunFolder>(std::move(folder)));
  opened->keep(std::make_shared<UniqueFd>(std::move(held)));
  return opened;
}

Result<ImagePlan> plan_for(
    const fs::path& project, const Config& config, const CancelToken& cancel, const ImageProgress& say) {
  if (!config.session.image.empty()) return find_imported(config.session.image, project);
  GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(project, config));
  GUARD_TRY_ASSIGN(ImagePlan plan, plan_image(inputs));
  if (plan.built) return plan;
  GUARD_TRY(build_root_folder(inputs, cancel, say));
  return plan_image(inputs);
}

// HOME stays the workspace: the image has none that can be written to.
std::map<std::string, std::string> variables_of(const ImagePlan& plan) {
  std::map<std::string, std::string> variables;
  for (const std::string& variable : plan.env) {
    const std::size_t equals = variable.find('=');
    if (equals != std::string::npos && equals > 0) variables[variable.substr(0, equals)] = variable.substr(equals + 1);
  }
  variables.erase("HOME");
  return variables;
}

}  // namespace

Result<fs::path> sessions_folder(const Options& options, const CommandContext& context) {
  fs::path root(options.state);
  if (root.empty()) {
    GUARD_TRY_ASSIGN(root, state_root(context.environment));
  }
  std::error_code failure;
  return fs::absolute(root, failure).lexically_normal() / "sessions";
}

Result<SessionSandboxes> session_sandboxes(const Options& options, const LoadedConfig& loaded, CommandContext& context,
    std::shared_ptr<SessionNetworks> networks) {
  const Config& config = loaded.config;
  std::optional<EngineLocation> engine;
  const auto locate = [&]() -> const EngineLocation& {
    if (!engine) engine = locate_engine(config, context.environment, context.cancel);
    return *engine;
  };
  GUARD_TRY_ASSIGN(const BackendChoice choice, choose_backend(config, options.backend, [&](Backend backend) {
    return probe_backend(backend, config, context.environment, locate);
  }));
  const Network network = network_of(config);
  if (is_open(network))
    return Error(ErrorCode::config_invalid, "sessions have no open network, and docker.network asks for one")
        .hint("list what they need in [network] allow, or name another guard.toml with --config");
  GUARD_TRY(network_fits(choice, config));
  const bool docker = choice.backend == Backend::docker;
  const docker::Endpoint endpoint = docker ? locate().engine : docker::Endpoint();

  GUARD_TRY_ASSIGN(const fs::path project, project_folder(options.project));
  GUARD_TRY(check_key_files(config, project));
  Progress progress(context.streams.err, progress_mode(context.streams, options.quiet));
  const ImageProgress say = [&](std::string_view line) { progress.say(line); };
  auto ground = std::make_shared<Ground>();
  ground->config = config;
  ground->networks = std::move(networks);
  ground->project = project;
  ground->environment = context.environment;
  GUARD_TRY_ASSIGN(ground->plan, plan_for(project, config, context.cancel, say));
  GUARD_TRY_ASSIGN(ground->held, hold_image(ground->plan));
  if (docker) {
    GUARD_TRY_ASSIGN(ground->image, load_into_engine(ground->plan, endpoint, context.cancel, say));
  } else {
    GUARD_TRY_ASSIGN(ground->image, runtime_image(ground->plan));
  }
  ground->sandbox = make_sandbox(choice.backend, sandbox_options(config, context.environment, endpoint));
  ground->limits = session_limits(loaded);
  ground->require_cgroups = config.require_cgroups;

  SessionSandboxes sandboxes;
  sandboxes.backend = std::string(backend_row(choice.backend).name);
  sandboxes.env = variables_of(ground->plan);
  if (network == Network::allowlist) sandboxes.env.merge(egress_environment());
  if (network == Network::allowlist && !config.network.credentials.empty())
    sandboxes.env.merge(authorities_environment());
  sandboxes.limits = ground->limits;
  sandboxes.factory = [ground](const std::string& id, const fs::path& workspace) {
    return open_one(*ground, id, workspace);
  };
  sandboxes.remove_leftover = [docker, endpoint](const std::string& id) -> Result<void> {
    if (docker) {
      const CancelToken never;
      GUARD_TRY(docker::EngineClient(endpoint, never)
                    .remove_container(docker_container_name(id), Deadline::after(kRemoveLimit)));
    }
    GUARD_TRY_ASSIGN(const std::string owner, run_owner(id));
    kill_inits_of(owner);
    return remove_leftover_of(id);
  };
  return sandboxes;
}

}  // namespace guard
