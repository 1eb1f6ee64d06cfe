#include "common/file_io.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "common/own_entry.h"
#include "common/read_watch.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kReadChunk = 64u << 10;

std::string shown(const std::filesystem::path& path) { return printable(path.native()); }

// Deletes what is below `folder`; entries are named relative to an open descriptor, so that nobody can swap a folder
// on the way for a link to somewhere else.
// Folders can lie in each other deeper than descriptors and stack reach. From this depth on they are moved up first.
constexpr int kRemoveDepthMax = 64;

struct Removal {
  int top = -1;             // the folder that is emptied
  std::uint64_t moved = 0;  // folders that were moved up there, and have to be looked at again
};

bool move_up(int folder, const char* name, Removal& removal) {
  for (int tries = 0; tries < 16; ++tries) {
    if (::renameat(folder, name, removal.top, fmt::format(".guard-deep-{}", ++removal.moved).c_str()) == 0) return true;
    if (errno != EEXIST && errno != ENOTEMPTY && errno != ENOTDIR) return false;
  }
  return false;
}

int remove_below(int folder, Removal& removal, int depth) {
  DIR* stream = ::fdopendir(folder);
  if (stream == nullptr) {
    const int number = errno;
    ::close(folder);
    return number;
  }
  int failure = 0;
  while (const dirent* entry = ::readdir(stream)) {
    const std::string_view name = entry->d_name;
    if (name == "." || name == "..") continue;
    if (::unlinkat(::dirfd(stream), entry->d_name, 0) == 0 || errno == ENOENT) continue;
    if (errno != EISDIR && errno != EPERM && errno != EACCES) {
      failure = errno;
      continue;
    }
    const auto open_child = [&] {
      return ::openat(::dirfd(stream), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    };
    int child = open_child();
    // A folder that its maker closed to itself: open it up once. fchmodat follows links, but this is no link: unlink
    // would have removed one.
    if (child < 0 && errno == EACCES && ::fchmodat(::dirfd(stream), entry->d_name, 0700, 0) == 0) child = open_child();
    if (child < 0) {
      failure = errno;
      continue;
    }
    ::fchmod(child, 0700);
    if (depth >= kRemoveDepthMax && move_up(::dirfd(stream), entry->d_name, removal)) {
      ::close(child);
      continue;
    }
    if (const int number = remove_below(child, removal, depth + 1)) failure = number;
    if (::unlinkat(::dirfd(stream), entry->d_name, AT_REMOVEDIR) != 0 && errno != ENOENT) failure = errno;
  }
  ::closedir(stream);
  return failure;
}

// `first`: room for the first read; one byte more than what is expected saves a second chunk.
Result<std::string> read_to_end(int fd, std::size_t first, std::uint64_t bytes_max, std::string_view name) {
  std::string text(first, '\0');
  for (std::size_t filled = 0;;) {
    if (filled == text.size()) text.resize(filled + kReadChunk);
    const ssize_t count = ::read(fd, text.data() + filled, text.size() - filled);
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot read {}", name), errno);
    filled += static_cast<std::size_t>(count);
    if (filled > bytes_max) {
      return Error(ErrorCode::file_too_large, fmt::format("{} is larger than the limit of {} bytes", name, bytes_max));
    }
    if (count == 0) {
      text.resize(filled);
      return text;
    }
  }
}

}  // namespace

Result<std::string> read_file(
    const std::filesystem::path& path, std::uint64_t bytes_max, FollowLinks follow, ReadFor purpose) {
  // O_NONBLOCK: opening a FIFO that nobody writes to must not hang. It means nothing to a regular file.
  const int flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY | (follow == FollowLinks::no ? O_NOFOLLOW : 0);
  UniqueFd fd(::open(path.c_str(), flags));
  if (!fd) {
    const int number = errno;
    if (number == ENOENT || number == ENOTDIR) {
      return Error::from_errno(ErrorCode::file_not_found, shown(path), number)
          .hint("check the spelling and the folder you are in");
    }
    if (number == ELOOP && follow == FollowLinks::no) {
      return Error(ErrorCode::input_invalid, fmt::format("{} is a symbolic link", shown(path)))
          .hint("replace the link by a regular file: what a link points at can change after it was checked");
    }
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot open {}", shown(path)), number);
  }
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return Error::from_errno(ErrorCode::io_error, shown(path), errno);
  if (!S_ISREG(status.st_mode)) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} is {}, not a regular file", shown(path),
            S_ISDIR(status.st_mode) ? "a folder" : "a device, FIFO or socket"));
  }
  const auto size = static_cast<std::uint64_t>(status.st_size);
  if (size > bytes_max) {
    return Error(
        ErrorCode::file_too_large, fmt::format("{} has {} bytes; the limit is {}", shown(path), size, bytes_max));
  }
  if (purpose == ReadFor::guard) ReadWatch::tell(status, path.native());
  return read_to_end(fd.get(), static_cast<std::size_t>(size) + 1, bytes_max, shown(path));
}

Result<std::string> read_all(int fd, std::uint64_t bytes_max, std::string_view name) {
  return read_to_end(fd, kReadChunk, bytes_max, name);
}

Result<void> write_all(int fd, std::string_view bytes) {
  while (!bytes.empty()) {
    const ssize_t count = ::write(fd, bytes.data(), bytes.size());
    if (count < 0) {
      if (errno == EINTR) continue;
      return Error::from_errno(ErrorCode::io_error, "write", errno);
    }
    bytes.remove_prefix(static_cast<std::size_t>(count));
  }
  return ok();
}

Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  const std::filesystem::path folder = path.parent_path().empty() ? "." : path.parent_path();
  (void)sweep_own(folder);  // what can't be removed is in nobody's way
  const auto failed = [&path](std::string_view what, int number) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot {} {}", what, shown(path)), number);
  };
  const UniqueFd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return failed("create", errno);
  GUARD_TRY_ASSIGN(const OwnEntry file, make_own_file(parent.get()).context(fmt::format("writing {}", shown(path))));
  Result<void> result = write_all(file.fd.get(), bytes).context(fmt::format("writing {}", shown(path)));
  if (result && ::fchmod(file.fd.get(), mode) != 0) result = failed("set the mode of", errno);
  if (result && ::fsync(file.fd.get()) != 0) result = failed("flush", errno);
  if (result && ::renameat(parent.get(), file.name.c_str(), parent.get(), path.filename().c_str()) != 0)
    result = failed("write", errno);
  if (!result) ::unlinkat(parent.get(), file.name.c_str(), 0);
  return result;
}

Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot create {}", shown(path)), errno);
  GUARD_TRY(write_all(fd.get(), bytes).context(fmt::format("writing {}", shown(path))));
  if (::fchmod(fd.get(), mode) != 0) return Error::from_errno(ErrorCode::io_error, shown(path), errno);
  return ok();
}

Result<void> make_folders(const std::filesystem::path& path, mode_t mode) {
  constexpr mode_t kParentMode = 0755;
  struct stat there {};
  if (::stat(path.c_str(), &there) == 0 && S_ISDIR(there.st_mode)) return ok();
  std::filesystem::path done;
  for (auto part = path.begin(); part != path.end(); ++part) {
    done /= *part;
    const mode_t wanted = std::next(part) == path.end() ? mode : kParentMode;
    if (::mkdir(done.c_str(), wanted) == 0) {
      ::chmod(done.c_str(), wanted);  // against a umask that is stricter than we mean
      continue;
    }
    if (errno == EEXIST) continue;
    const int number = errno;
    struct stat status {};
    if (::stat(done.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) continue;  // EROFS, EACCES on what is there
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot create folder {}", shown(done)), number);
  }
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return Error::from_errno(ErrorCode::io_error, shown(path), errno);
  if (!S_ISDIR(status.st_mode)) return Error(ErrorCode::io_error, fmt::format("{} is not a folder", shown(path)));
  return ok();
}

Result<void> remove_tree(const std::filesystem::path& path) {
  if (::unlink(path.c_str()) == 0 || errno == ENOENT) return ok();
  const auto open_folder = [&path] { return ::open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); };
  const UniqueFd top(open_folder());
  if (!top) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot remove {}", shown(path)), errno);
  ::fchmod(top.get(), 0700);
  Removal removal{top.get(), 0};
  int failure = 0;
  for (std::uint64_t moved = 1; moved != removal.moved;) {
    moved = removal.moved;
    const int fd = open_folder();
    if (fd < 0) break;
    failure = remove_below(fd, removal, 0);
  }
  if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return ok();
  return Error::from_errno(
      ErrorCode::io_error, fmt::format("cannot remove {}", shown(path)), failure != 0 ? failure : errno);
}

std::filesystem::path temporary_folder() {
  const char* named = std::getenv("TMPDIR");
  return named != nullptr && *named == '/' ? named : "/tmp";
}

Result<TempDir> TempDir::create(const std::filesystem::path& parent) {
  const std::filesystem::path base = parent.empty() ? temporary_folder() : parent;
  const UniqueFd folder(::open(base.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder)
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot create a folder in {}", shown(base)), errno);
  (void)sweep_own(base);
  GUARD_TRY_ASSIGN(
      OwnEntry made, make_own_folder(folder.get()).context(fmt::format("making a folder in {}", shown(base))));
  return TempDir(base / made.name, std::move(made.fd));
}

TempDir::TempDir(TempDir&& other) noexcept : path_(std::exchange(other.path_, {})), lock_(std::move(other.lock_)) {}

TempDir& TempDir::operator=(TempDir&& other) noexcept {
  if (this != &other) {
    if (!path_.empty()) (void)remove_tree(path_);
    path_ = std::exchange(other.path_, {});
    lock_ = std::move(other.lock_);
  }
  return *this;
}

TempDir::~TempDir() {
  if (!path_.empty()) (void)remove_tree(path_);
}

Result<std::filesystem::path> cache_folder() {
  if (const char* named = std::getenv("GUARD_CACHE_DIR"); named != nullptr && *named != '\0') {
    if (*named != '/') return Error(ErrorCode::config_invalid, "GUARD_CACHE_DIR must be an absolute path");
    return std::filesystem::path(named).lexically_normal();
  }
  if (::geteuid() == 0) return std::filesystem::path("/var/cache/guard");
  if (const char* named = std::getenv("XDG_CACHE_HOME"); named != nullptr && *named == '/') {
    return std::filesystem::path(named) / "guard";
  }
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') {
    return std::filesystem::path(home) / ".cache" / "guard";
  }
  return Error(
      ErrorCode::config_invalid, "neither GUARD_CACHE_DIR nor XDG_CACHE_HOME nor HOME says where to keep things")
      .hint("set GUARD_CACHE_DIR to a folder of yours");
}

Result<std::filesystem::path> shared_cache_folder() {
  GUARD_TRY_ASSIGN(const auto folder, cache_folder());
  GUARD_TRY(make_folders(folder, 0755));
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return Error::from_errno(ErrorCode::io_error, shown(folder), errno);
  // Made by somebody with a stricter umask, perhaps. Only root's sandbox runs as another user than the folder's owner.
  if (::geteuid() == 0 && status.st_uid == 0 && (status.st_mode & 0005) != 0005 && ::chmod(folder.c_str(), 0755) != 0) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot open {} to the sandbox's user", shown(folder)), errno);
  }
  return folder;
}

Result<sockaddr_un> socket_address(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const int wrong = path.empty() || path.find('\0') != std::string::npos ? EINVAL
      : path.size() >= sizeof address.sun_path                           ? ENAMETOOLONG
                                                                         : 0;
  if (wrong != 0) return Error::from_errno(ErrorCode::io_error, fmt::format("the socket {}", shown(path)), wrong);
  std::memcpy(address.sun_path, path.data(), path.size());
  return address;
}

}  // namespace guard
