// The regular files of a workspace, seen from outside while hostile programs write to it: reached by descriptors, no
// link is followed, and nothing but a regular file is ever opened.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>

#include "common/unique_fd.h"

namespace guard::sessions {

// Two that are equal hold the same bytes: the kernel sets the time of change, whatever a program does to the others.
struct FileState {
  std::uint64_t inode = 0;
  std::int64_t changed_ns = 0;
  std::uint64_t bytes = 0;
  bool operator==(const FileState&) const = default;
};
struct WorkspaceFiles {
  std::map<std::string, FileState> files;  // by path below the folder
  bool is_whole = true;                    // else some lie too deep, have too long a path, or could not be seen
};

// What can be read of the folder. Nothing: it holds too much to be looked at.
std::optional<WorkspaceFiles> workspace_files(int folder);

// For reading. No descriptor: there is no regular file of this path (any more), or it can't be read.
UniqueFd open_workspace_file(int folder, const std::string& path);

}  // namespace guard::sessions
