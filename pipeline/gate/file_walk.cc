#include "pipeline/gate/file_walk.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "common/text/text.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 64;

Finding file_finding(
    std::string_view rule, FindingTier tier, const std::string& path, std::string message, std::string fix) {
  Finding finding;
  finding.rule = rule;
  finding.tier = tier;
  finding.path = path;
  finding.message = std::move(message);
  finding.fix = std::move(fix);
  return finding;
}

Finding link_finding(const std::string& path) {
  return file_finding("side_file.symbolic_link", FindingTier::side_file, path, "a symbolic link",
      "replace the link by a regular file: what it points at can change after the check");
}

Finding special_finding(const std::string& path) {
  return file_finding("side_file.special_file", FindingTier::side_file, path, "a device, FIFO or socket", "remove it");
}

// Only the spelling is changed: "./a//b" and "a/b" are one file, and a finding's path can be opened as it stands.
std::string as_given(const std::string& path) { return fs::path(path).lexically_normal().generic_string(); }

std::string joined(const std::string& folder, const std::string& name) {
  if (folder.empty() || folder == ".") return name;
  return folder.back() == '/' ? folder + name : folder + "/" + name;
}

int fd_of(const std::shared_ptr<const UniqueFd>& folder) { return folder == nullptr ? AT_FDCWD : folder->get(); }

struct Entry {
  std::string name;
  unsigned char type = DT_UNKNOWN;
};

Result<std::vector<Entry>> entries_of(int folder, const std::string& path) {
  const auto failed = [&](int number) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read folder {}", printable(path)), number);
  };
  // A descriptor of its own: fdopendir() takes it, and reading moves its offset.
  UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!own) return failed(errno);
  DIR* const stream = ::fdopendir(own.get());
  if (stream == nullptr) return failed(errno);
  (void)own.release();
  std::vector<Entry> entries;
  errno = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") entries.push_back({std::string(name), entry->d_type});
  }
  const int number = errno;
  ::closedir(stream);
  if (number != 0) return failed(number);
  std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) { return a.name < b.name; });
  return entries;
}

}  // namespace

FileWalk::FileWalk(const CollectOptions& options, Visit visit, std::vector<Finding>& findings)
    : options_(options), visit_(std::move(visit)), findings_(findings) {
  std::error_code ignored;
  current_ = fs::current_path(ignored);
  for (const std::string& pattern : options.gated_paths) {
    const bool whole_folder =
        pattern.size() > 3 && pattern.ends_with("/**") && pattern.find_first_of("*?") == pattern.size() - 2;
    if (whole_folder) {
      gated_folders_.push_back("/" + pattern.substr(0, pattern.size() - 2));
    } else {
      other_patterns_.push_back(pattern);
    }
  }
}

Result<void> FileWalk::add_all(const std::vector<std::string>& paths) {
  remember_ = paths.size() > 1;
  for (const auto& path : paths) GUARD_TRY(add_named(path));
  return ok();
}

Result<void> FileWalk::add_named(const std::string& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) {
    const int number = errno;
    const auto code = number == ENOENT || number == ENOTDIR ? ErrorCode::file_not_found : ErrorCode::io_error;
    return Error::from_errno(code, printable(path), number).hint("check the spelling and the folder you are in");
  }
  if (S_ISDIR(status.st_mode)) {
    auto folder =
        std::make_shared<const UniqueFd>(::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!*folder)
      return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read folder {}", printable(path)), errno);
    look_for_ignore_rules(folder_of(path));
    return walk(std::move(folder), as_given(path), kDepthMax);
  }
  WalkedFile file;
  file.name = path;
  file.path = as_given(path);
  const fs::path absolute = (current_ / file.path).lexically_normal();
  file.gated = is_gated(absolute.parent_path(), absolute.filename().string());
  return visit_entry(std::move(file), IFTODT(status.st_mode));
}

// Where guard was started says nothing about where the project is, so it must not matter.
bool FileWalk::is_gated(const fs::path& folder, const std::string& name) {
  if (folder != last_folder_ || last_folder_.empty()) {
    last_folder_ = folder;
    const std::string relative = folder.lexically_relative(repository_root(folder)).generic_string();
    last_relative_ = relative == "." ? std::string() : relative + "/";
    const std::string inside = "/" + last_relative_;
    last_gated_ = std::any_of(gated_folders_.begin(), gated_folders_.end(),
        [&](const std::string& wanted) { return inside.find(wanted) != std::string::npos; });
  }
  if (last_gated_) return true;
  const std::string relative = last_relative_ + name;
  const std::string as_folder = "/" + relative + "/";
  if (std::any_of(gated_folders_.begin(), gated_folders_.end(),
          [&](const std::string& wanted) { return as_folder.ends_with(wanted); }))
    return true;
  return !other_patterns_.empty() &&
      (is_gated_path(other_patterns_, relative) || is_gated_path(other_patterns_, relative + "/x"));
}

// The nearest folder at or above `folder` that holds .git; without one the outermost that holds a package.json, else
// "/".
fs::path FileWalk::repository_root(const fs::path& folder) const {
  std::error_code ignored;
  fs::path project = "/";
  for (fs::path at = folder;; at = at.parent_path()) {
    if (fs::exists(fs::symlink_status(at / ".git", ignored)) &&
        !is_gated_path(options_.gated_paths, at.generic_string() + "/x"))
      return at;
    if (fs::exists(fs::symlink_status(at / "package.json", ignored))) project = at;
    if (at == at.parent_path()) return project;
  }
}

Result<void> FileWalk::visit_entry(WalkedFile file, unsigned char type) {
  if (remember_ && !seen_.insert(file.path).second) return ok();
  file.kind = type == DT_LNK ? WalkedFile::Kind::link
      : type == DT_REG       ? WalkedFile::Kind::file
                             : WalkedFile::Kind::special;
  if (file.kind != WalkedFile::Kind::file && (file.gated || !options_.whole_tree)) {
    findings_.push_back(file.kind == WalkedFile::Kind::link ? link_finding(file.path) : special_finding(file.path));
    return ok();
  }
  if (++count_ > options_.files_max) {
    return Error(ErrorCode::input_invalid, fmt::format("more than {} files", options_.files_max))
        .hint("check a smaller folder");
  }
  return visit_(std::move(file));
}

fs::path FileWalk::folder_of(const std::string& path) const {
  return (current_ / path / "").lexically_normal().parent_path();
}

// Finds the repository that `folder`, which was named, lies in: another one inside of it may have been put there to
// hide files.
void FileWalk::look_for_ignore_rules(const fs::path& folder) {
  if (!options_.ignored || asked_) return;
  std::error_code unreadable;
  bool rules = false;
  ignored_top_.clear();
  for (fs::path at = folder;; at = at.parent_path()) {
    rules = rules || fs::exists(fs::symlink_status(at / ".gitignore", unreadable));
    if (fs::exists(fs::symlink_status(at / ".git", unreadable))) {
      ignored_top_ = at;
      break;
    }
    if (at == at.parent_path()) break;
  }
  if (rules) ask_what_is_ignored();
}

// Not knowing costs time, never a finding: then everything is looked at.
void FileWalk::ask_what_is_ignored() {
  asked_ = true;
  if (ignored_top_.empty()) return;
  const std::vector<std::string> names = options_.ignored(ignored_top_);
  ignored_.insert(names.begin(), names.end());
}

Result<void> FileWalk::walk(
    std::shared_ptr<const UniqueFd> folder, const std::string& path, int depth_left, bool ignored) {
  if (depth_left == 0) return Error(ErrorCode::input_invalid, fmt::format("{} is nested too deeply", printable(path)));
  GUARD_TRY_ASSIGN(const std::vector<Entry> entries, entries_of(folder->get(), path));
  const fs::path absolute = folder_of(path);
  if (options_.ignored && !asked_ &&
      std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.name == ".gitignore"; })) {
    ask_what_is_ignored();
  }
  std::string prefix;  // of the names in ignored_
  if (!ignored_.empty()) {
    prefix = absolute.lexically_relative(ignored_top_).generic_string() + "/";
    if (prefix == "./") prefix.clear();
  }
  for (const Entry& entry : entries) {
    unsigned char type = entry.type;
    if (type == DT_UNKNOWN) {
      struct stat status {};
      if (::fstatat(folder->get(), entry.name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return Error::from_errno(ErrorCode::io_error, printable(joined(path, entry.name)), errno);
      }
      type = S_ISDIR(status.st_mode) ? DT_DIR
          : S_ISREG(status.st_mode)  ? DT_REG
          : S_ISLNK(status.st_mode)  ? DT_LNK
                                     : DT_FIFO;
    }
    const bool gated = is_gated(absolute, entry.name);
    if (type == DT_DIR) {
      const std::string below = joined(path, entry.name);
      if (entry.name == ".git" || entry.name == "node_modules") {
        if (gated) {
          findings_.push_back(file_finding(entry.name == ".git" ? "side_file.git_folder" : "side_file.node_modules",
              FindingTier::side_file, below, fmt::format("a folder called {} beside the tests", entry.name),
              "remove it: dependencies belong in package.json and the image"));
        }
        continue;
      }
      auto child = std::make_shared<const UniqueFd>(
          ::openat(folder->get(), entry.name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!*child)
        return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read folder {}", printable(below)), errno);
      // Also where git ignores it: gated paths may lie in it.
      GUARD_TRY(
          walk(std::move(child), below, depth_left - 1, ignored || ignored_.count(prefix + entry.name + "/") != 0));
      continue;
    }
    if (!gated && !options_.whole_tree && (options_.gated_only || !is_code_name(entry.name))) continue;
    if (!gated && (ignored || (!ignored_.empty() && ignored_.count(prefix + entry.name) != 0))) {
      ++ignored_files_;
      continue;
    }
    GUARD_TRY(visit_entry({folder, entry.name, joined(path, entry.name), gated}, type));
  }
  return ok();
}

Result<bool> read_walked(
    const WalkedFile& file, std::uint64_t bytes_max, std::string& bytes, std::vector<Finding>& findings) {
  const auto failed = [&](int number) { return Error::from_errno(ErrorCode::io_error, printable(file.path), number); };
  const UniqueFd fd(
      ::openat(fd_of(file.folder), file.name.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
  if (!fd) {
    const int number = errno;
    if (number == ELOOP) findings.push_back(link_finding(file.path));
    if (number == ENXIO) findings.push_back(special_finding(file.path));
    if (number == ELOOP || number == ENXIO) return false;
    return failed(number);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return failed(errno);
  if (!S_ISREG(status.st_mode)) {
    findings.push_back(special_finding(file.path));
    return false;
  }
  if (status.st_nlink > 1 && file.gated) {
    // Another name of the same file may lie outside the checked folder and be written there.
    findings.push_back(file_finding("side_file.hard_link", FindingTier::side_file, file.path,
        "a file with more than one name (hard link)", "replace it by a copy"));
    return false;
  }
  const auto too_large = [&](std::uint64_t size) {
    findings.push_back(file_finding("encoding.file_too_large", FindingTier::encoding, file.path,
        fmt::format("{} has {} bytes; the limit is {}", printable(file.path), size, bytes_max),
        "split the file, or raise [check] max_file_bytes"));
    return false;
  };
  if (static_cast<std::uint64_t>(status.st_size) > bytes_max)
    return too_large(static_cast<std::uint64_t>(status.st_size));
  // One byte more than it should hold: the read that comes back short has seen the end.
  bytes.resize(static_cast<std::size_t>(status.st_size) + 1);
  std::size_t filled = 0;
  for (;;) {
    const ssize_t got = ::read(fd.get(), bytes.data() + filled, bytes.size() - filled);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return failed(errno);
    filled += static_cast<std::size_t>(got);
    if (got == 0 || filled < bytes.size()) {
      if (got == 0 || filled == static_cast<std::size_t>(status.st_size)) break;
      continue;
    }
    if (filled > bytes_max) return too_large(filled);
    bytes.resize(bytes.size() * 2);
  }
  bytes.resize(filled);
  return true;
}

}  // namespace guard
