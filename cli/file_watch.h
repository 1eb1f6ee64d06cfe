// For `guard run --watch`: waits until a file that a run saw is another one. Looks again and again instead of asking
// the kernel for every folder: it works on every file system and needs none of the machine's inotify watches, which the
// sandbox uses.
#pragma once

#include <chrono>
#include <filesystem>
#include <vector>

#include "common/cancel.h"

namespace guard {

// Returns true once one of `files` has been changed since `since`, replaced or removed, or an entry was made or removed
// in a folder that one of them lies in; guard's own temporary entries don't count. False: `cancel` came first.
bool wait_for_change(
    const std::vector<std::filesystem::path>& files, std::filesystem::file_time_type since, const CancelToken& cancel);

}  // namespace guard
