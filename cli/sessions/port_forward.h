// A port inside a sandbox, reached from here without a network: each connection to `listener` becomes a task of the
// sandbox (TaskOperation::connect), with two threads of its own, so that one that is slow holds up itself alone.
#pragma once

#include <cstdint>
#include <string>

#include "cli/streams.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

struct PortListener {
  UniqueFd fd;
  std::string place;      // "127.0.0.1:3000", or the path of a socket
  std::string path = {};  // of a socket: whoever closes it removes it
};

// With mode 0600, for this user alone. INPUT_INVALID where something lies there.
Result<PortListener> listen_on_socket(const std::string& path);

// Until cancelled. What failed with a single connection is said on `err`, and that one is reset.
void forward_port(const PortListener& listener, const StartTask& start, std::uint16_t port, OutStream& err,
    const CancelToken& cancel);

}  // namespace guard
