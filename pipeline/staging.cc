#include "pipeline/staging.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <system_error>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// Read by another user inside the sandbox, so not 0600; write-protected because nothing has a reason to change them.
constexpr mode_t kFileMode = 0444;
constexpr mode_t kFolderMode = 0755;

bool never_mounted(std::string_view name) { return name.starts_with(".env") || name == ".git" || name == "node_modules"; }

Result<void> write_staged(const fs::path& path, std::string_view bytes) {
  GUARD_TRY(make_folders(path.parent_path(), kFolderMode));
  return write_new_file(path, bytes, kFileMode);
}

class Stager {
 public:
  // `run_folder` empty: nothing is written.
  Stager(const fs::path& run_folder, const fs::path& project) : project_(project), writes_(!run_folder.empty()) { tree_.app = run_folder / "app"; }

  Result<StagedTree> stage(const std::vector<SourceFile>& checked) {
    GUARD_TRY(make_folder(""));
    GUARD_TRY(make_folder("sandbox"));
    if (fs::is_directory(fs::symlink_status(project_ / "src", ignored_))) {
      GUARD_TRY(copy_folder("src", 0));
      tree_.mounts.push_back({tree_.app / "src", "/app/src"});
    }
    for (const char* name : {"package.json", "tsconfig.json"}) {
      if (!fs::exists(fs::symlink_status(project_ / name, ignored_))) continue;
      GUARD_TRY(copy_file(name));
      tree_.mounts.push_back({tree_.app / name, std::string("/app/") + name});
    }
    for (const auto& file : checked) GUARD_TRY(add_checked(file));
    return std::move(tree_);
  }

 private:
  Result<void> make_folder(const fs::path& relative) { return writes_ ? make_folders(tree_.app / relative, kFolderMode) : ok(); }

  Result<void> add_file(const fs::path& relative, std::string_view bytes) {
    GUARD_TRY(account(bytes.size()));
    if (writes_) GUARD_TRY(write_staged(tree_.app / relative, bytes));
    tree_.hashes[relative.generic_string()] = sha256_hex(bytes);
    return ok();
  }

  Result<void> add_checked(const SourceFile& file) {
    const fs::path relative = fs::path(file.path).lexically_normal();
    if (relative.is_absolute() || relative.begin() == relative.end() || *relative.begin() != "sandbox" ||
        std::find(relative.begin(), relative.end(), "..") != relative.end() || file.path.find('\0') != std::string::npos) {
      return Error(ErrorCode::input_invalid, fmt::format("{} is not below the project's sandbox folder", printable(file.path)))
          .hint("tests that guard runs live in sandbox/ beside src/ and package.json");
    }
    GUARD_TRY(add_file(relative, file.bytes));
    tree_.mounts.push_back({tree_.app / relative, "/app/" + relative.generic_string()});
    return ok();
  }

  Result<void> account(std::uint64_t bytes) {
    bytes_ += bytes;
    ++files_;
    if (bytes_ > kStagedBytesMax || files_ > kStagedFilesMax) {
      return Error(ErrorCode::input_invalid, fmt::format("src and sandbox hold more than {} MB or {} files", kStagedBytesMax >> 20, kStagedFilesMax))
          .hint("keep generated files and assets out of src/");
    }
    return ok();
  }

  Result<void> copy_file(const fs::path& relative) {
    // A link inside src to another place inside src is honest; what it points at is copied. Anything else is refused: it would
    // carry a file of the host into the sandbox.
    const fs::path source = fs::weakly_canonical(project_ / relative, ignored_);
    const fs::path root = fs::weakly_canonical(project_, ignored_);
    const auto inside = source.lexically_relative(root);
    if (ignored_ || inside.empty() || *inside.begin() == ".." ||
        std::any_of(inside.begin(), inside.end(), [](const fs::path& part) { return never_mounted(part.native()); })) {
      return Error(ErrorCode::input_invalid, fmt::format("{} is a link to something that is never mounted", printable(relative.native())))
          .hint("replace the link by a copy of what it points at");
    }
    GUARD_TRY_ASSIGN(const std::string bytes, read_file(source, kStagedBytesMax, FollowLinks::no));
    return add_file(relative, bytes);
  }

  Result<void> copy_folder(const fs::path& relative, int depth) {
    constexpr int kDepthMax = 64;
    if (depth > kDepthMax) return Error(ErrorCode::input_invalid, fmt::format("{} is nested too deeply", printable(relative.native())));
    GUARD_TRY(make_folder(relative));
    std::error_code failure;
    std::vector<fs::path> names;
    for (fs::directory_iterator entry(project_ / relative, failure), end; !failure && entry != end; entry.increment(failure)) {
      names.push_back(entry->path().filename());
    }
    if (failure) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read {}", printable(relative.native())), failure.value());
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      const fs::path path = relative / name;
      if (never_mounted(name.native())) {
        tree_.left_out.push_back(path.generic_string());
        continue;
      }
      const auto status = fs::symlink_status(project_ / path, failure);
      if (failure) return Error::from_errno(ErrorCode::io_error, printable(path.native()), failure.value());
      if (fs::is_directory(status)) {
        GUARD_TRY(copy_folder(path, depth + 1));
      } else if (fs::is_symlink(status) && fs::is_directory(project_ / path, failure)) {
        return Error(ErrorCode::input_invalid, fmt::format("{} is a link to a folder", printable(path.native()))).hint("replace the link by the folder itself");
      } else if (fs::is_regular_file(status) || fs::is_symlink(status)) {
        GUARD_TRY(copy_file(path));
      } else {
        return Error(ErrorCode::input_invalid, fmt::format("{} is a device, FIFO or socket", printable(path.native())));
      }
    }
    return ok();
  }

  const fs::path& project_;
  bool writes_;
  StagedTree tree_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
  std::error_code ignored_;
};

}  // namespace

Result<std::vector<std::string>> changed_since(const fs::path& project, const std::map<std::string, std::string>& hashes) {
  std::vector<std::string> changed;
  for (const auto& [path, digest] : hashes) {
    const auto bytes = read_file(project / path, kStagedBytesMax, FollowLinks::yes);
    if (!bytes || sha256_hex(*bytes) != digest) changed.push_back(path);
  }
  // A module that appears in src/ takes the place of another one as easily as a change does.
  const fs::path src = project / "src";
  std::error_code failure;
  if (!fs::is_directory(fs::symlink_status(src, failure))) return changed;
  for (fs::recursive_directory_iterator entry(src, failure), end; !failure && entry != end; entry.increment(failure)) {
    const fs::path relative = entry->path().lexically_relative(project);
    if (never_mounted(relative.filename().native())) {
      entry.disable_recursion_pending();
    } else if (!fs::is_directory(entry->symlink_status(failure)) && hashes.count(relative.generic_string()) == 0) {
      changed.push_back(relative.generic_string());
    }
  }
  if (failure) return Error::from_errno(ErrorCode::io_error, "cannot read src", failure.value());
  return changed;
}

Result<StagedTree> stage_tree(const fs::path& run_folder, const fs::path& project, const std::vector<SourceFile>& checked) {
  return Stager(run_folder, project).stage(checked).context("staging what will run");
}

Result<std::map<std::string, std::string>> staged_hashes(const fs::path& project, const std::vector<SourceFile>& checked) {
  GUARD_TRY_ASSIGN(StagedTree tree, Stager({}, project).stage(checked));
  return std::move(tree.hashes);
}

}  // namespace guard
