// Is there a container engine? Available, absent (proved), or unknown; decided from errno, HTTP status
// and typed fields only.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/time.h"
#include "docker/engine_client.h"

namespace guard::docker {

enum class EngineState { available, absent, unknown };

struct EngineProbe {
  EngineState state = EngineState::unknown;
  Endpoint endpoint;  // the one that decided; the default one when no engine is there
  std::string reason;
  std::string remedy;
  std::optional<EngineInfo> info;  // also when a limit is missing, for `guard doctor`
};

// Whoever is on the way of plain TCP can forge what the engine says, and with it a verdict.
enum class PlainTcp { loopback_only, anywhere };

// Where the engine may be, in order: DOCKER_HOST alone when set (unix:// and tcp://; anything else is unknown, not
// absent), else the current docker context, /var/run/docker.sock, rootless Docker's and podman's sockets. `environment`
// is the caller's, handed in so that tests need not change ours. Reads docker's configuration, connects to nothing.
//
// TLS is spoken where DOCKER_TLS_VERIFY, DOCKER_TLS or DOCKER_CERT_PATH is set, with ca.pem, cert.pem and key.pem of
// DOCKER_CERT_PATH or docker's configuration; for a context where it has such files of its own. It is always verified.
struct EngineCandidates {
  std::vector<Endpoint> endpoints;
  std::string unusable;  // non-empty: why no decision is possible (DOCKER_HOST=ssh://..., an unreadable context file)
  std::string remedy;    // for `unusable`
  bool explicitly_named = false;  // DOCKER_HOST or --engine: refusal and absence are then unknown
  // The one place where a refused connection proves that no engine runs: the socket outlives a stopped daemon there.
  std::string default_socket = "/var/run/docker.sock";
};
EngineCandidates engine_candidates(
    const std::map<std::string, std::string>& environment, PlainTcp plain_tcp = PlainTcp::loopback_only);

// Asks one after the other; the first that is more than "not there" decides, so guard never settles for another engine
// than the one the person uses. No side effects.
EngineProbe probe_engine(const EngineCandidates& candidates, Deadline deadline, const CancelToken& cancel);

}  // namespace guard::docker
