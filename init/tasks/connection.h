// A TCP connection to a server inside (task_protocol::TaskOperation::connect), in a process of its own.
#pragma once

#include "init/tasks/file_operations.h"

namespace guard::init {

// Descriptor 0 goes to 127.0.0.1:`port`, what comes from there to descriptor 1; each direction ends by itself. Returns
// once both have. Init hears of a half that the server has closed (kHalfClosed). A reset is a failure, and whoever
// kills this process resets the connection.
Failure run_connection(const char* port);

}  // namespace guard::init
