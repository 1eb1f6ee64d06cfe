#include "pipeline/backend_choice.h"

#include <fmt/format.h>

namespace guard {
namespace {

Error unavailable(std::string_view environment_type, std::string message, std::string hint) {
  return Error(ErrorCode::environment_unavailable, std::move(message))
      .detail("environmentType", std::string(environment_type))
      .hint(std::move(hint));
}

bool host_is_configured(const Config& config) {
  return config.backend == BackendName::host || config.fallback == FallbackName::host;
}

BackendChoice choice_of(std::string name, const Config& config, std::string why) {
  BackendChoice choice;
  choice.backend = name;
  choice.mode = std::move(name);
  choice.tiers = tiers_of(choice.mode, config.trust_namespace);
  choice.why = std::move(why);
  if (choice.backend == "namespace" && config.trust_namespace) {
    choice.widenings.emplace_back("trust_namespace: the host-only tier is skipped in the embedded sandbox");
  }
  if (choice.backend == "host") choice.widenings.emplace_back("host: the code runs on this machine without isolation");
  if (choice.backend == "docker" && config.docker.network != NetworkMode::none) {
    choice.widenings.push_back(fmt::format("docker.network = {}: the code reaches the network", to_string(config.docker.network)));
  }
  return choice;
}

Result<BackendChoice> use_host(const Config& config, std::string why) {
  if (!host_is_configured(config)) {
    return unavailable("host", "running on the host is not allowed by the configuration",
                       "leave --backend out, or set fallback = \"host\" in guard.toml if you really mean it");
  }
  return choice_of("host", config, std::move(why));
}

}  // namespace

TierSet tiers_of(std::string_view mode, bool trust_namespace) {
  TierSet tiers;
  tiers.docker = true;
  tiers.host = !(mode == "docker" || (mode == "namespace" && trust_namespace));
  return tiers;
}

std::vector<std::string> tier_names(TierSet tiers) {
  std::vector<std::string> names = {"always"};
  if (tiers.docker) names.emplace_back("docker");
  if (tiers.host) names.emplace_back("host");
  return names;
}

Result<BackendChoice> choose_backend(const Config& config, std::optional<BackendName> forced,
                                     const std::function<const EngineLocation&()>& engine) {
  const BackendName wanted = forced.value_or(config.backend);
  const std::string asked = forced ? "asked for with --backend" : "configured";
  if (wanted == BackendName::namespace_sandbox) return choice_of("namespace", config, "the embedded sandbox was " + asked);
  if (wanted == BackendName::host) return use_host(config, "the host was " + asked);

  const EngineLocation& location = engine();
  switch (location.probe.state) {
    case ProbeState::available:
      return choice_of("docker", config, fmt::format("a container engine answers at {}", location.probe.endpoint));
    case ProbeState::unknown:
      return unavailable("docker", fmt::format("the state of the container engine is unknown: {}", location.probe.reason), location.probe.remedy);
    case ProbeState::absent: break;
  }
  if (forced) return unavailable("docker", fmt::format("there is no container engine: {}", location.probe.reason), location.probe.remedy);
  switch (config.fallback) {
    case FallbackName::namespace_sandbox: {
      BackendChoice choice = choice_of("namespace", config, fmt::format("{}; the fallback is the embedded sandbox", location.probe.reason));
      choice.widenings.emplace_back("fallback: no container engine, so the embedded sandbox");
      return choice;
    }
    case FallbackName::host: return use_host(config, fmt::format("{}; the fallback is the host", location.probe.reason));
    case FallbackName::none: break;
  }
  return unavailable("docker", fmt::format("there is no container engine ({}) and fallback = \"none\"", location.probe.reason), location.probe.remedy);
}

Result<void> network_fits(const BackendChoice& choice, const Config& config) {
  if (choice.backend != "namespace" || config.docker.network == NetworkMode::none) return ok();
  return Error(ErrorCode::config_invalid,
               fmt::format("docker.network is {}, but this runs in the embedded sandbox ({}), which has no network to offer",
                           to_string(config.docker.network), choice.why))
      .hint("set docker.network = \"none\", or start a container engine");
}

}  // namespace guard
