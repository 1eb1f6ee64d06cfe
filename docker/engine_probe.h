// Is there a container engine? SPEC section 1: available, absent (proved), or unknown; decided from errno, HTTP status
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
  std::string socket;  // the one that decided; the default one when no engine is there
  std::string reason;
  std::string remedy;
  std::optional<EngineInfo> info;  // also when a limit is missing, for `guard doctor`
};

// Where the engine may be, in order: DOCKER_HOST alone when set (unix:// only; anything else is unknown, not absent),
// else the current docker context, /var/run/docker.sock, rootless Docker's and podman's sockets. `environment` is the
// caller's, handed in so that tests need not change ours. Reads docker's configuration, connects to nothing.
struct EngineCandidates {
  std::vector<std::string> sockets;
  std::string unusable;  // non-empty: why no decision is possible (DOCKER_HOST=tcp://..., an unreadable context file)
  bool explicitly_named = false;  // DOCKER_HOST or --engine: refusal and absence are then unknown
  // The one place where a refused connection proves that no engine runs: the socket outlives a stopped daemon there.
  std::string default_socket = "/var/run/docker.sock";
};
EngineCandidates engine_candidates(const std::map<std::string, std::string>& environment);

// Asks one after the other; the first that is more than "not there" decides, so guard never settles for another engine
// than the one the person uses. No side effects.
EngineProbe probe_engine(const EngineCandidates& candidates, Deadline deadline, const CancelToken& cancel);

}  // namespace guard::docker
