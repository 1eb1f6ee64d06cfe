#include "pipeline/source_files.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <system_error>

#include "common/file_io.h"
#include "common/glob.h"
#include "common/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

Finding file_finding(std::string_view rule, FindingTier tier, const std::string& path, std::string message, std::string fix) {
  Finding finding;
  finding.rule = rule;
  finding.tier = tier;
  finding.path = path;
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

class Collector {
 public:
  explicit Collector(const CollectOptions& options) : options_(options) {
    std::error_code ignored;
    current_ = fs::current_path(ignored);
  }

  Result<void> add_named(const std::string& path) {
    struct stat status {};
    if (::lstat(path.c_str(), &status) != 0) {
      const int number = errno;
      const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::file_not_found : ErrorCode::io_error;
      return Error::from_errno(code, printable(path), number).hint("check the spelling and the folder you are in");
    }
    if (S_ISDIR(status.st_mode)) return walk(path);
    return add_entry(path, status);
  }

  SourceFiles take() {
    std::sort(found_.files.begin(), found_.files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    // The same file named twice ("sandbox sandbox/a.test.ts") is one file.
    const auto last = std::unique(found_.files.begin(), found_.files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path == b.path; });
    found_.files.erase(last, found_.files.end());
    return std::move(found_);
  }

 private:
  // Only the spelling is changed: "./a//b" and "a/b" are one file, and a finding's path can be opened as it stands.
  static std::string as_given(const std::string& path) { return fs::path(path).lexically_normal().generic_string(); }

  // Where guard was started says nothing about where the project is, so it must not matter.
  bool is_gated(const std::string& path) {
    const fs::path absolute = (current_ / path).lexically_normal();
    const fs::path folder = absolute.parent_path();
    if (folder != last_folder_) {
      last_folder_ = folder;
      last_root_ = repository_root(folder);
    }
    const std::string relative = absolute.lexically_relative(last_root_).generic_string();
    return is_gated_path(options_.gated_paths, relative) || is_gated_path(options_.gated_paths, relative + "/x");
  }

  // The nearest folder at or above `folder` that holds .git; without one the outermost that holds a package.json, else "/".
  fs::path repository_root(const fs::path& folder) const {
    std::error_code ignored;
    fs::path project = "/";
    for (fs::path at = folder;; at = at.parent_path()) {
      if (fs::exists(fs::symlink_status(at / ".git", ignored)) && !is_gated_path(options_.gated_paths, at.generic_string() + "/x")) return at;
      if (fs::exists(fs::symlink_status(at / "package.json", ignored))) project = at;
      if (at == at.parent_path()) return project;
    }
  }

  Result<void> add_entry(const std::string& named, const struct stat& status) {
    const std::string path = as_given(named);
    if (S_ISLNK(status.st_mode)) {
      found_.findings.push_back(file_finding("side_file.symbolic_link", FindingTier::side_file, path, "a symbolic link",
                                             "replace the link by a regular file: what it points at can change after the check"));
      return ok();
    }
    if (!S_ISREG(status.st_mode)) {
      found_.findings.push_back(file_finding("side_file.special_file", FindingTier::side_file, path, "a device, FIFO or socket", "remove it"));
      return ok();
    }
    if (status.st_nlink > 1 && is_gated(path)) {
      // Another name of the same file may lie outside the checked folder and be written there.
      found_.findings.push_back(file_finding("side_file.hard_link", FindingTier::side_file, path, "a file with more than one name (hard link)",
                                             "replace it by a copy"));
      return ok();
    }
    if (found_.files.size() >= options_.files_max) {
      return Error(ErrorCode::input_invalid, fmt::format("more than {} files", options_.files_max)).hint("check a smaller folder");
    }
    auto bytes = read_file(named, options_.file_bytes_max, FollowLinks::no);
    if (!bytes && bytes.error().code() == ErrorCode::file_too_large) {
      found_.findings.push_back(file_finding("encoding.file_too_large", FindingTier::encoding, path, bytes.error().message(),
                                             "split the file, or raise [check] max_file_bytes"));
      return ok();
    }
    if (!bytes) return std::move(bytes).error();
    found_.files.push_back(SourceFile{path, std::move(*bytes)});
    return ok();
  }

  Result<void> walk(const std::string& folder) {
    constexpr int kDepthMax = 64;
    return walk(folder, kDepthMax);
  }

  Result<void> walk(const std::string& folder, int depth_left) {
    if (depth_left == 0) return Error(ErrorCode::input_invalid, fmt::format("{} is nested too deeply", printable(folder)));
    std::error_code failure;
    std::vector<std::string> names;
    for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end; entry.increment(failure)) {
      names.push_back(entry->path().filename().string());
    }
    if (failure) {
      return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read folder {}", printable(folder)), failure.value());
    }
    std::sort(names.begin(), names.end());
    for (const auto& name : names) {
      const std::string path = (fs::path(folder) / name).string();
      struct stat status {};
      if (::lstat(path.c_str(), &status) != 0) {
        return Error::from_errno(ErrorCode::io_error, printable(path), errno);
      }
      const bool gated = is_gated(path);
      if (S_ISDIR(status.st_mode)) {
        if (name == ".git" || name == "node_modules") {
          if (gated) {
            found_.findings.push_back(file_finding(name == ".git" ? "side_file.git_folder" : "side_file.node_modules", FindingTier::side_file,
                                                   as_given(path), fmt::format("a folder called {} beside the tests", name),
                                                   "remove it: dependencies belong in package.json and the image"));
          }
          continue;
        }
        GUARD_TRY(walk(path, depth_left - 1));
        continue;
      }
      if (gated || (is_code_name(name) && !options_.gated_only)) GUARD_TRY(add_entry(path, status));
    }
    return ok();
  }

  const CollectOptions& options_;
  fs::path current_;
  fs::path last_folder_;  // of the last question, with its answer: files come folder by folder
  fs::path last_root_;
  SourceFiles found_;
};

}  // namespace

bool is_gated_path(const std::vector<std::string>& globs, std::string_view path) {
  for (;;) {
    if (std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, path); })) return true;
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

bool is_code_name(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kEndings = {".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"};
  return std::any_of(kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return name.ends_with(ending); });
}

Result<SourceFiles> collect_paths(const std::vector<std::string>& paths, const CollectOptions& options) {
  Collector collector(options);
  for (const auto& path : paths) GUARD_TRY(collector.add_named(path));
  return collector.take();
}

Result<SourceFiles> collect_stdin(int fd, std::string_view name, const CollectOptions& options) {
  GUARD_TRY_ASSIGN(std::string bytes, read_all(fd, options.file_bytes_max, "standard input"));
  SourceFiles found;
  found.files.push_back(SourceFile{std::string(name), std::move(bytes)});
  return found;
}

}  // namespace guard
