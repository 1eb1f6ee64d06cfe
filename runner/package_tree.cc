#include "runner/package_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <vector>

#include "common/text.h"
#include "runner/tree_writer.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 128;

class Copier {
 public:
  Copier(fs::path root, const PackageTreeLimits& limits, const CancelToken& cancel)
      : root_(std::move(root)), limits_(limits), cancel_(cancel) {}

  Result<void> folder(const fs::path& from, const fs::path& to, int depth) {
    if (depth > kDepthMax) return refused(from, "lies too deep");
    GUARD_TRY(new_folder(to));
    std::error_code failure;
    std::vector<fs::path> names;
    for (fs::directory_iterator entry(from, failure), end; !failure && entry != end; entry.increment(failure)) {
      names.push_back(entry->path().filename());
    }
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(from.native()), failure.value());
    // Sorted, so that what is refused first does not depend on the file system.
    std::sort(names.begin(), names.end());
    for (const auto& name : names) GUARD_TRY(entry(from / name, to / name, depth));
    return clear_time(to);
  }

 private:
  Result<void> entry(const fs::path& from, const fs::path& to, int depth) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while copying packages");
    if (++entries_ > limits_.entries_max)
      return refused(from, fmt::format("is one more than the {} entries allowed", limits_.entries_max));
    struct stat status {};
    if (::lstat(from.c_str(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(from.native()), errno);
    if (S_ISDIR(status.st_mode)) return folder(from, to, depth + 1);
    if (S_ISLNK(status.st_mode)) return link(from, to);
    if (!S_ISREG(status.st_mode)) return refused(from, "is a device, FIFO or socket");
    const mode_t mode = (status.st_mode & S_IXUSR) != 0 ? 0755 : 0644;
    GUARD_TRY_ASSIGN(const CopiedFile copied, copy_to_new_file(from, to, mode, limits_.bytes_max - bytes_, cancel_));
    bytes_ += copied.bytes;
    return ok();
  }

  // The link's text is kept, so it has to be right in the copy too: relative, and never above the root on its way. What
  // the text says is not enough, since a folder on the way may be a link itself: where it really leads must be inside.
  Result<void> link(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    const fs::path target = fs::read_symlink(from, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(from.native()), failure.value());
    if (target.is_absolute()) return refused(from, "is a link to an absolute path");
    if (climbs_out(from.parent_path(), target)) return refused(from, "is a link that leads out of node_modules");
    const fs::path real = fs::canonical(from, failure);
    if (failure) return refused(from, "is a link that leads nowhere");
    if (!is_within(real)) return refused(from, "is a link that leads out of node_modules");
    fs::create_symlink(target, to, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(to.native()), failure.value());
    return clear_time(to);
  }

  // Out and in again by name counts too: in the copy the folder may have another name.
  bool climbs_out(const fs::path& folder, const fs::path& target) const {
    auto depth = std::distance(folder.begin(), folder.end()) - std::distance(root_.begin(), root_.end());
    for (const auto& part : target) {
      if (part == "..")
        --depth;
      else if (part != "." && !part.empty())
        ++depth;
      if (depth < 0) return true;
    }
    return false;
  }

  bool is_within(const fs::path& path) const {
    return std::mismatch(root_.begin(), root_.end(), path.begin(), path.end()).first == root_.end();
  }

  Error refused(const fs::path& path, std::string_view why) const {
    return Error(ErrorCode::dependency_unsatisfied,
                 fmt::format("an installed package holds {}, which {}",
                             printable(path.lexically_relative(root_).native()), why))
        .hint("leave that package out: guard does not put such files into an image");
  }

  fs::path root_;
  PackageTreeLimits limits_;
  const CancelToken& cancel_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<void> copy_package_tree(const fs::path& from, const fs::path& to, const PackageTreeLimits& limits,
                               const CancelToken& cancel) {
  std::error_code failure;
  const fs::path root = fs::canonical(from, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(from.native()), failure.value());
  return Copier(root, limits, cancel).folder(root, to, 0);
}

}  // namespace guard
