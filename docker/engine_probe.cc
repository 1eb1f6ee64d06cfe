#include "docker/engine_probe.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <string_view>
#include <utility>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "docker/json_fields.h"

namespace guard::docker {
namespace {

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
  auto document = parse_answer(*text);
  if (!document.is_object()) {
    return Error(ErrorCode::config_invalid, fmt::format("{} is not a JSON object", path.string()));
  }
  return std::optional(std::move(document));
}

Result<std::filesystem::path> docker_configuration(const std::map<std::string, std::string>& environment) {
  const std::filesystem::path folder = value_of(environment, "DOCKER_CONFIG");
  if (!folder.empty()) return folder;
  const std::string home = value_of(environment, "HOME");
  if (!home.empty()) return std::filesystem::path(home) / ".docker";
  return Error(ErrorCode::config_invalid, "HOME is not set, so docker's configuration cannot be looked up");
}

// Our certificate and its key belong together; that an engine wants one shows when it is asked.
Result<TlsFiles> tls_files_in(const std::filesystem::path& folder) {
  TlsFiles files;
  files.authority = (folder / "ca.pem").string();
  std::error_code failure;
  const bool has_certificate = std::filesystem::exists(folder / "cert.pem", failure);
  const bool has_key = std::filesystem::exists(folder / "key.pem", failure);
  if (has_certificate != has_key) {
    return Error(ErrorCode::config_invalid,
        fmt::format("{} holds {}.pem but no {}.pem", printable(folder.native()), has_key ? "key" : "cert",
            has_key ? "cert" : "key"));
  }
  if (has_certificate) {
    files.certificate = (folder / "cert.pem").string();
    files.key = (folder / "key.pem").string();
  }
  return files;
}

Result<std::optional<TlsFiles>> tls_of_environment(const std::map<std::string, std::string>& environment) {
  std::filesystem::path folder = value_of(environment, "DOCKER_CERT_PATH");
  if (folder.empty() && value_of(environment, "DOCKER_TLS_VERIFY").empty() &&
      value_of(environment, "DOCKER_TLS").empty()) {
    return std::optional<TlsFiles>();
  }
  if (folder.empty()) {
    GUARD_TRY_ASSIGN(folder, docker_configuration(environment));
  }
  GUARD_TRY_ASSIGN(TlsFiles files, tls_files_in(folder));
  return std::optional(std::move(files));
}

// Of the current docker context; empty when that is the default one.
Result<Endpoint> context_endpoint(const std::map<std::string, std::string>& environment) {
  GUARD_TRY_ASSIGN(const std::filesystem::path folder, docker_configuration(environment));
  std::string name = value_of(environment, "DOCKER_CONTEXT");
  if (name.empty()) {
    GUARD_TRY_ASSIGN(const auto config, read_configuration(folder / "config.json"));
    if (!config) return Endpoint();
    const auto* current = find_field(*config, "currentContext");
    if (current != nullptr && !current->is_string()) {
      return Error(ErrorCode::config_invalid,
          fmt::format("currentContext in {} is not a string", (folder / "config.json").string()));
    }
    if (current != nullptr) name = current->get<std::string>();
  }
  if (name.empty() || name == "default") return Endpoint();

  const auto path = folder / "contexts" / "meta" / sha256_hex(name) / "meta.json";
  GUARD_TRY_ASSIGN(const auto meta, read_configuration(path));
  if (!meta) {
    return Error(ErrorCode::config_invalid,
        fmt::format("docker's current context \"{}\" is not described at {}", printable(name), path.string()));
  }
  const auto* endpoints = find_field(*meta, "Endpoints");
  const auto* endpoint = endpoints == nullptr ? nullptr : find_field(*endpoints, "docker");
  const auto host = endpoint == nullptr ? std::nullopt : string_field(*endpoint, "Host");
  if (!host || host->empty()) {
    return Error(ErrorCode::config_invalid, fmt::format("{} names no docker endpoint", path.string()));
  }
  if (bool_field(*endpoint, "SkipTLSVerify").value_or(false)) {
    return Error(ErrorCode::config_invalid,
        fmt::format("{} does not want the engine's certificate to be verified", path.string()));
  }
  const auto tls_folder = folder / "contexts" / "tls" / sha256_hex(name) / "docker";
  std::error_code failure;
  const auto kind = std::filesystem::status(tls_folder, failure).type();
  if (kind == std::filesystem::file_type::none) {
    return Error::from_errno(ErrorCode::config_invalid, tls_folder.string(), failure.value());
  }
  std::optional<TlsFiles> tls;
  if (kind != std::filesystem::file_type::not_found) {
    GUARD_TRY_ASSIGN(tls, tls_files_in(tls_folder));
  }
  return parse_endpoint(*host, tls);
}

void add(EngineCandidates& candidates, Endpoint endpoint) {
  for (const Endpoint& known : candidates.endpoints) {
    if (known == endpoint) return;
  }
  candidates.endpoints.push_back(std::move(endpoint));
}

// Why the endpoint that somebody named must not be used as it is; empty when it may be.
std::string danger_of(const Endpoint& endpoint, PlainTcp plain_tcp) {
  if (endpoint.tls || endpoint.is_loopback() || plain_tcp == PlainTcp::anywhere) return {};
  return fmt::format("{} is TCP without TLS: anybody on the way to the engine could forge a verdict", endpoint.url());
}
constexpr std::string_view kPlainRemedy =
    "use TLS (DOCKER_TLS_VERIFY=1, and ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH), or set docker.plain_tcp = "
    "true where "
    "nobody else can be on the way";
constexpr std::string_view kNamingRemedy =
    "name the engine with DOCKER_HOST=unix:///path or tcp://host:port, or fix docker's configuration";

std::string join(const std::vector<std::string>& words, std::string_view separator) {
  return fmt::format("{}", fmt::join(words, separator));
}

EngineProbe unknown(Endpoint endpoint, std::string reason, std::string remedy) {
  return {EngineState::unknown, std::move(endpoint), std::move(reason), std::move(remedy), std::nullopt};
}

// Why an engine that answers is nevertheless not good enough; empty when it is.
std::string missing_limits(const EngineInfo& info) {
  const std::pair<bool, const char*> needs[] = {{info.memory_limit, "memory"}, {info.swap_limit, "swap"},
      {info.pids_limit, "number of processes"}, {info.cpu_limit, "CPU time"}, {info.seccomp, "system calls (seccomp)"}};
  std::vector<std::string> missing;
  for (const auto& [held, name] : needs) {
    if (!held) missing.emplace_back(name);
  }
  return join(missing, ", ");
}

EngineProbe judge(const Endpoint& endpoint, EngineInfo info) {
  EngineProbe probe;
  probe.endpoint = endpoint;
  const std::string where = endpoint.name();
  const std::string missing = missing_limits(info);
  if (info.os_type != "linux") {
    probe.reason = fmt::format("the container engine at {} runs {} containers, not Linux ones", where, info.os_type);
    probe.remedy = "switch the engine to Linux containers";
  } else if (info.podman && endpoint.is_remote()) {
    // It reads the profile from a file of its own machine, and we have none to put there.
    probe.reason = fmt::format(
        "the container engine at {} is podman, which takes no profile of system calls from elsewhere", where);
    probe.remedy = "use podman through its local socket, or docker";
  } else if (!missing.empty()) {
    probe.reason = fmt::format("the container engine at {} cannot limit: {}", where, missing);
    probe.remedy = info.rootless
        ? "delegate the cgroup controllers cpu, memory and pids to the user who runs the engine"
        : "enable the cgroup controllers on the engine's host (swap: boot with swapaccount=1 on "
          "cgroup v1), or choose `backend = \"namespace\"`";
  } else {
    probe.state = EngineState::available;
    probe.reason = fmt::format("the container engine at {} answered (version {})", where, info.version);
  }
  probe.info = std::move(info);
  return probe;
}

// Why no decision can be made from `error`, and what to do.
EngineProbe judge(const Endpoint& endpoint, const Error& error) {
  const std::string where = endpoint.name();
  const auto status = error.details().find("status");
  if (status != error.details().end()) {
    return unknown(endpoint, fmt::format("the container engine at {} answered HTTP {}", where, status->second),
        "look at the engine's log, then restart it");
  }
  if (error.ran_out()) {
    return unknown(endpoint, fmt::format("the container engine at {} cannot be asked: {}", where, error.message()),
        std::string(error.hint()));
  }
  if (error.details().contains("tls")) {
    return unknown(endpoint, error.message(),
        "see that ca.pem, cert.pem and key.pem in DOCKER_CERT_PATH (or the docker context) are those of "
        "this engine, in force, and "
        "that its certificate names this host");
  }
  switch (error.code()) {
    case ErrorCode::execution_timeout:
      return unknown(endpoint, fmt::format("the container engine at {} did not answer in time", where),
          "restart the engine, or raise `[docker] probe_deadline_ms` if it is only slow");
    case ErrorCode::cancelled: return unknown(endpoint, "the probe of the container engine was stopped", "start again");
    case ErrorCode::environment_unavailable:
      if (error.sys_errno() == EACCES || error.sys_errno() == EPERM) {
        return unknown(endpoint, fmt::format("no permission to use the container engine at {}", where),
            "add yourself to the socket's group and log in again, or name your own engine with DOCKER_HOST");
      }
      if (error.sys_errno() == ECONNREFUSED) {
        return unknown(endpoint, fmt::format("{} refuses connections", where),
            "start the engine, or remove what names it (DOCKER_HOST, the docker context, a stale socket)");
      }
      if (endpoint.is_remote()) {
        return unknown(endpoint,
            fmt::format("the container engine at {} cannot be reached: {}", where, error.message()),
            "check host, port and network, or name another engine with DOCKER_HOST");
      }
      break;
    default: break;
  }
  const bool plain = endpoint.is_remote() && !endpoint.tls;
  return unknown(endpoint,
      fmt::format("the container engine at {} could not be understood: {}", where, error.message()),
      plain ? "check that a Docker engine listens there; if it wants TLS, set DOCKER_TLS_VERIFY=1 and DOCKER_CERT_PATH"
            : "check that a Docker engine listens there, then look at its log");
}

bool is_missing(const Error& error) {
  return error.code() == ErrorCode::environment_unavailable &&
      (error.sys_errno() == ENOENT || error.sys_errno() == ENOTDIR);
}

}  // namespace

EngineCandidates engine_candidates(const std::map<std::string, std::string>& environment, PlainTcp plain_tcp) {
  EngineCandidates candidates;
  const auto give_up = [&candidates](std::string why, std::string_view remedy) {
    candidates.unusable = std::move(why);
    candidates.remedy = remedy;
    return candidates;
  };
  if (const std::string host = value_of(environment, "DOCKER_HOST"); !host.empty()) {
    candidates.explicitly_named = true;
    const auto tls = tls_of_environment(environment);
    if (!tls) return give_up(tls.error().message(), kNamingRemedy);
    const auto endpoint = parse_endpoint(host, *tls);
    if (!endpoint) return give_up(fmt::format("DOCKER_HOST: {}", endpoint.error().message()), kNamingRemedy);
    if (auto danger = danger_of(*endpoint, plain_tcp); !danger.empty()) return give_up(std::move(danger), kPlainRemedy);
    add(candidates, *endpoint);
    return candidates;
  }

  const auto endpoint = context_endpoint(environment);
  if (!endpoint) return give_up(fmt::format("docker's current context: {}", endpoint.error().message()), kNamingRemedy);
  if (!endpoint->empty()) {
    if (auto danger = danger_of(*endpoint, plain_tcp); !danger.empty()) return give_up(std::move(danger), kPlainRemedy);
    add(candidates, *endpoint);
    // Whoever has chosen an engine elsewhere does not mean the one here, even when that other one is switched off.
    if (endpoint->is_remote()) {
      candidates.explicitly_named = true;
      return candidates;
    }
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
  if (!candidates.unusable.empty()) return unknown({}, candidates.unusable, candidates.remedy);
  if (candidates.endpoints.empty()) {
    return unknown({}, "no place was named where a container engine could be", "set DOCKER_HOST=unix:///path");
  }
  std::string refused;
  for (const Endpoint& endpoint : candidates.endpoints) {
    if (cancel.cancelled()) return unknown(endpoint, "the probe of the container engine was stopped", "start again");
    EngineClient client(endpoint, cancel);
    auto pinged = client.ping(deadline);
    if (pinged) {
      auto info = client.engine_info(deadline);
      return info ? judge(endpoint, std::move(*info)) : judge(endpoint, info.error());
    }
    const Error& error = pinged.error();
    const bool missing = !endpoint.is_remote() && is_missing(error);
    if (missing && candidates.explicitly_named) {
      return unknown(endpoint,
          fmt::format("there is no container engine at {}, which was named explicitly", endpoint.name()),
          "start the engine, or unset DOCKER_HOST");
    }
    const bool stopped = error.code() == ErrorCode::environment_unavailable && error.sys_errno() == ECONNREFUSED &&
        endpoint == Endpoint(candidates.default_socket) && !candidates.explicitly_named;
    if (!missing && !stopped) return judge(endpoint, error);
    if (stopped) refused = endpoint.name();
  }
  std::vector<std::string> places;
  for (const Endpoint& endpoint : candidates.endpoints) places.push_back(endpoint.name());
  EngineProbe probe;
  probe.state = EngineState::absent;
  probe.endpoint = candidates.default_socket;
  probe.reason = refused.empty()
      ? "no container engine: no socket of one is there"
      : fmt::format("no container engine: {} refuses connections, so nothing runs behind it", refused);
  probe.remedy = fmt::format("start a container engine (Docker or podman); looked for: {}", join(places, ", "));
  return probe;
}

}  // namespace guard::docker
