#include "runner/image/package_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <string_view>
#include <vector>

#include "common/text/text.h"
#include "runner/files/tree_writer.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 128;

bool is_same_or_below(std::string_view path, std::string_view folder) {
  return path == folder || (path.size() > folder.size() && path.starts_with(folder) && path[folder.size()] == '/');
}

std::string modules_of(std::string_view place) {
  return place.empty() ? "node_modules" : fmt::format("{}/node_modules", place);
}

class Copier {
 public:
  Copier(fs::path root, const InstalledTrees& trees, const fs::path& project, const PackageTreeLimits& limits,
      const CancelToken& cancel)
      : root_(std::move(root)), workspaces_(trees.workspaces), project_(project), limits_(limits), cancel_(cancel) {
    for (const auto& place : trees.module_folders) modules_.push_back(modules_of(place));
  }

  Result<void> all_to(const fs::path& to) {
    for (const auto& modules : modules_) GUARD_TRY(folder(root_ / modules, to / modules, 0));
    return ok();
  }

 private:
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

  Result<void> entry(const fs::path& from, const fs::path& to, int depth) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while copying packages");
    if (++entries_ > limits_.entries_max)
      return refused(from, fmt::format("is one more than the {} entries allowed", limits_.entries_max));
    if (from.filename().native().starts_with(".wh."))
      return refused(from, "has a name that means a removal in a layer of an image");
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

  // Its text is not kept: it may pass other links, and the folders that it names may have other names in the copy.
  Result<void> link(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    const fs::path real = fs::canonical(from, failure);
    if (failure) return refused(from, "is a link that leads nowhere");
    const std::string inside = real.lexically_relative(root_).native();
    const auto holds = [&](const std::string& place) { return is_same_or_below(inside, place); };
    fs::path target;
    if (std::any_of(modules_.begin(), modules_.end(), holds))
      target = real.lexically_relative(from.parent_path());
    else if (std::any_of(workspaces_.begin(), workspaces_.end(),
                 [&](const std::string& place) { return place.empty() ? inside == "." : holds(place); }))
      target = inside == "." ? project_ : project_ / inside;
    else
      return refused(from, "is a link that leads out of node_modules");
    fs::create_symlink(target, to, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(to.native()), failure.value());
    return clear_time(to);
  }

  Error refused(const fs::path& path, std::string_view why) const {
    return Error(ErrorCode::dependency_unsatisfied,
        fmt::format("an installed package holds {}, which {}", printable(path.lexically_relative(root_).native()), why))
        .hint("leave that package out: guard does not put such files into an image");
  }

  const fs::path root_;
  std::vector<std::string> modules_;
  const std::vector<std::string>& workspaces_;
  const fs::path& project_;
  const PackageTreeLimits& limits_;
  const CancelToken& cancel_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<void> copy_package_trees(const InstalledTrees& trees, const fs::path& to, const fs::path& project,
    const PackageTreeLimits& limits, const CancelToken& cancel) {
  if (trees.module_folders.empty()) return ok();
  std::error_code failure;
  const fs::path root = fs::canonical(trees.folder, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(trees.folder.native()), failure.value());
  return Copier(root, trees, project, limits, cancel).all_to(to);
}

}  // namespace guard
