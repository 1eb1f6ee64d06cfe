#include "common/own_entry.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::string_view kPrefix = ".guard-";
constexpr std::size_t kDigits = 16;
// A sweep may come between the making and the lock, and one in a loop wins one time in three. It would have to come
// every time.
constexpr int kTries = 64;

Result<std::string> new_name() {
  unsigned char bytes[kDigits / 2];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes))
    return Error::from_errno(ErrorCode::io_error, "getrandom", errno);
  std::string name(kPrefix);
  for (const unsigned char byte : bytes) name += fmt::format("{:02x}", byte);
  return name;
}

bool is_still_named(int parent, const std::string& name, int fd) {
  struct stat held {};
  struct stat there {};
  return ::fstat(fd, &held) == 0 && ::fstatat(parent, name.c_str(), &there, AT_SYMLINK_NOFOLLOW) == 0 &&
      held.st_dev == there.st_dev && held.st_ino == there.st_ino;
}

// A file system without locks has nobody who could take one, either.
enum class Lock { taken, held_by_other, unknown };
Lock try_lock(int fd) {
  if (::flock(fd, LOCK_EX | LOCK_NB) == 0) return Lock::taken;
  return errno == EWOULDBLOCK ? Lock::held_by_other : Lock::unknown;
}

template <typename Make>
Result<OwnEntry> make_entry(int parent, Make make) {
  for (int left = kTries;; --left) {
    OwnEntry entry;
    GUARD_TRY_ASSIGN(entry.name, new_name());
    entry.fd = make(entry.name.c_str());
    if (!entry.fd && (errno != ENOENT || left == 0))
      return Error::from_errno(ErrorCode::io_error, "cannot create a file or folder", errno);
    if (entry.fd && try_lock(entry.fd.get()) != Lock::held_by_other &&
        is_still_named(parent, entry.name, entry.fd.get()))
      return entry;
    if (left == 0) return Error(ErrorCode::io_error, "what was just created was removed by somebody");
  }
}

}  // namespace

Result<OwnEntry> make_own_file(int parent) {
  return make_entry(parent, [parent](const char* name) {
    return UniqueFd(::openat(parent, name, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  });
}

Result<OwnEntry> make_own_folder(int parent, mode_t mode) {
  return make_entry(parent, [parent, mode](const char* name) {
    if (::mkdirat(parent, name, mode) != 0) {
      // ENOENT is for what a sweep took away; a parent that is gone is no reason to try again.
      if (errno == ENOENT) errno = ENOTDIR;
      return UniqueFd();
    }
    return UniqueFd(::openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  });
}

bool is_own_name(std::string_view name) noexcept {
  return name.size() == kPrefix.size() + kDigits && name.starts_with(kPrefix) &&
      name.find_first_not_of("0123456789abcdef", kPrefix.size()) == std::string_view::npos;
}

OwnSweep sweep_own(const std::filesystem::path& folder, SweepMode mode) {
  OwnSweep sweep;
  const auto close = [](DIR* stream) { ::closedir(stream); };
  const std::unique_ptr<DIR, decltype(close)> stream(::opendir(folder.c_str()), close);
  if (!stream) {
    if (errno != ENOENT && errno != ENOTDIR && errno != EACCES)
      sweep.failed.push_back(
          Error::from_errno(ErrorCode::io_error, fmt::format("cannot list {}", printable(folder.native())), errno)
              .message());
    return sweep;
  }
  const int parent = ::dirfd(stream.get());
  while (const dirent* entry = ::readdir(stream.get())) {
    const std::string name = entry->d_name;
    if (!is_own_name(name)) continue;
    struct stat found {};
    if (::fstatat(parent, name.c_str(), &found, AT_SYMLINK_NOFOLLOW) != 0 || found.st_uid != ::geteuid()) continue;
    if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) continue;
    const UniqueFd lock(::openat(parent, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (!lock || try_lock(lock.get()) != Lock::taken || !is_still_named(parent, name, lock.get())) continue;
    if (auto removed = mode == SweepMode::list ? ok() : remove_tree(folder / name); removed) {
      sweep.removed.push_back((folder / name).string());
    } else {
      sweep.failed.push_back(removed.error().message());
    }
  }
  return sweep;
}

}  // namespace guard
