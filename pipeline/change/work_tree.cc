#include "pipeline/change/work_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <climits>
#include <set>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "validator/change/change_policy.h"

namespace guard {
namespace {

constexpr int kDepthMax = 128;
constexpr std::uint64_t kEntriesMax = 2'000'000;
constexpr std::uint64_t kIgnoreFileBytesMax = 1u << 20;
// Patterns can be made that git needs minutes for. Nothing is left out then.
constexpr std::chrono::milliseconds kIgnoredDeadline{10'000};
constexpr std::size_t kOpenFoldersMax = 1'000;  // they go on a command line

class Comparing {
 public:
  Comparing(const std::filesystem::path& top, const TreeEntries& base, std::size_t id_digits,
      const ChangeRequest& limits, const CancelToken& cancel)
      : top_(top), base_(base), id_digits_(id_digits), limits_(limits), cancel_(cancel) {}

  Result<WorkTreeChange> run(const Git& git) {
    ask_what_is_ignored(git);
    UniqueFd folder(::open(top_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!folder) return failed("the work tree", errno);
    GUARD_TRY(walk(folder.get(), "", kDepthMax, false));
    for (const auto& [path, entry] : base_) {
      if (seen_.contains(path)) continue;
      ChangedFile file;
      file.path = path;
      add(std::move(file));
    }
    std::sort(change_.files.begin(), change_.files.end(),
        [](const ChangedFile& a, const ChangedFile& b) { return a.path < b.path; });
    return std::move(change_);
  }

 private:
  static Error failed(std::string_view path, int number) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read {}", printable(path)), number);
  }

  // Whether the .gitignore at `path` is the one that the commit has.
  bool is_trusted_ignore_file(const std::string& path) {
    const auto known = trusted_.find(path);
    if (known != trusted_.end()) return known->second;
    const auto entry = base_.find(path);
    bool same = false;
    if (entry != base_.end() && entry->second.kind == EntryKind::file) {
      const auto bytes = read_file(top_ / path, kIgnoreFileBytesMax, FollowLinks::no);
      same = bytes && git_blob_id(*bytes, id_digits_) == entry->second.id;
    }
    return trusted_[path] = same;
  }

  // git knows the patterns; which file each came from decides whether it is believed. Where git fails, nothing is left
  // out.
  void ask_what_is_ignored(const Git& git) {
    // Whole folders first. One that is listed because all that lies in it is left out is asked for file by file.
    const auto open = believe(git, listed(git, {"--directory"}));
    if (open.empty() || open.size() > kOpenFoldersMax) return;
    std::vector<std::string> more = {"--"};
    more.insert(more.end(), open.begin(), open.end());
    (void)believe(git, listed(git, more));
  }

  // A list of the person's own that lies outside of the tree has no say.
  static std::string listed(const Git& git, const std::vector<std::string>& more) {
    std::vector<std::string> arguments = {"--work-tree=.", "-c", "core.excludesFile=/dev/null", "ls-files", "-z",
        "--others", "--ignored", "--exclude-per-directory=.gitignore"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    auto names = git.read(arguments, {}, kIgnoredDeadline);
    return names ? std::move(*names) : std::string();
  }

  // Keeps what a trusted file leaves out, and answers the folders that none does.
  std::vector<std::string> believe(const Git& git, const std::string& names) {
    std::set<std::string> open;
    for (const auto name : pieces_of(names, '\0')) {
      if (name.ends_with('/')) open.emplace(name);
    }
    const auto told = git.why_ignored(names, kIgnoredDeadline);
    const auto fields =
        pieces_of(told ? std::string_view(*told) : std::string_view(), '\0');  // source, line, pattern, path
    for (std::size_t i = 0; i + 3 < fields.size(); i += 4) {
      const std::string source(fields[i]);
      std::string_view path = fields[i + 3];
      if (path.starts_with("./")) path.remove_prefix(2);
      if (fields[i + 2].starts_with("!") || !is_trusted_ignore_file(source)) continue;
      open.erase(std::string(path));
      ignored_.emplace(path.ends_with("/") ? path.substr(0, path.size() - 1) : path);
    }
    return {open.begin(), open.end()};
  }

  bool has_base_below(const std::string& folder) const {
    const auto next = base_.lower_bound(folder + "/");
    return next != base_.end() && next->first.starts_with(folder + "/");
  }

  // `left_out`: of this folder only what the commit has is looked at.
  Result<void> walk(int folder, const std::string& path, int depth_left, bool left_out) {
    const UniqueFd own(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!own) return failed(path, errno);
    std::vector<std::string> names;
    {
      const int copy = ::fcntl(own.get(), F_DUPFD_CLOEXEC, 0);
      DIR* const stream = copy < 0 ? nullptr : ::fdopendir(copy);
      if (stream == nullptr) return failed(path, errno);
      errno = 0;
      while (const dirent* entry = ::readdir(stream)) {
        const std::string_view name = entry->d_name;
        if (name != "." && name != "..") names.emplace_back(name);
      }
      const int number = errno;
      ::closedir(stream);
      if (number != 0) return failed(path, number);
    }
    entries_ += names.size();
    if (entries_ > kEntriesMax) {
      return Error(
          ErrorCode::input_invalid, fmt::format("the work tree holds more than {} files and folders", kEntriesMax))
          .hint("judge commits: --base REV --head REV");
    }
    for (const auto& name : names) {
      if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while the work tree was read");
      if (path.empty() && name == ".git") continue;  // the repository itself
      GUARD_TRY(look_at(own.get(), name, path.empty() ? name : path + "/" + name, depth_left, left_out));
    }
    return ok();
  }

  Result<void> look_at(int folder, const std::string& name, const std::string& path, int depth_left, bool left_out) {
    struct stat status {};
    if (::fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0) {
      if (errno == ENOENT) return ok();  // gone since: then it is missing, or was never there
      return failed(path, errno);
    }
    left_out = left_out || ignored_.contains(path);
    const auto entry = base_.find(path);
    if (S_ISDIR(status.st_mode)) {
      if (left_out && entry == base_.end() && !has_base_below(path)) return ok();
      return look_at_folder(folder, name, path, depth_left, left_out);
    }
    if (left_out && entry == base_.end()) return ok();
    ChangedFile file;
    file.path = path;
    bool same = false;
    if (S_ISLNK(status.st_mode)) {
      GUARD_TRY_ASSIGN(file.new_bytes, read_link(folder, name, path));
      file.after = EntryKind::link;
      same = entry != base_.end() && entry->second.kind == EntryKind::link &&
          git_blob_id(file.new_bytes, id_digits_) == entry->second.id;
      file.new_size = file.new_bytes.size();
    } else if (S_ISREG(status.st_mode)) {
      GUARD_TRY_ASSIGN(same, read_regular(folder, name, entry == base_.end() ? nullptr : &entry->second, file));
    } else {
      file.after = EntryKind::other;
    }
    if (entry != base_.end()) seen_.insert(path);
    if (!same) add(std::move(file));
    return ok();
  }

  Result<void> look_at_folder(
      int folder, const std::string& name, const std::string& path, int depth_left, bool left_out) {
    if (depth_left == 0) {
      change_.findings.push_back(policy_finding(
          "policy.path", path, "folders lie deeper in each other than guard follows them", "Remove it."));
      return ok();
    }
    const UniqueFd own(::openat(folder, name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!own) return failed(path, errno);
    const auto entry = base_.find(path);
    struct stat status {};
    if (::fstatat(own.get(), ".git", &status, AT_SYMLINK_NOFOLLOW) == 0) {
      // A repository of its own: git would commit its id and none of its files.
      if (entry != base_.end() && entry->second.kind == EntryKind::submodule) {
        seen_.insert(path);
        return ok();
      }
      ChangedFile file;
      file.path = path;
      file.after = EntryKind::submodule;
      if (entry != base_.end()) seen_.insert(path);
      add(std::move(file));
      return ok();
    }
    // Not checked out: an empty folder. What lies in it is new, by its own names.
    if (entry != base_.end() && entry->second.kind == EntryKind::submodule) seen_.insert(path);
    return walk(own.get(), path, depth_left - 1, left_out);
  }

  static Result<std::string> read_link(int folder, const std::string& name, const std::string& path) {
    std::string target(PATH_MAX, '\0');
    const ssize_t size = ::readlinkat(folder, name.c_str(), target.data(), target.size());
    if (size < 0) return failed(path, errno);
    target.resize(static_cast<std::size_t>(size));
    return target;
  }

  // Whether it is what the commit has; else its bytes, where they may be read.
  Result<bool> read_regular(int folder, const std::string& name, const TreeEntry* entry, ChangedFile& file) {
    const UniqueFd fd(::openat(folder, name.c_str(), O_RDONLY | O_NOCTTY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    struct stat status {};
    if (!fd || ::fstat(fd.get(), &status) != 0) return failed(file.path, errno);
    if (!S_ISREG(status.st_mode)) {
      file.after = EntryKind::other;
      return false;
    }
    file.after = (status.st_mode & S_IXUSR) != 0 ? EntryKind::executable : EntryKind::file;
    file.new_size = static_cast<std::uint64_t>(status.st_size);
    if (entry != nullptr && entry->kind == file.after && entry->size == file.new_size) {
      GUARD_TRY_ASSIGN(const std::string id, id_of(fd.get(), file.new_size, file.path));
      if (id == entry->id) return true;
      if (::lseek(fd.get(), 0, SEEK_SET) != 0) return failed(file.path, errno);
    }
    // Of what is not listed any more only the number counts.
    if (change_.files.size() >= limits_.files_max) return false;
    const std::uint64_t room = limits_.bytes_max - std::min(limits_.bytes_max, bytes_);
    const std::uint64_t most = std::min(limits_.file_bytes_max, room);
    if (file.new_size > most) {
      file.unread = true;
      return false;
    }
    auto bytes = read_all(fd.get(), most, file.path);
    if (!bytes && bytes.error().code() != ErrorCode::file_too_large) return std::move(bytes).error();
    file.unread = !bytes;  // it grows while it is read
    if (bytes) file.new_bytes = std::move(*bytes);
    file.new_size = std::max<std::uint64_t>(file.new_size, file.new_bytes.size());
    bytes_ += file.new_bytes.size();
    return false;
  }

  Result<std::string> id_of(int fd, std::uint64_t size, const std::string& path) const {
    GitBlobId id(id_digits_, size);
    std::array<char, 1u << 16> piece;
    std::uint64_t left = size;
    while (left > 0) {
      const ssize_t got = ::read(fd, piece.data(), std::min<std::uint64_t>(piece.size(), left));
      if (got < 0 && errno == EINTR) continue;
      if (got < 0) return failed(path, errno);
      if (got == 0) return std::string();  // cut off since: not the same
      id.update({piece.data(), static_cast<std::size_t>(got)});
      left -= static_cast<std::uint64_t>(got);
    }
    return id.finish_hex();
  }

  void add(ChangedFile file) {
    ++change_.count;
    if (change_.files.size() < limits_.files_max) change_.files.push_back(std::move(file));
  }

  const std::filesystem::path& top_;
  const TreeEntries& base_;
  const std::size_t id_digits_;
  const ChangeRequest& limits_;
  const CancelToken& cancel_;
  std::map<std::string, bool> trusted_;  // .gitignore files, by path
  std::set<std::string> ignored_;        // files and folders that a trusted one leaves out
  std::set<std::string> seen_;           // paths of the commit that lie there
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
  WorkTreeChange change_;
};

}  // namespace

Result<WorkTreeChange> compare_work_tree(const std::filesystem::path& top, const Git& git, const TreeEntries& base,
    std::size_t id_digits, const ChangeRequest& limits, const CancelToken& cancel) {
  return Comparing(top, base, id_digits, limits, cancel).run(git);
}

}  // namespace guard
