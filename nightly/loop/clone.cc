#include "nightly/loop/clone.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git_objects.h"
#include "validator/change/change_policy.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

// git's own conversions (line ends, filters such as LFS, encodings) would make the clone's bytes differ from those of
// the repository. This file stands over every .gitattributes.
constexpr std::string_view kAttributes = "* -text -filter -ident -working-tree-encoding\n";

// Of a clone's configuration: what git init writes, who commits, and how things are shown. Everything else could name a
// program.
constexpr std::array<std::string_view, 13> kHarmlessKeys = {"core.repositoryformatversion", "core.filemode",
    "core.bare", "core.logallrefupdates", "core.ignorecase", "core.precomposeunicode", "core.symlinks",
    "extensions.objectformat", "user.", "branch.", "color.", "advice.", "gc.auto"};

Error io(const std::string& what, int number) {
  return Error::from_errno(ErrorCode::io_error, printable(what), number);
}

}  // namespace

Result<Clone> Clone::create(const NightRepository& repository, const fs::path& folder, const std::string& commit) {
  Clone clone(repository, folder, commit);
  const fs::path git_folder = folder / ".git";
  GUARD_TRY(make_folders(folder, 0700));
  GUARD_TRY(repository.git().read({"init", "-q", "--template=", "--initial-branch=guard",
      "--object-format=" + repository.object_format(), folder.native()}));
  GUARD_TRY(make_folders(git_folder / "info", 0755));
  GUARD_TRY(make_folders(git_folder / "refs/heads", 0755));
  const std::string objects = (repository.common_folder() / "objects").native();
  // git reads quoted lines as C strings.
  GUARD_TRY(
      write_new_file(git_folder / "objects/info/alternates", fmt::format("\"{}\"\n", backslashed(objects, "\"\\"))));
  GUARD_TRY(write_new_file(git_folder / "info/attributes", kAttributes));
  GUARD_TRY(write_new_file(git_folder / "refs/heads/guard", commit + "\n"));
  std::error_code failure;
  if (const fs::path shallow = repository.common_folder() / "shallow"; fs::exists(shallow, failure))
    fs::copy_file(shallow, git_folder / "shallow", failure);
  GUARD_TRY(repository.git().read({"--git-dir=" + git_folder.native(), "--work-tree=" + folder.native(), "-C",
      folder.native(), "read-tree", "-m", "-u", "HEAD"}));

  return clone;
}

Result<ChangeSet> Clone::read_change(std::uint64_t file_bytes_max, const CancelToken& cancel) const {
  ChangeRequest request;
  request.from = ChangeFrom::work_tree;
  request.base = commit_;
  request.work_tree = folder_;
  request.file_bytes_max = file_bytes_max;
  request.bytes_max = 64ull << 20;
  request.files_max = 1'000;  // more are not listed; that is a finding then
  GUARD_TRY_ASSIGN(CollectedChange collected, collect_change(repository_->top(), request, cancel));
  GUARD_TRY(look_for_traps(collected.change));
  return std::move(collected.change);
}

// What would run the next time that somebody calls git in this clone. Nobody does; that it was tried is told.
Result<void> Clone::look_for_traps(ChangeSet& change) const {
  const auto add = [&change](std::string path, std::string message) {
    change.findings.push_back(policy_finding(
        "policy.git_trap", std::move(path), std::move(message), "leave .git to git: change files, and nothing else"));
  };
  const fs::path git_folder = folder_ / ".git";
  std::error_code failure;
  if (!fs::is_directory(fs::symlink_status(git_folder, failure)))
    return ok();  // gone or replaced: nothing of it is used
  if (fs::symlink_status(git_folder / "hooks", failure).type() != fs::file_type::not_found &&
      !fs::is_empty(git_folder / "hooks", failure)) {
    add(".git/hooks", "hooks were put into the clone");
  }
  auto config = read_file(git_folder / "config", 1u << 20, FollowLinks::no);
  if (!config) {
    if (config.error().code() != ErrorCode::file_not_found)
      add(".git/config", "the clone's configuration is no file that can be read");
    return ok();
  }
  // As text, in a place of ours, without the files that it includes: nothing of it takes effect.
  GUARD_TRY_ASSIGN(const TempDir scratch, TempDir::create());
  GUARD_TRY(write_new_file(scratch.path() / "config", *config));
  auto listed = repository_->git().read(
      {"config", "--file", (scratch.path() / "config").native(), "--no-includes", "--null", "--name-only", "--list"});
  if (!listed) {
    add(".git/config", "git cannot read the clone's configuration");
    return ok();
  }
  for (const auto key : pieces_of(*listed, '\0')) {
    const bool harmless = std::any_of(
        kHarmlessKeys.begin(), kHarmlessKeys.end(), [key](std::string_view start) { return key.starts_with(start); });
    if (!harmless) add(".git/config", fmt::format("{} was set in the clone", printable(key)));
  }
  return ok();
}

Result<void> Clone::apply(const ChangeSet& change) const {
  // Folder by folder, so that no link of the tree is followed.
  const auto folder_of = [&](const std::string& path, bool make) -> Result<UniqueFd> {
    UniqueFd at(::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
    if (!at) return io(folder_.native(), errno);
    for (std::size_t begin = 0, slash = path.find('/'); slash != std::string::npos;
         begin = slash + 1, slash = path.find('/', begin)) {
      const std::string name = path.substr(begin, slash - begin);
      if (make && ::mkdirat(at.get(), name.c_str(), 0755) != 0 && errno != EEXIST) return io(path, errno);
      UniqueFd next(::openat(at.get(), name.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
      if (!next) return Error::from_errno(ErrorCode::input_invalid, printable(path), errno);
      at = std::move(next);
    }
    return at;
  };
  const auto name_of = [](const std::string& path) { return path.substr(path.rfind('/') + 1); };
  for (const auto& file : change.files) {
    if (!is_path_for_a_tree(file.path))
      return Error(ErrorCode::input_invalid, fmt::format("{} is no path in a tree", printable(file.path)));
    if (file.after != EntryKind::absent) continue;
    GUARD_TRY_ASSIGN(const UniqueFd at, folder_of(file.path, false));
    if (::unlinkat(at.get(), name_of(file.path).c_str(), 0) != 0 && errno != ENOENT) return io(file.path, errno);
  }
  for (const auto& file : change.files) {
    if (file.after == EntryKind::absent) continue;
    if ((file.after != EntryKind::file && file.after != EntryKind::executable) || file.unread) {
      return Error(ErrorCode::input_invalid, fmt::format("{} is no regular file", printable(file.path)));
    }
    GUARD_TRY_ASSIGN(const UniqueFd at, folder_of(file.path, true));
    const std::string name = name_of(file.path);
    if (::unlinkat(at.get(), name.c_str(), 0) != 0 && errno != ENOENT) return io(file.path, errno);
    const UniqueFd fd(::openat(at.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,
        file.after == EntryKind::executable ? 0755 : 0644));
    if (!fd) return io(file.path, errno);
    GUARD_TRY(write_all(fd.get(), file.new_bytes));
  }
  return ok();
}

}  // namespace guard::nightly
