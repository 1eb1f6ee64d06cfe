#include "sessions/trace/workspace_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include "runner/files/folder_names.h"

namespace guard::sessions {
namespace {

constexpr std::size_t kEntriesMax = 200'000;
constexpr int kDepthMax = 64;  // each level holds a descriptor
constexpr std::size_t kPathBytesMax = 4096;
constexpr std::size_t kPathBytesOfAllMax = 64ul << 20;

struct Budget {
  std::size_t entries = kEntriesMax;
  std::size_t path_bytes = kPathBytesOfAllMax;
};

bool look_into(int folder, const std::string& prefix, int depth, Budget& left, WorkspaceFiles& seen) {
  const auto names = sorted_names(folder, "a workspace", left.entries + 1);
  if (!names) {  // closed to us, or gone
    seen.is_whole = false;
    return true;
  }
  if (names->size() > left.entries) return false;
  left.entries -= names->size();
  for (const std::string& name : *names) {
    struct stat found {};
    if (::fstatat(folder, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0) continue;
    if (prefix.size() + name.size() > kPathBytesMax) {
      seen.is_whole = false;
    } else if (S_ISREG(found.st_mode)) {
      if (prefix.size() + name.size() > left.path_bytes) return false;
      left.path_bytes -= prefix.size() + name.size();
      seen.files[prefix + name] = {found.st_ino, found.st_ctim.tv_sec * 1'000'000'000 + found.st_ctim.tv_nsec,
          static_cast<std::uint64_t>(found.st_size)};
    } else if (S_ISDIR(found.st_mode)) {
      UniqueFd below;
      if (depth < kDepthMax)
        below = UniqueFd(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!below) seen.is_whole = false;
      if (below && !look_into(below.get(), prefix + name + "/", depth + 1, left, seen)) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<WorkspaceFiles> workspace_files(int folder) {
  WorkspaceFiles seen;
  Budget left;
  if (!look_into(folder, "", 0, left, seen)) return std::nullopt;
  return seen;
}

UniqueFd open_workspace_file(int folder, const std::string& path) {
  UniqueFd at;
  std::size_t begin = 0;
  for (std::size_t end = 0; (end = path.find('/', begin)) != std::string::npos; begin = end + 1) {
    const std::string part = path.substr(begin, end - begin);
    at = UniqueFd(::openat(at ? at.get() : folder, part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at) return {};
  }
  // A pipe that is opened wakes up whoever waits at its other end: what it is is known first.
  const UniqueFd itself(::openat(at ? at.get() : folder, path.c_str() + begin, O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!itself || ::fstat(itself.get(), &found) != 0 || !S_ISREG(found.st_mode)) return {};
  // Nor does it wait for a program that has taken a lease on the file.
  return UniqueFd(::open(fmt::format("/proc/self/fd/{}", itself.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
}

}  // namespace guard::sessions
