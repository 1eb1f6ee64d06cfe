// The folder is reached one name at a time, following no link: openat2(2) could do that in one call, but not
// everywhere, and a second way would have to be as strict. Links outside of the project are the person's own and are
// followed.
#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/files/plain_path.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

#ifdef O_PATH
constexpr int kWalk = O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
#else
constexpr int kWalk = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
#endif

Error usage(std::string sentence) { return Error(ErrorCode::usage, std::move(sentence)).hint("name another file"); }

bool same_file(const struct stat& a, const struct stat& b) { return a.st_dev == b.st_dev && a.st_ino == b.st_ino; }

// What of `folder` lies below the project, by the first of its parents that is the project's folder.
std::optional<fs::path> below(const fs::path& folder, const struct stat& project) {
  fs::path so_far;
  for (auto part = folder.begin(); part != folder.end(); ++part) {
    so_far /= *part;
    struct stat found {};
    if (::stat(so_far.c_str(), &found) != 0 || !same_file(found, project)) continue;
    fs::path rest;
    for (++part; part != folder.end(); ++part) {
      if (!part->empty()) rest /= *part;  // behind a slash at the end
    }
    return rest;
  }
  return std::nullopt;
}

// What a run of guard's may read, though perhaps not this one.
constexpr std::string_view kReadByGuard[] = {"guard.toml", "package.json", "bun.lock", "bun.lockb", "package-lock.json",
    "pnpm-lock.yaml", "pnpm-workspace.yaml", "yarn.lock", "bunfig.toml"};

struct Folder {
  fs::path real;                   // without links
  std::optional<fs::path> inside;  // relative to the project; nothing: it lies outside
};

// Why no output may go into `name` there; empty: it may.
std::string forbidden(const OutputPlace& place, const Folder& folder, const std::string& name) {
  std::string found;
  any_path_part(((folder.inside ? *folder.inside : folder.real) / name).native(), [&](std::string_view part) {
    if (is_never_mounted(part)) found = fmt::format("no output goes into {}", printable(part));
    return !found.empty();
  });
  if (!found.empty()) return found;
  if (folder.inside && std::find(std::begin(kReadByGuard), std::end(kReadByGuard), name) != std::end(kReadByGuard))
    return fmt::format("guard reads {}", name);
  std::error_code failure;
  if (const auto cache = cache_folder();
      cache && is_same_or_below(folder.real.native(), fs::weakly_canonical(*cache, failure).native()))
    return "it lies in guard's cache";
  for (const std::string& write : place.writes) {
    const fs::path shared = fs::weakly_canonical(place.project / write, failure);
    std::string path = shared.native();
    while (path.ends_with('/')) path.pop_back();
    if (is_same_or_below((folder.real / name).native(), path))
      return fmt::format(
          "it lies in the folder of --write {}, where the command itself may change it", printable(write));
  }
  return {};
}

}  // namespace

Result<OutputFile> OutputFile::open(const OutputPlace& place) {
  const std::string shown = fmt::format("{} {}", place.option, printable(place.path));
  std::error_code failure;
  const fs::path typed = fs::absolute(place.path, failure);
  const std::string name = typed.filename();
  if (place.path.empty() || name.empty() || name == "." || name == "..") return usage(shown + " names no file");
  Folder folder;
  folder.real = fs::canonical(typed.parent_path(), failure);
  if (failure) return Error::from_errno(ErrorCode::input_invalid, shown, failure.value());
  struct stat project {};
  if (!place.project.empty() && ::stat(place.project.c_str(), &project) == 0) {
    folder.inside = below(folder.real, project);
    if (folder.inside != below(typed.parent_path().lexically_normal(), project))
      return usage(shown + ": there is a symbolic link in its path");
  }
  if (const std::string why = forbidden(place, folder, name); !why.empty())
    return usage(fmt::format("{}: {}", shown, why));

  UniqueFd at(::open("/", kWalk));
  for (const fs::path& part : folder.real.relative_path()) {
    if (!at) break;
    at = UniqueFd(::openat(at.get(), part.c_str(), kWalk));
  }
  if (!at) return Error::from_errno(ErrorCode::input_invalid, shown, errno);
  OutputFile file(place, std::move(at), name);
  GUARD_TRY(file.open_fd());
  return file;
}

Result<void> OutputFile::open_fd() {
  // Not to wait for the reader of a FIFO.
  constexpr int kFlags = O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC;
  fd_.reset(::openat(folder_.get(), name_.c_str(), kFlags | O_CREAT | O_EXCL, 0600));
  is_new_ = static_cast<bool>(fd_);
  if (!fd_ && errno == EEXIST) fd_.reset(::openat(folder_.get(), name_.c_str(), kFlags));
  if (!fd_ && errno == ELOOP) return refuse("is a symbolic link");
  if (!fd_ && (errno == EISDIR || errno == ENXIO)) return refuse("is not a regular file");
  if (!fd_) return failure(ErrorCode::input_invalid, errno);
  struct stat found {};
  if (::fstat(fd_.get(), &found) != 0) return failure(ErrorCode::io_error, errno);
  if (!S_ISREG(found.st_mode)) return refuse("is not a regular file");
  if (found.st_nlink > 1) return refuse("has another name, too (a hard link)");
  watch_ = std::make_unique<ReadWatch>(found);
  return ok();
}

OutputFile::~OutputFile() {
  if (!is_new_ || begun_ || !fd_) return;
  struct stat own {};
  struct stat there {};
  if (::fstat(fd_.get(), &own) == 0 && ::fstatat(folder_.get(), name_.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      same_file(own, there))
    ::unlinkat(folder_.get(), name_.c_str(), 0);
}

Result<void> OutputFile::differs_from(int fd, std::string_view option) const {
  struct stat other {};
  if (fd < 0) return ok();
  if (::fstat(fd, &other) != 0) return failure(ErrorCode::io_error, errno);
  return differs_from(other, option);
}

Result<void> OutputFile::differs_from(const std::string& path, std::string_view option) const {
  struct stat other {};
  return ::stat(path.c_str(), &other) != 0 ? ok() : differs_from(other, option);
}

Result<void> OutputFile::differs_from(const struct stat& other, std::string_view option) const {
  struct stat own {};
  if (::fstat(fd_.get(), &own) != 0) return failure(ErrorCode::io_error, errno);
  if (!same_file(own, other)) return ok();
  return usage(fmt::format("{} and {} name the same file", option_, option));
}

Result<void> OutputFile::was_not_read() const {
  const std::string name = watch_->read_as();
  if (name.empty()) return ok();
  return usage(fmt::format(
      "{} {} would replace {}, which guard reads for this run", option_, printable(path_), printable(name)));
}

Result<void> OutputFile::begin() {
  if (std::exchange(begun_, true)) return ok();
  struct stat found {};
  if (::fstat(fd_.get(), &found) != 0) return failure(ErrorCode::io_error, errno);
  if (found.st_nlink != 1)
    return Error(ErrorCode::io_error, fmt::format("{} {} was removed or linked meanwhile", option_, printable(path_)));
  return ::ftruncate(fd_.get(), 0) == 0 ? ok() : Result<void>(failure(ErrorCode::io_error, errno));
}

Result<void> OutputFile::push(std::span<const char> bytes) {
  GUARD_TRY(begin());
  GUARD_TRY(write_all(fd_.get(), {bytes.data(), bytes.size()}).context(fmt::format("writing {}", printable(path_))));
  bytes_ += bytes.size();
  hash_.update(bytes);
  return ok();
}

Result<void> OutputFile::finish() {
  GUARD_TRY(begin());
  if (::close(fd_.release()) == 0) return ok();
  return failure(ErrorCode::io_error, errno);
}

Error OutputFile::refuse(std::string_view what) const {
  return usage(fmt::format("{} {} {}", option_, printable(path_), what));
}

Error OutputFile::failure(ErrorCode code, int error_number) const {
  return Error::from_errno(code, fmt::format("{} {}", option_, printable(path_)), error_number);
}

}  // namespace guard
