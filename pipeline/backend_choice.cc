#include "pipeline/backend_choice.h"

#include <fmt/format.h>

namespace guard {
namespace {

Error unavailable(Backend wanted, std::string message, std::string hint) {
  return Error(ErrorCode::environment_unavailable, std::move(message))
      .detail("environmentType", std::string(to_string(wanted)))
      .hint(std::move(hint));
}

bool host_is_configured(const Config& config) {
  return config.backend == Backend::host || config.fallback == Backend::host;
}

BackendChoice choice_of(Backend backend, const Config& config, std::string why) {
  BackendChoice choice;
  choice.backend = backend;
  choice.tiers = tiers_of(to_string(backend), config.trust_namespace);
  choice.why = std::move(why);
  if (choice.backend == Backend::namespace_sandbox && config.trust_namespace) {
    choice.relaxations.emplace_back("trust_namespace: the host-only tier is skipped in the embedded sandbox");
  }
  if (choice.backend == Backend::host)
    choice.relaxations.emplace_back("host: the code runs on this machine without isolation");
  if (choice.backend == Backend::docker && config.docker.network != NetworkMode::none) {
    choice.relaxations.push_back(
        fmt::format("docker.network = {}: the code reaches the network", to_string(config.docker.network)));
  }
  return choice;
}

// The program only has to start: it is told to say its version.
constexpr milliseconds kContainerUseProbe{5'000};

Result<BackendChoice> use_host(const Config& config, std::string why) {
  if (!host_is_configured(config)) {
    return unavailable(Backend::host, "running on the host is not allowed by the configuration",
        "leave --backend out, or set fallback = \"host\" in guard.toml if you really mean it");
  }
  return choice_of(Backend::host, config, std::move(why));
}

class Chooser {
 public:
  const Config& config;
  const std::optional<Backend>& forced;
  const std::function<const EngineLocation&()>& engine;
  const std::function<SandboxProbe()>& container_use;

  Result<BackendChoice> choose() const {
    const std::string asked = forced ? "asked for with --backend" : "configured";
    switch (forced.value_or(config.backend)) {
      case Backend::namespace_sandbox:
        return choice_of(Backend::namespace_sandbox, config, "the embedded sandbox was " + asked);
      case Backend::host: return use_host(config, "the host was " + asked);
      case Backend::container_use:
        return use_container_use("container-use was " + asked, forced ? Otherwise::nothing : Otherwise::fallback);
      case Backend::docker: break;
    }
    const EngineLocation& location = engine();
    switch (location.probe.state) {
      case ProbeState::available:
        return choice_of(
            Backend::docker, config, fmt::format("a container engine answers at {}", location.probe.endpoint));
      case ProbeState::unknown:
        return unavailable(Backend::docker,
            fmt::format("the state of the container engine is unknown: {}", location.probe.reason),
            location.probe.remedy);
      case ProbeState::absent: break;
    }
    if (forced)
      return unavailable(Backend::docker, fmt::format("there is no container engine: {}", location.probe.reason),
          location.probe.remedy);
    if (config.fallback == Backend::container_use) {
      GUARD_TRY_ASSIGN(BackendChoice choice,
          use_container_use(
              fmt::format("{}; the fallback is container-use", location.probe.reason), Otherwise::nothing));
      choice.relaxations.emplace_back("fallback: no container engine, so container-use");
      return choice;
    }
    return fall_back(Backend::docker, "container engine", location.probe);
  }

 private:
  enum class Otherwise : std::uint8_t { nothing, fallback };

  // Of what was proved absent; the fallback is not that itself.
  Result<BackendChoice> fall_back(Backend wanted, std::string_view words, const SandboxProbe& absent) const {
    if (config.fallback == Backend::namespace_sandbox) {
      BackendChoice choice = choice_of(
          Backend::namespace_sandbox, config, fmt::format("{}; the fallback is the embedded sandbox", absent.reason));
      choice.relaxations.push_back(fmt::format("fallback: no {}, so the embedded sandbox", words));
      return choice;
    }
    if (config.fallback == Backend::host)
      return use_host(config, fmt::format("{}; the fallback is the host", absent.reason));
    return unavailable(wanted,
        fmt::format("there is no {} ({}) and fallback = \"{}\"", words, absent.reason,
            config.fallback ? to_string(*config.fallback) : "none"),
        absent.remedy);
  }

  Result<BackendChoice> use_container_use(std::string why, Otherwise otherwise) const {
    if (!config.container_use.image.empty()) {
      return unavailable(Backend::container_use, "container_use.image is set, and the cu program takes no image",
          "leave it out, and choose the image in cu's own configuration");
    }
    const SandboxProbe probe = container_use();
    switch (probe.state) {
      case ProbeState::available: break;
      case ProbeState::unknown:
        return unavailable(Backend::container_use,
            fmt::format("the state of container-use is unknown: {}", probe.reason), probe.remedy);
      case ProbeState::absent:
        if (otherwise == Otherwise::fallback) return fall_back(Backend::container_use, "container-use", probe);
        return unavailable(
            Backend::container_use, fmt::format("there is no container-use: {}", probe.reason), probe.remedy);
    }
    BackendChoice choice = choice_of(Backend::container_use, config, std::move(why));
    choice.relaxations.emplace_back(
        "container-use: isolation as the cu program gives it, built per its description and not verified against the "
        "real program; no limit of memory, "
        "processes, network or files is enforced by guard");
    if (!config.container_use.env_id.empty()) {
      choice.relaxations.push_back(fmt::format(
          "container_use.env_id = {}: earlier runs may have changed this environment", config.container_use.env_id));
    }
    return choice;
  }
};

}  // namespace

TierSet tiers_of(std::string_view mode, bool trust_namespace) {
  TierSet tiers;
  tiers.docker = true;
  const auto backend = named<Backend>(mode);
  tiers.host = backend != Backend::docker && !(backend == Backend::namespace_sandbox && trust_namespace);
  return tiers;
}

std::vector<std::string> tier_names(TierSet tiers) {
  std::vector<std::string> names = {"always"};
  if (tiers.docker) names.emplace_back("docker");
  if (tiers.host) names.emplace_back("host");
  return names;
}

Result<BackendChoice> choose_backend(const Config& config, std::optional<Backend> forced,
    const std::function<const EngineLocation&()>& engine, const std::function<SandboxProbe()>& container_use) {
  return Chooser{config, forced, engine, container_use}.choose();
}

Result<ImageInputs> image_inputs(std::filesystem::path project, const Config& config) {
  ImageInputs inputs;
  inputs.project = std::move(project);
  GUARD_TRY_ASSIGN(inputs.bun, find_bun());
  // gVisor's kernel can't execute what nobody may read.
  if (!config.docker.runtime.empty()) inputs.bun_access = ProgramAccess::readable;
  inputs.tools = config.image.tools;
  return inputs;
}

EngineLocation locate_engine(const Config& config, const Environment& environment, const CancelToken& cancel) {
  return locate_engine(
      environment, config.docker.plain_tcp, Deadline::after(milliseconds(config.docker.probe_deadline_ms)), cancel);
}

ContainerUseOptions container_use_options(const Config& config, const Environment& environment) {
  ContainerUseOptions options;
  options.program = config.container_use.program;
  options.environment_id = config.container_use.env_id;
  options.environment = environment;
  return options;
}

SandboxProbe probe_container_use(const Config& config, const Environment& environment) {
  return make_container_use_sandbox(container_use_options(config, environment))
      ->probe(Deadline::after(kContainerUseProbe));
}

Result<void> network_fits(const BackendChoice& choice, const Config& config, bool unprotected_engine) {
  if (choice.backend == Backend::docker && config.docker.network != NetworkMode::none && unprotected_engine) {
    return Error(ErrorCode::config_invalid,
        fmt::format("docker.network is {}, and the engine answers anybody who reaches it over TCP: the code would own "
                    "its machine",
            to_string(config.docker.network)))
        .hint("set docker.network = \"none\", or use the engine's local socket or TLS");
  }
  if (choice.backend != Backend::namespace_sandbox || config.docker.network == NetworkMode::none) return ok();
  return Error(ErrorCode::config_invalid,
      fmt::format("docker.network is {}, but this runs in the embedded sandbox ({}), which has no network to offer",
          to_string(config.docker.network), choice.why))
      .hint("set docker.network = \"none\", or start a container engine");
}

}  // namespace guard
