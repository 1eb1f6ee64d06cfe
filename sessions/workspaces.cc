#include "sessions/workspaces.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <memory>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/files/folder_names.h"
#include "runner/process/run_folder.h"
#include "sessions/session_values.h"

namespace guard::sessions {
namespace {

namespace fs = std::filesystem;

Error fault(std::string_view doing, std::string_view name, int number) {
  return Error::from_errno(ErrorCode::io_error, fmt::format("{} {}", doing, printable(name)), number);
}

// rename(2) of a folder writes to its "..", for which it has to be writable to whoever is not root.
Result<void> rename_entry(int from, int to, const std::string& name) {
  const auto rename = [&] { return ::renameat2(from, name.c_str(), to, name.c_str(), RENAME_NOREPLACE) == 0; };
  if (rename()) return ok();
  if (errno != EACCES) return fault("moving", name, errno);
  const UniqueFd entry(::openat(from, name.c_str(), O_PATH | O_NOFOLLOW | O_CLOEXEC));
  struct stat status {};
  if (!entry || ::fstat(entry.get(), &status) != 0) return fault("moving", name, errno);
  const std::string itself = fmt::format("/proc/self/fd/{}", entry.get());
  const mode_t mode = status.st_mode & 07777;
  if (!S_ISDIR(status.st_mode) || ::chmod(itself.c_str(), mode | S_IWUSR) != 0) return fault("moving", name, EACCES);
  const int failed = rename() ? 0 : errno;
  if (::chmod(itself.c_str(), mode) != 0 && failed == 0) return fault("moving", name, errno);
  return failed == 0 ? ok() : Result<void>(fault("moving", name, failed));
}

}  // namespace

Result<Workspaces> Workspaces::open(const fs::path& state, StepWatch watch) {
  fs::path folder = state / "workspaces";
  GUARD_TRY(make_folders(folder, folder_mode()).context("making the folder of workspaces"));
  UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) return fault("opening", folder.native(), errno);
  return Workspaces(std::move(folder), std::move(fd), std::move(watch));
}

// An id is a path here, wherever it came from.
Result<void> Workspaces::begin(std::string_view step, const std::string& id) const {
  if (!is_run_id(id)) return fault(step, id, EINVAL);
  return watch_ ? watch_(step) : ok();
}

// Whatever mode a program inside has given to the folder, which is ours.
Result<UniqueFd> Workspaces::open_one(const std::string& id) const {
  const UniqueFd itself(::openat(fd_.get(), id.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!itself && errno != ENOENT) return fault("opening the workspace", id, errno);
  if (!itself) return UniqueFd();
  struct stat found {};
  if (::fstat(itself.get(), &found) == 0 && (found.st_mode & 0700) != 0700)
    ::chmod(fmt::format("/proc/self/fd/{}", itself.get()).c_str(), 0700);
  UniqueFd one(::openat(fd_.get(), id.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!one && errno != ENOENT) return fault("opening the workspace", id, errno);
  return one;
}

Result<void> Workspaces::make(const std::string& id) {
  GUARD_TRY(begin("making the workspace", id));
  if (::mkdirat(fd_.get(), id.c_str(), 0700) != 0) return fault("making the workspace", id, errno);
  return ok();
}

Result<bool> Workspaces::is_empty(const std::string& id) const {
  GUARD_TRY_ASSIGN(const UniqueFd one, open_one(id));
  if (!one) return fault("opening the workspace", id, ENOENT);
  GUARD_TRY_ASSIGN(const auto names, sorted_names(one.get(), "a workspace", 1));
  return names.empty();
}

Result<void> Workspaces::move(const std::string& from, const std::string& to) {
  GUARD_TRY(begin("moving the workspace", from));
  if (!is_run_id(to) || from == to) return fault("moving the workspace", to, EINVAL);
  GUARD_TRY_ASSIGN(const UniqueFd source, open_one(from));
  if (!source) return ok();  // all of it has moved
  // Missing where a claim was written whose answer got lost: its sandbox was given up then, with this folder.
  if (::mkdirat(fd_.get(), to.c_str(), 0700) != 0 && errno != EEXIST) return fault("making the workspace", to, errno);
  GUARD_TRY_ASSIGN(const UniqueFd target, open_one(to));
  if (!target) return fault("opening the workspace", to, ENOENT);
  GUARD_TRY_ASSIGN(const auto names, sorted_names(source.get(), "a workspace"));
  for (const std::string& name : names) {
    GUARD_TRY(begin("moving an entry of the workspace", from));
    GUARD_TRY(rename_entry(source.get(), target.get(), name));
  }
  // The ledger must not say that it was done before the disk does.
  if (::fsync(target.get()) != 0 || ::fsync(source.get()) != 0) return fault("moving the workspace", from, errno);
  GUARD_TRY(begin("removing the moved workspace", from));
  if (::unlinkat(fd_.get(), from.c_str(), AT_REMOVEDIR) != 0) return fault("removing the workspace", from, errno);
  return ok();
}

Result<void> Workspaces::remove(const std::string& id) {
  GUARD_TRY(begin("removing the workspace", id));
  static_cast<void>(open_one(id));  // it may be closed to us; what is no folder is removed all the same
  return remove_tree(path(id));
}

Result<std::vector<std::string>> Workspaces::list() const { return sorted_names(fd_.get(), "the workspaces"); }

}  // namespace guard::sessions
