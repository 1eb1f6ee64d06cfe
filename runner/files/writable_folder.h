// A folder of a project that a program may write to for real: nothing of it is a copy, and what is written stays.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "common/result.h"

namespace guard {

// Which file or folder it is, whatever lies at its path by now.
struct FileIdentity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

struct WritableFolder {
  std::string path;       // relative to the project, as "out/pages"
  FileIdentity identity;  // of the folder that was looked at
};

// `name` relative to `project`. INPUT_INVALID for the project itself and what lies outside of it, for a link in the
// path, a name that is not UTF-8, and guard's cache. In the path and anywhere in the folder for .git, node_modules and
// .env*, and for private keys and credentials by their names; in the folder also for what leads out of it: sockets,
// pipes, devices, hard links, and programs that run as their owner.
Result<WritableFolder> writable_folder(const std::filesystem::path& project, std::string_view name);

}  // namespace guard
