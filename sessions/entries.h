// What a sandbox says of files in it (TaskOperation::list and stat). Foreign bytes.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard::sessions {

struct Entry {
  char type = 'o';  // 'f', 'd', 'l', 'o' for all others
  std::uint32_t mode = 0;
  std::uint64_t size = 0;
  std::int64_t changed_ns = 0;  // since 1970
  std::string path;             // below the folder that was asked for; never trusted as a path outside
  std::string link;
};

// PROTOCOL_ERROR for anything but whole records of the form that runner/tasks/task_protocol.h gives.
Result<std::vector<Entry>> parse_entries(std::string_view bytes);

}  // namespace guard::sessions
