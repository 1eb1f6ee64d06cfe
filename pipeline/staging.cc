#include "pipeline/staging.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>
#include <system_error>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr mode_t kFolderMode = 0755;
constexpr std::uint64_t kPageBytes = 4096;

// Read by another user inside the sandbox, so not 0600; write-protected because nothing has a reason to change them.
mode_t mode_of(const fs::path& source) {
  struct stat found {};
  return ::lstat(source.c_str(), &found) == 0 && (found.st_mode & 0111) != 0 ? 0555 : 0444;
}

class Stager {
 public:
  // `run_folder` empty: nothing is written.
  Stager(const fs::path& run_folder, const fs::path& project, const ProjectTree& tree)
      : project_(project), tree_(tree), writes_(!run_folder.empty()) {
    staged_.app = run_folder / "app";
  }

  Result<StagedTree> stage(const std::vector<std::string>& module_folders) {
    std::error_code failure;
    root_ = fs::canonical(project_, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(project_.native()), failure.value());
    GUARD_TRY(make_folder(tree_.writable));
    for (const auto& file : tree_.gated.files) GUARD_TRY(add_file(file.path, file.bytes));
    for (const auto& path : tree_.others) GUARD_TRY(add_other(path));
    for (const auto& folder : module_folders) GUARD_TRY(link_modules(folder));
    return std::move(staged_);
  }

 private:
  Result<void> make_folder(const fs::path& relative) {
    if (!folders_.insert(relative).second) return ok();
    count(relative, 0);
    return writes_ ? make_folders(staged_.app / relative, kFolderMode) : ok();
  }

  void count(const fs::path& relative, std::uint64_t bytes) {
    const std::string path = relative.generic_string();
    if (!tree_.writable.empty() && !path.starts_with(tree_.writable + "/")) return;
    staged_.writable_bytes += (bytes + kPageBytes - 1) / kPageBytes * kPageBytes;
    ++staged_.writable_entries;
  }

  Result<void> add_file(const fs::path& relative, std::string_view bytes) {
    bytes_ += bytes.size();
    if (bytes_ > kStagedBytesMax || staged_.hashes.size() >= kStagedFilesMax) {
      return Error(ErrorCode::input_invalid, fmt::format("the project holds more than {} MB or {} files", kStagedBytesMax >> 20, kStagedFilesMax))
          .hint("have git ignore what is generated: a run does not see it then");
    }
    GUARD_TRY(make_folder(relative.parent_path()));
    count(relative, bytes.size());
    if (writes_) GUARD_TRY(write_new_file(staged_.app / relative, bytes, mode_of(project_ / relative)));
    staged_.hashes[relative.generic_string()] = sha256_hex(bytes);
    return ok();
  }

  Result<void> add_other(const fs::path& relative) {
    std::error_code failure;
    const fs::path path = project_ / relative;
    if (!fs::is_symlink(fs::symlink_status(path, failure))) {
      GUARD_TRY_ASSIGN(const std::string bytes, read_file(path, kStagedBytesMax, FollowLinks::no));
      return add_file(relative, bytes);
    }
    // One that leads to another place of the project is a link there, too. Any other would mean something else inside.
    const fs::path target = fs::read_symlink(path, failure);
    const fs::path inside = fs::weakly_canonical(path, failure).lexically_relative(root_);
    if (failure || target.is_absolute() || inside.empty() || *inside.begin() == "..") {
      staged_.left_out.push_back(relative.generic_string());
      return ok();
    }
    GUARD_TRY(make_folder(relative.parent_path()));
    staged_.hashes[relative.generic_string()] = sha256_hex(target.generic_string());
    return make_link(relative, target);
  }

  Result<void> link_modules(const std::string& folder) {
    // A package without files of its own here has no use for its packages.
    if (!folder.empty() && folders_.count(folder) == 0) return ok();
    return make_link(fs::path(folder) / "node_modules", fs::path("/modules") / folder / "node_modules");
  }

  Result<void> make_link(const fs::path& relative, const fs::path& target) {
    count(relative, 0);
    if (!writes_) return ok();
    std::error_code failure;
    fs::create_symlink(target, staged_.app / relative, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(relative.native()), failure.value());
    return ok();
  }

  const fs::path& project_;
  const ProjectTree& tree_;
  bool writes_;
  fs::path root_;
  StagedTree staged_;
  std::set<fs::path> folders_;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<StagedTree> stage_tree(const fs::path& run_folder, const fs::path& project, const ProjectTree& tree, const std::vector<std::string>& module_folders) {
  return Stager(run_folder, project, tree).stage(module_folders).context("staging what will run");
}

Result<std::map<std::string, std::string>> staged_hashes(const fs::path& project, const ProjectTree& tree) {
  GUARD_TRY_ASSIGN(StagedTree staged, Stager({}, project, tree).stage({}));
  return std::move(staged.hashes);
}

void mount_staged(const StagedTree& staged, std::string_view writable, std::uint64_t bytes, std::uint64_t files, SandboxSpec& spec) {
  const std::string target = writable.empty() ? "/app" : fmt::format("/app/{}", writable);
  if (!writable.empty()) spec.mounts.push_back({staged.app, "/app"});
  spec.mounts.push_back({writable.empty() ? staged.app : staged.app / writable, std::string(kStagedInside)});
  spec.scratch.push_back({target, std::string(kStagedInside), bytes + staged.writable_bytes, files + staged.writable_entries});
}

Result<std::vector<std::string>> changed_since(const fs::path& project, const ProjectTree& now, const std::map<std::string, std::string>& hashes) {
  std::vector<std::string> changed;
  GUARD_TRY_ASSIGN(const auto present, staged_hashes(project, now));
  for (const auto& [path, digest] : hashes) {
    const auto found = present.find(path);
    if (found == present.end() || found->second != digest) changed.push_back(path);
  }
  // A module that appears takes the place of another one as easily as a change does.
  for (const auto& [path, digest] : present) {
    if (hashes.count(path) == 0 && may_change_others(path)) changed.push_back(path);
  }
  return changed;
}

}  // namespace guard
