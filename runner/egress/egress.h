// What a sandbox's spec and its programs know of connections to the outside (runner/egress/egress_protocol.h).
#pragma once

#include <functional>
#include <map>
#include <string>

#include "common/unique_fd.h"

namespace guard {

// Gets a connected stream socket (AF_UNIX) on which the program speaks; closing it is the end of the connection. None:
// a connection was refused, because this process has no descriptors for more. Called from a thread of the sandbox's;
// must not wait.
using TakeConnection = std::function<void(UniqueFd connection)>;

// The variables by which clients find the proxy: bun, node, curl, git, pip and npm among them.
std::map<std::string, std::string> egress_environment();

}  // namespace guard
