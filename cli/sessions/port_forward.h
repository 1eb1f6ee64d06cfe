// A port inside a sandbox, reached from here without a network: each connection to `listener` becomes a task of the
// sandbox (TaskOperation::connect), with two threads of its own, so that one that is slow holds up itself alone.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "cli/streams.h"
#include "common/cancel.h"
#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {

struct PortListener {
  UniqueFd fd;
  std::string place;                // "127.0.0.1:3000", or the path of a socket
  std::shared_ptr<void> file = {};  // of a socket: removed with this, if it is still that one
};

// With mode 0600, for this user alone. INPUT_INVALID where something lies there; nothing of that is removed.
Result<PortListener> listen_on_socket(const std::string& path);

// Until cancelled. A connection that fails, or is cut off inside, is reset, as far as a socket can be (one of --unix
// only ends); so is the one inside where the client resets. What failed is said on `err`.
void forward_port(const PortListener& listener, const StartTask& start, std::uint16_t port, OutStream& err,
    const CancelToken& cancel);

}  // namespace guard
