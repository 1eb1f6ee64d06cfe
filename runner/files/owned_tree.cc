#include "runner/files/owned_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <memory>
#include <string_view>

#include "common/text/text.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

constexpr int kDepthMax = 512;

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

Error failed(std::string_view name) {
  return Error::from_errno(ErrorCode::io_error, fmt::format("giving {} to the sandbox's user", printable(name)), errno);
}

Result<void> give_below(UniqueFd folder, dev_t device, uid_t user, int depth) {
  if (depth > kDepthMax) return Error(ErrorCode::io_error, "the folders of a workspace lie too deep in each other");
  const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(folder.get()));
  if (!entries) return failed("a folder");
  const int at = folder.release();
  for (;;) {
    errno = 0;
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr && errno != 0) return failed("a folder");
    if (entry == nullptr) return ok();
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    struct stat found {};
    if (::fstatat(at, entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0) return failed(name);
    if (found.st_dev != device) continue;
    if (S_ISDIR(found.st_mode)) {
      UniqueFd below(::openat(at, entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!below) return failed(name);
      GUARD_TRY(give_below(std::move(below), device, user, depth + 1));
    }
    if (::fchownat(at, entry->d_name, user, user, AT_SYMLINK_NOFOLLOW) != 0) return failed(name);
  }
}

}  // namespace

Result<void> give_tree(const std::filesystem::path& folder, uid_t user) {
  UniqueFd top(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  struct stat found {};
  if (!top || ::fstat(top.get(), &found) != 0) return failed(folder.native());
  if (found.st_uid == user) return ok();
  UniqueFd listed(::openat(top.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!listed) return failed(folder.native());
  GUARD_TRY(give_below(std::move(listed), found.st_dev, user, 0));
  if (::fchown(top.get(), user, user) != 0) return failed(folder.native());
  return ok();
}

}  // namespace guard
