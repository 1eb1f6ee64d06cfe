#include "docker/engine_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text.h"
#include "docker/json_fields.h"

namespace guard::docker {
namespace {

constexpr std::string_view kUnixScheme = "unix://";
constexpr std::uint64_t kConfigBytesMax = 1 << 20;

std::string value_of(const std::map<std::string, std::string>& environment, const std::string& name) {
  const auto found = environment.find(name);
  return found == environment.end() ? std::string() : found->second;
}

// A file of docker's configuration: its JSON, nothing when there is no such file, or an Error: what it says is then
// unknown.
Result<std::optional<nlohmann::json>> read_configuration(const std::filesystem::path& path) {
  auto text = read_file(path, kConfigBytesMax);
  if (!text && text.error().code() == ErrorCode::file_not_found) return std::optional<nlohmann::json>();
  if (!text) return std::move(text).error();
  auto document = parse_json(*text);
  if (!document.is_object()) {
    return Error(ErrorCode::config_invalid, fmt::format("{} is not a JSON object", path.string()));
  }
  return std::optional(std::move(document));
}

// The endpoint of the current docker context; empty when that is the default one.
Result<std::string> context_endpoint(const std::map<std::string, std::string>& environment) {
  std::filesystem::path folder = value_of(environment, "DOCKER_CONFIG");
  if (folder.empty()) {
    const std::string home = value_of(environment, "HOME");
    if (home.empty()) {
      return Error(ErrorCode::config_invalid, "HOME is not set, so docker's current context cannot be looked up");
    }
    folder = std::filesystem::path(home) / ".docker";
  }
  std::string name = value_of(environment, "DOCKER_CONTEXT");
  if (name.empty()) {
    GUARD_TRY_ASSIGN(const auto config, read_configuration(folder / "config.json"));
    if (!config) return std::string();
    const auto* current = find_field(*config, "currentContext");
    if (current != nullptr && !current->is_string()) {
      return Error(ErrorCode::config_invalid,
                   fmt::format("currentContext in {} is not a string", (folder / "config.json").string()));
    }
    if (current != nullptr) name = current->get<std::string>();
  }
  if (name.empty() || name == "default") return std::string();

  const auto path = folder / "contexts" / "meta" / sha256_hex(name) / "meta.json";
  GUARD_TRY_ASSIGN(const auto meta, read_configuration(path));
  if (!meta) {
    return Error(ErrorCode::config_invalid,
                 fmt::format("docker's current context \"{}\" is not described at {}", printable(name), path.string()));
  }
  const auto* endpoints = find_field(*meta, "Endpoints");
  const auto* endpoint = endpoints == nullptr ? nullptr : find_field(*endpoints, "docker");
  auto host = endpoint == nullptr ? std::nullopt : string_field(*endpoint, "Host");
  if (!host || host->empty()) {
    return Error(ErrorCode::config_invalid, fmt::format("{} names no docker endpoint", path.string()));
  }
  return *std::move(host);
}

// The path of a unix:// endpoint; empty for any other.
std::string socket_of(std::string_view endpoint) {
  if (!endpoint.starts_with(kUnixScheme)) return {};
  const std::string_view path = endpoint.substr(kUnixScheme.size());
  return path.starts_with('/') ? std::string(path) : std::string();
}

void add(EngineCandidates& candidates, std::string socket) {
  for (const std::string& known : candidates.sockets) {
    if (known == socket) return;
  }
  candidates.sockets.push_back(std::move(socket));
}

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

EngineProbe unknown(std::string socket, std::string reason, std::string remedy) {
  return {EngineState::unknown, std::move(socket), std::move(reason), std::move(remedy), std::nullopt};
}

// Why an engine that answers is nevertheless not good enough; empty when it is.
std::string missing_limits(const EngineInfo& info) {
  const std::pair<bool, const char*> needs[] = {{info.memory_limit, "memory"},
                                                {info.swap_limit, "swap"},
                                                {info.pids_limit, "number of processes"},
                                                {info.cpu_limit, "CPU time"},
                                                {info.seccomp, "system calls (seccomp)"}};
  std::vector<std::string> missing;
  for (const auto& [held, name] : needs) {
    if (!held) missing.emplace_back(name);
  }
  return join(missing, ", ");
}

EngineProbe judge(const std::string& socket, EngineInfo info) {
  EngineProbe probe;
  probe.socket = socket;
  const std::string missing = missing_limits(info);
  if (info.os_type != "linux") {
    probe.reason = fmt::format("the container engine at {} runs {} containers, not Linux ones", socket, info.os_type);
    probe.remedy = "switch the engine to Linux containers";
  } else if (!missing.empty()) {
    probe.reason = fmt::format("the container engine at {} cannot limit: {}", socket, missing);
    probe.remedy = info.rootless
                       ? "delegate the cgroup controllers cpu, memory and pids to the user who runs the engine"
                       : "enable the cgroup controllers on the engine's host (swap: boot with swapaccount=1 on "
                         "cgroup v1), or choose `backend = \"namespace\"`";
  } else {
    probe.state = EngineState::available;
    probe.reason = fmt::format("the container engine at {} answered (version {})", socket, info.version);
  }
  probe.info = std::move(info);
  return probe;
}

// Why no decision can be made from `error`, and what to do.
EngineProbe judge(const std::string& socket, const Error& error) {
  const auto status = error.details().find("status");
  if (status != error.details().end()) {
    return unknown(socket, fmt::format("the container engine at {} answered HTTP {}", socket, status->second),
                   "look at the engine's log, then restart it");
  }
  switch (error.code()) {
    case ErrorCode::execution_timeout:
      return unknown(socket, fmt::format("the container engine at {} did not answer in time", socket),
                     "restart the engine, or raise `[docker] probe_deadline_ms` if it is only slow");
    case ErrorCode::cancelled:
      return unknown(socket, "the probe of the container engine was stopped", "start again");
    case ErrorCode::environment_unavailable:
      if (error.sys_errno() == EACCES || error.sys_errno() == EPERM) {
        return unknown(socket, fmt::format("no permission to use the container engine at {}", socket),
                       "add yourself to the socket's group and log in again, or name your own engine with DOCKER_HOST");
      }
      if (error.sys_errno() == ECONNREFUSED) {
        return unknown(socket, fmt::format("{} refuses connections", socket),
                       "start the engine, or remove what names it (DOCKER_HOST, the docker context, a stale socket)");
      }
      break;
    default:
      break;
  }
  return unknown(socket, fmt::format("the container engine at {} could not be understood: {}", socket, error.message()),
                 "check that a Docker engine listens there, then look at its log");
}

bool is_missing(const Error& error) {
  return error.code() == ErrorCode::environment_unavailable &&
         (error.sys_errno() == ENOENT || error.sys_errno() == ENOTDIR);
}

}  // namespace

EngineCandidates engine_candidates(const std::map<std::string, std::string>& environment) {
  EngineCandidates candidates;
  if (const std::string host = value_of(environment, "DOCKER_HOST"); !host.empty()) {
    candidates.explicitly_named = true;
    const std::string socket = socket_of(host);
    if (socket.empty()) {
      candidates.unusable = fmt::format("DOCKER_HOST={} is not a local socket", printable(host));
    } else {
      add(candidates, socket);
    }
    return candidates;
  }

  const auto endpoint = context_endpoint(environment);
  if (!endpoint) {
    candidates.unusable = endpoint.error().message();
    return candidates;
  }
  if (!endpoint->empty()) {
    const std::string socket = socket_of(*endpoint);
    if (socket.empty()) {
      candidates.unusable = fmt::format("docker's current context uses {}, not a local socket", printable(*endpoint));
      return candidates;
    }
    add(candidates, socket);
  }
  add(candidates, candidates.default_socket);
  // Cron and services have no XDG_RUNTIME_DIR, but the engines of the same user run there all the same.
  std::string runtime_folder = value_of(environment, "XDG_RUNTIME_DIR");
  if (runtime_folder.empty()) runtime_folder = fmt::format("/run/user/{}", ::geteuid());
  add(candidates, runtime_folder + "/docker.sock");
  if (const std::string home = value_of(environment, "HOME"); !home.empty()) {
    add(candidates, home + "/.docker/run/docker.sock");  // rootless without a runtime folder, and Docker Desktop
  }
  add(candidates, runtime_folder + "/podman/podman.sock");
  add(candidates, "/run/podman/podman.sock");
  return candidates;
}

EngineProbe probe_engine(const EngineCandidates& candidates, Deadline deadline, const CancelToken& cancel) {
  if (!candidates.unusable.empty()) {
    return unknown("", candidates.unusable,
                   "name a local engine with DOCKER_HOST=unix:///path, or mend docker's configuration");
  }
  if (candidates.sockets.empty()) {
    return unknown("", "no place was named where a container engine could be", "set DOCKER_HOST=unix:///path");
  }
  std::string refused;
  for (const std::string& socket : candidates.sockets) {
    if (cancel.cancelled()) return unknown(socket, "the probe of the container engine was stopped", "start again");
    EngineClient client(socket, cancel);
    auto pinged = client.ping(deadline);
    if (pinged) {
      auto info = client.engine_info(deadline);
      return info ? judge(socket, std::move(*info)) : judge(socket, info.error());
    }
    const Error& error = pinged.error();
    const bool missing = is_missing(error);
    if (missing && candidates.explicitly_named) {
      return unknown(socket, fmt::format("there is no container engine at {}, which was named explicitly", socket),
                     "start the engine, or unset DOCKER_HOST");
    }
    const bool stopped = error.code() == ErrorCode::environment_unavailable && error.sys_errno() == ECONNREFUSED &&
                         socket == candidates.default_socket && !candidates.explicitly_named;
    if (!missing && !stopped) return judge(socket, error);
    if (stopped) refused = socket;
  }
  EngineProbe probe;
  probe.state = EngineState::absent;
  probe.socket = candidates.default_socket;
  probe.reason = refused.empty()
                     ? "no container engine: there is no socket at " + join(candidates.sockets, ", ")
                     : fmt::format("no container engine: {} refuses connections, so nothing runs behind it", refused);
  probe.remedy = "start Docker for the container sandbox, or stay with the configured fallback";
  return probe;
}

}  // namespace guard::docker
