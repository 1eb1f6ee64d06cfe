// task_protocol::TaskOperation::watch, in a process of its own: what changes in a folder is said until it is killed.
#pragma once

#include "init/tasks/file_operations.h"

namespace guard::init {

// `depth`: 1 for the folder's own entries, more for all below. Returns where it can't be watched, and with success when
// the folder itself was removed or moved.
Failure watch_folder(const char* path, const char* depth);

}  // namespace guard::init
