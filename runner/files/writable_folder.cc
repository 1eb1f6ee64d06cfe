#include "runner/files/writable_folder.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "runner/files/plain_path.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kEntriesMax = 200'000;
constexpr int kDepthMax = 256;  // each level holds a descriptor
constexpr int kFolder = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;

class Look {
 public:
  explicit Look(std::string_view name) : name_(name) {}

  Error refuse(std::string_view what) const {
    return Error(ErrorCode::input_invalid, fmt::format("--write {}: {}", printable(name_), what))
        .hint("name a folder of the project that holds nothing but what the command may change");
  }

  // Why nobody may write to what is called so; empty: by its name one may.
  static std::string_view fault_of(std::string_view part) {
    if (is_never_mounted(part)) return "which is never mounted";
    if (holds_credentials(part)) return "which may be a key or a password";
    return {};
  }

  // All that lies in `folder`, reached by descriptors: nobody can lead the look elsewhere.
  Result<void> look_into(UniqueFd folder, const std::string& shown, int depth = 0) {
    const auto closed = [](DIR* stream) { ::closedir(stream); };
    const std::unique_ptr<DIR, decltype(closed)> stream(::fdopendir(folder.get()), closed);
    if (!stream) return refuse(fmt::format("{} can't be read", printable(shown)));
    folder.release();
    for (errno = 0; const dirent* entry = ::readdir(stream.get()); errno = 0) {
      const std::string_view name = entry->d_name;
      if (name == "." || name == "..") continue;
      if (++entries_ > kEntriesMax) return refuse(fmt::format("it holds more than {} files", kEntriesMax));
      GUARD_TRY(look_at(::dirfd(stream.get()), entry->d_name, fmt::format("{}/{}", shown, name), depth));
    }
    return errno == 0 ? ok() : Result<void>(refuse(fmt::format("{} can't be read", printable(shown))));
  }

 private:
  Result<void> look_at(int folder, const char* name, const std::string& shown, int depth) {
    const auto holds = [&](std::string_view what) {
      return refuse(fmt::format("it holds {}, {}", printable(shown), what));
    };
    if (const std::string_view fault = fault_of(name); !fault.empty()) return holds(fault);
    struct stat found {};
    if (::fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0)
      return errno == ENOENT ? ok() : Result<void>(holds("which can't be looked at"));
    if (S_ISLNK(found.st_mode)) return ok();  // inside it leads nowhere else than any other path
    if (S_ISDIR(found.st_mode)) {
      UniqueFd child(::openat(folder, name, kFolder));
      if (!child || depth >= kDepthMax) return holds("which can't be looked into");
      return look_into(std::move(child), shown, depth + 1);
    }
    if (!S_ISREG(found.st_mode)) return holds("which is no plain file");
    if (found.st_nlink > 1) return holds("which has another name, too (a hard link)");
    if ((found.st_mode & (S_ISUID | S_ISGID)) != 0) return holds("which runs as its owner or group");
    return ok();
  }

  std::string_view name_;
  std::size_t entries_ = 0;
};

}  // namespace

Result<WritableFolder> writable_folder(const fs::path& project, std::string_view name) {
  Look look(name);
  std::string relative = fs::path(name).lexically_normal().generic_string();
  while (relative.ends_with('/')) relative.pop_back();
  if (relative.empty() || relative == "." || relative == ".." || relative.starts_with("../") || relative[0] == '/' ||
      relative.find('\0') != std::string::npos)
    return look.refuse("not a folder below the project's");
  if (!is_utf8((project / relative).native())) return look.refuse("its path is not UTF-8");

  UniqueFd folder(::open(project.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  for (const fs::path& part : fs::path(relative)) {
    if (const std::string_view fault = Look::fault_of(part.native()); !fault.empty())
      return look.refuse(fmt::format("there is {}, {}", printable(part.native()), fault));
    struct stat found {};
    const bool there = ::fstatat(folder.get(), part.c_str(), &found, AT_SYMLINK_NOFOLLOW) == 0;
    if (there && S_ISLNK(found.st_mode)) return look.refuse("there is a link in its path");
    if (!there || !S_ISDIR(found.st_mode)) return look.refuse("there is no such folder");
    folder = UniqueFd(::openat(folder.get(), part.c_str(), kFolder));
    if (!folder) return look.refuse("it can't be read");
  }
  struct stat found {};
  if (::fstat(folder.get(), &found) != 0) return look.refuse("it can't be read");
  std::error_code failure;
  const std::string path = fs::weakly_canonical(project, failure) / relative;
  if (const auto cache = cache_folder()) {
    const std::string kept = fs::weakly_canonical(*cache, failure);
    if (is_same_or_below(path, kept) || is_same_or_below(kept, path)) return look.refuse("guard's cache lies there");
  }
  GUARD_TRY(look.look_into(std::move(folder), relative));
  return WritableFolder{std::move(relative), {found.st_dev, found.st_ino}};
}

}  // namespace guard
