#include "pipeline/backend_choice.h"
#include "pipeline/network.h"

#include <fmt/format.h>

#include <algorithm>

namespace guard {
namespace {

// One program or an empty sandbox has to start.
constexpr milliseconds kProbeLimit{5'000};

Error unavailable(Backend wanted, std::string message, std::string hint) {
  return Error(ErrorCode::environment_unavailable, std::move(message))
      .detail("environmentType", std::string(to_string(wanted)))
      .hint(std::move(hint));
}

std::vector<std::string> relaxations_of(Backend backend, const Config& config) {
  switch (backend) {
    case Backend::namespace_sandbox:
      if (config.trust_namespace) return {"trust_namespace: the host-only tier is skipped in the embedded sandbox"};
      break;
    case Backend::host: return {"host: the code runs on this machine without isolation"};
    case Backend::docker:
      if (is_open(network_of(config))) return {network_relaxation(config)};
      break;
    case Backend::container_use: {
      std::vector<std::string> relaxations = {
          "container-use: isolation as the cu program gives it, built per its description and not verified against the "
          "real program; no limit of memory, processes, network or files is enforced by guard"};
      if (const auto& id = config.container_use.env_id; !id.empty()) {
        relaxations.push_back(
            fmt::format("container_use.env_id = {}: earlier runs may have changed this environment", id));
      }
      return relaxations;
    }
  }
  return {};
}

std::vector<Backend> order_of(const Config& config, std::optional<Backend> forced) {
  std::vector<Backend> order = {forced.value_or(config.backend)};
  if (forced) return order;
  for (const Backend backend : config.fallback) {
    if (std::ranges::find(order, backend) == order.end()) order.push_back(backend);
  }
  return order;
}

// The host is always there. What the embedded sandbox lacks its run says as well, so it is only asked where another one
// could take over.
bool is_asked(Backend backend, bool is_last) {
  return backend != Backend::host && !(backend == Backend::namespace_sandbox && is_last);
}

Result<void> may_be_used(Backend backend, const Config& config) {
  if (backend == Backend::container_use && !config.container_use.image.empty()) {
    return unavailable(backend, "container_use.image is set, and the cu program takes no image",
        "leave it out, and choose the image in cu's own configuration");
  }
  if (backend != Backend::host || config.allows(Backend::host)) return ok();
  return unavailable(backend, "running on the host is not allowed by the configuration",
      "leave --backend out, or set fallback = \"host\" in guard.toml if you really mean it");
}

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

Result<BackendChoice> choose_backend(const Config& config, std::optional<Backend> forced, const BackendProbe& probe) {
  const std::vector<Backend> order = order_of(config, forced);
  std::string reasons;
  std::string replaced;
  SandboxProbe state;
  for (const Backend backend : order) {
    GUARD_TRY(may_be_used(backend, config));
    const std::string_view words = backend_row(backend).words;
    state = {};
    state.state = ProbeState::available;
    if (is_asked(backend, backend == order.back())) state = probe(backend);
    if (state.state == ProbeState::unknown) {
      return unavailable(
          backend, fmt::format("{}the state of {} is unknown: {}", reasons, words, state.reason), state.remedy);
    }
    if (state.state == ProbeState::absent) {
      reasons += fmt::format("{} is not there: {}; ", words, state.reason);
      replaced += fmt::format("{}{}", replaced.empty() ? "" : ", ", words);
      continue;
    }
    BackendChoice choice;
    choice.backend = backend;
    choice.tiers = tiers_of(to_string(backend), config.trust_namespace);
    choice.relaxations = relaxations_of(backend, config);
    if (!replaced.empty()) {
      choice.why = fmt::format("{}the fallback is {}", reasons, words);
      choice.relaxations.push_back(fmt::format("fallback: {} in place of {}", words, replaced));
    } else if (backend == Backend::docker) {
      choice.why = fmt::format("{} answers at {}", words, state.endpoint);
    } else {
      choice.why = fmt::format("{} was {}", words, forced ? "asked for with --backend" : "configured");
    }
    return choice;
  }
  reasons.resize(reasons.size() - std::string_view("; ").size());
  const bool alone = !forced && config.fallback.empty();
  return unavailable(order.back(), std::move(reasons),
      alone ? fmt::format("{}; or let another one take over, as with fallback = \"namespace\"", state.remedy)
            : std::move(state.remedy));
}

Result<void> rolled_out(const Config& config) {
  if (config.rollout.enabled && config.rollout.percent > 0) return ok();
  return Error(ErrorCode::environment_unavailable,
      fmt::format("{}: nothing runs in the sandbox",
          config.rollout.enabled ? "rollout.percent is 0" : "rollout.enabled is false"))
      .detail("environmentType", std::string(to_string(config.backend)))
      .hint("change [rollout] in guard.toml, or name a sandbox with --backend");
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

Limits limits_of(const Config& config) {
  Limits limits;
  limits.memory_bytes = config.limits.memory_bytes;
  limits.cpus = config.limits.cpus;
  limits.pids = static_cast<std::uint32_t>(config.limits.pids);
  limits.tmp_bytes = config.limits.tmp_bytes;
  limits.sandbox_bytes = config.limits.sandbox_bytes;
  limits.sandbox_files = config.limits.sandbox_files;
  limits.output_flood_bytes = config.limits.output_flood_bytes;
  return limits;
}

SandboxOptions sandbox_options(const Config& config, const Environment& environment, docker::Endpoint engine) {
  SandboxOptions options;
  options.docker = {std::move(engine), config.docker.runtime, milliseconds(config.docker.probe_deadline_ms)};
  options.container_use.program = config.container_use.program;
  options.container_use.environment_id = config.container_use.env_id;
  options.container_use.environment = environment;
  return options;
}

SandboxProbe probe_backend(Backend backend, const Config& config, const Environment& environment,
    const std::function<const EngineLocation&()>& engine) {
  if (backend == Backend::docker) return engine().probe;
  return make_sandbox(backend, sandbox_options(config, environment, {}))->probe(Deadline::after(kProbeLimit));
}

Result<void> network_fits(const BackendChoice& choice, const Config& config, bool unprotected_engine) {
  const bool open = is_open(network_of(config));
  const bool listed = network_of(config) == Network::allowlist || !config.network.allow.empty();
  if (open && listed) {
    return Error(ErrorCode::config_invalid,
        fmt::format("docker.network is {}, so the list of network.allow would hold nothing back",
            to_string(config.docker.network)))
        .hint("set docker.network = \"allowlist\", or leave network.allow out");
  }
  if (listed && !backend_row(choice.backend).takes_image) {
    return Error(ErrorCode::config_invalid,
        fmt::format("network.allow lists what the code may reach, and {} can't be held to it",
            backend_row(choice.backend).words))
        .hint("use the docker backend or the embedded sandbox, or leave network.allow out");
  }
  if (choice.backend == Backend::docker && open && unprotected_engine) {
    return Error(ErrorCode::config_invalid,
        fmt::format("docker.network is {}, and the engine answers anybody who reaches it over TCP: the code would own "
                    "its machine",
            to_string(config.docker.network)))
        .hint("set docker.network = \"none\", or use the engine's local socket or TLS");
  }
  if (choice.backend != Backend::namespace_sandbox || !open) return ok();
  return Error(ErrorCode::config_invalid,
      fmt::format("docker.network is {}, but this runs in the embedded sandbox ({}), which has no network to offer",
          to_string(config.docker.network), choice.why))
      .hint("set docker.network = \"none\" and list what it needs in [network] allow, or start a container engine");
}

}  // namespace guard
