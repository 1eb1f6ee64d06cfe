#include "pipeline/run/write_back.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <set>

#include "common/file_io.h"
#include "common/own_entry.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr int kFolderFlags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
constexpr mode_t kFileMode = 0644;
constexpr mode_t kFolderMode = 0755;

Error failed(std::string_view what, std::string_view path, int number) {
  return Error::from_errno(ErrorCode::io_error, fmt::format("cannot {} {}", what, printable(path)), number);
}

std::string_view folder_of(std::string_view path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : path.substr(0, slash);
}

std::string name_of(std::string_view path) { return std::string(path.substr(path.rfind('/') + 1)); }

// One call of TargetFolder::write(). Removes whatever it made unless it came to its end.
class Writing {
 public:
  Writing(int root, const std::vector<CollectedFile>& files) : root_(root), files_(files) {}

  Result<std::vector<bool>> run() {
    auto done = steps();
    if (done) return std::move(written_);
    if (auto undone = undo(); !undone) return std::move(done).context(undone.error().message()).error();
    return std::move(done).error();
  }

 private:
  // A file that was linked to its name; undo() removes that name only while it still stands for this file.
  struct Placed {
    std::string path;
    dev_t device;
    ino_t inode;
  };

  Result<void> steps() {
    GUARD_TRY_ASSIGN(OwnEntry made, make_own_folder(root_));
    private_name_ = made.name;
    made_folders_.push_back(private_name_);
    private_ = std::move(made.fd);
    for (std::size_t i = 0; i < files_.size(); ++i) GUARD_TRY(write_private(i));
    for (std::size_t i = 0; i < files_.size(); ++i) GUARD_TRY(place(i));
    for (const auto& folder : touched_) GUARD_TRY(sync_folder(folder));
    return remove_private();
  }

  Result<void> write_private(std::size_t index) {
    const std::string& path = files_[index].path;
    const UniqueFd file(::openat(private_.get(), std::to_string(index).c_str(),
        O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, kFileMode));
    if (!file) return failed("create", path, errno);
    ++private_files_;
    GUARD_TRY(write_all(file.get(), files_[index].bytes).context(fmt::format("writing {}", printable(path))));
    if (::fsync(file.get()) != 0) return failed("write", path, errno);
    return ok();
  }

  Result<void> place(std::size_t index) {
    const std::string& path = files_[index].path;
    const std::string source = std::to_string(index);
    GUARD_TRY_ASSIGN(const UniqueFd folder, open_folder(folder_of(path), Missing::is_made));
    struct stat status {};
    if (::fstatat(private_.get(), source.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
      return failed("write", path, errno);
    // rename(2) would replace what has come there since.
    const bool linked = ::linkat(private_.get(), source.c_str(), folder.get(), name_of(path).c_str(), 0) == 0;
    if (!linked && errno != EEXIST) return failed("create", path, errno);
    written_.push_back(linked);
    if (!linked) return ok();
    placed_.push_back({path, status.st_dev, status.st_ino});
    touched_.emplace(folder_of(path));
    return ok();
  }

  enum class Missing : std::uint8_t { is_an_error, is_made };

  // Reaches `path` from the root, one name at a time.
  Result<UniqueFd> open_folder(std::string_view path, Missing missing = Missing::is_an_error) {
    UniqueFd folder(::openat(root_, ".", kFolderFlags));
    if (!folder) return failed("open", "the folder", errno);
    for (std::size_t begin = 0; begin < path.size();) {
      const std::size_t end = std::min(path.find('/', begin), path.size());
      const std::string name(path.substr(begin, end - begin));
      const std::string_view so_far = path.substr(0, end);
      if (missing == Missing::is_made && ::mkdirat(folder.get(), name.c_str(), kFolderMode) == 0) {
        made_folders_.emplace_back(so_far);
        touched_.emplace(folder_of(so_far));
      } else if (missing == Missing::is_made && errno != EEXIST) {
        return failed("create folder", so_far, errno);
      }
      UniqueFd next(::openat(folder.get(), name.c_str(), kFolderFlags));
      if (!next) return failed("open folder", so_far, errno);
      folder = std::move(next);
      begin = end + 1;
    }
    return folder;
  }

  Result<void> sync_folder(const std::string& path) {
    GUARD_TRY_ASSIGN(const UniqueFd folder, open_folder(path));
    if (::fsync(folder.get()) != 0) return failed("write", path, errno);
    return ok();
  }

  Result<void> remove_private() {
    int failure = 0;
    for (std::size_t i = 0; i < private_files_; ++i) {
      if (::unlinkat(private_.get(), std::to_string(i).c_str(), 0) != 0 && errno != ENOENT) failure = errno;
    }
    if (failure == 0 && ::unlinkat(root_, private_name_.c_str(), AT_REMOVEDIR) != 0) failure = errno;
    if (failure != 0) return failed("remove", private_name_, failure);
    made_folders_.erase(std::remove(made_folders_.begin(), made_folders_.end(), private_name_), made_folders_.end());
    return ok();
  }

  Result<void> undo() {
    Result<void> undone = ok();
    for (const Placed& placed : placed_) {
      if (auto removed = remove_placed(placed); !removed) undone = std::move(removed);
    }
    for (std::size_t i = 0; i < private_files_; ++i) (void)::unlinkat(private_.get(), std::to_string(i).c_str(), 0);
    // Innermost first. One that others have put something into stays.
    for (auto path = made_folders_.rbegin(); path != made_folders_.rend(); ++path) {
      auto parent = open_folder(folder_of(*path));
      if (!parent) {
        undone = std::move(parent).error();
      } else if (::unlinkat(parent->get(), name_of(*path).c_str(), AT_REMOVEDIR) != 0 && errno != ENOTEMPTY &&
          errno != EEXIST) {
        undone = failed("remove folder", *path, errno);
      }
    }
    return undone;
  }

  Result<void> remove_placed(const Placed& placed) {
    GUARD_TRY_ASSIGN(const UniqueFd folder, open_folder(folder_of(placed.path)));
    const std::string name = name_of(placed.path);
    struct stat status {};
    if (::fstatat(folder.get(), name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0 || status.st_dev != placed.device ||
        status.st_ino != placed.inode) {
      return ok();  // somebody else's by now
    }
    if (::unlinkat(folder.get(), name.c_str(), 0) != 0) return failed("remove", placed.path, errno);
    return ok();
  }

  int root_;
  const std::vector<CollectedFile>& files_;
  std::string private_name_;
  UniqueFd private_;
  std::size_t private_files_ = 0;
  std::vector<bool> written_;
  std::vector<Placed> placed_;
  std::vector<std::string> made_folders_;  // parents first
  std::set<std::string> touched_;          // folders that got a new entry
};

}  // namespace

Result<TargetFolder> TargetFolder::open(const std::filesystem::path& folder) {
  UniqueFd fd(::open(folder.c_str(), kFolderFlags));
  if (fd) return TargetFolder(std::move(fd));
  const int number = errno;
  if (number == ENOENT) return Error::from_errno(ErrorCode::file_not_found, printable(folder.native()), number);
  if (number == ELOOP || number == ENOTDIR)
    return Error(ErrorCode::input_invalid, fmt::format("{} is not a folder", printable(folder.native())));
  return failed("open", folder.native(), number);
}

Result<std::vector<bool>> TargetFolder::write(const std::vector<CollectedFile>& files) const {
  if (files.empty()) return std::vector<bool>();
  return Writing(folder_.get(), files).run();
}

}  // namespace guard
