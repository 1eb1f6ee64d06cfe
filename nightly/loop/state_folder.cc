#include "nightly/loop/state_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

bool is_inside(const fs::path& path, const fs::path& folder) {
  const auto relative = path.lexically_relative(folder);
  return !relative.empty() && *relative.begin() != "..";
}

Result<UniqueFd> open_lock(const fs::path& path, int flags) {
  UniqueFd file(::open(path.c_str(), flags | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file)
    return Error::from_errno(
        errno == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error, "the lock of the nightly loop", errno);
  return file;
}

// "<pid> <night>\n"
NightLock::Holder written_holder(int fd) {
  char text[256] = {};
  const ssize_t size = ::pread(fd, text, sizeof text - 1, 0);
  NightLock::Holder holder;
  if (size <= 0) return holder;
  std::string_view rest(text, static_cast<std::size_t>(size));
  take_number(rest, holder.process);
  if (rest.starts_with(' ')) holder.night = std::string(rest.substr(1, rest.find('\n') - 1));
  return holder;
}

Result<UniqueFd> take_lock(const fs::path& path) {
  GUARD_TRY_ASSIGN(UniqueFd file, open_lock(path, O_RDWR | O_CREAT));
  if (::flock(file.get(), LOCK_EX | LOCK_NB) == 0) return file;
  if (errno != EWOULDBLOCK) return Error::from_errno(ErrorCode::io_error, "locking the nightly loop", errno);
  return Error(ErrorCode::input_invalid,
      fmt::format("another loop works on this repository: process {}", written_holder(file.get()).process))
      .hint("`guard nightly status` says what it does, `guard nightly stop` ends it");
}

Result<void> write_holder(int fd, const std::string& night) {
  const std::string text = fmt::format("{} {}\n", ::getpid(), night);
  if (::ftruncate(fd, 0) == 0 && ::pwrite(fd, text.data(), text.size(), 0) == static_cast<ssize_t>(text.size()))
    return ok();
  return Error::from_errno(ErrorCode::io_error, "writing the lock of the nightly loop", errno);
}

}  // namespace

Result<StateFolder> StateFolder::of(const fs::path& top, const std::string& named, const Environment& environment) {
  std::error_code failure;
  fs::path path = fs::absolute(named, failure);
  if (named.empty()) {
    GUARD_TRY_ASSIGN(const fs::path root, state_root(environment));
    path = fs::absolute(root, failure) / "nightly" /
        fmt::format("{}-{}", top.filename().native(), sha256_hex(top.native()).substr(0, 12));
  }
  path = fs::weakly_canonical(path, failure);
  if (failure)
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("the folder {}", printable(path.native())), failure.value());
  if (is_inside(path, top)) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} lies in the repository that the night works on", printable(path.native())))
        .hint("name a folder outside of it with --state or GUARD_STATE_DIR");
  }
  return StateFolder(std::move(path));
}

Result<void> StateFolder::make() const {
  for (const auto& folder : {path_, clones(), path_ / "evidence", path_ / "outputs", path_ / "kept"}) {
    GUARD_TRY(make_folders(folder, 0700));
  }
  struct stat info {};
  if (::lstat(path_.c_str(), &info) != 0)
    return Error::from_errno(ErrorCode::io_error, printable(path_.native()), errno);
  if (info.st_uid != ::geteuid()) {
    return Error(ErrorCode::input_invalid, fmt::format("{} belongs to another user", printable(path_.native())))
        .hint("name a folder of your own with --state");
  }
  // A journal that others may write decides nothing.
  if ((info.st_mode & 0022) != 0) {
    return Error(ErrorCode::input_invalid, fmt::format("{} may be written by others", printable(path_.native())))
        .hint("chmod go-w it, or name another one with --state");
  }
  return ok();
}

void StateFolder::beat() const noexcept {
  const UniqueFd file(::open((path_ / "heartbeat").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (file) ::futimens(file.get(), nullptr);
}

std::uint64_t free_bytes(const fs::path& folder) noexcept {
  struct statvfs info {};
  if (::statvfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<std::uint64_t>(info.f_bavail) * info.f_frsize;
}

Result<NightLock> NightLock::take(const StateFolder& state, const fs::path& common) {
  GUARD_TRY_ASSIGN(UniqueFd file, take_lock(state.path() / "lock"));
  GUARD_TRY_ASSIGN(UniqueFd shared, take_lock(common / "guard-nightly.lock"));
  NightLock lock(std::move(file), std::move(shared));
  GUARD_TRY(lock.name(""));
  return lock;
}

Result<void> NightLock::name(const std::string& night) const {
  GUARD_TRY(write_holder(shared_.get(), night));
  return write_holder(file_.get(), night);
}

Result<std::optional<NightLock::Holder>> NightLock::holder(const StateFolder& state) {
  auto file = open_lock(state.path() / "lock", O_RDONLY);
  if (!file) {
    if (file.error().code() == ErrorCode::file_not_found) return std::optional<Holder>();
    return std::move(file).error();
  }
  if (::flock(file->get(), LOCK_SH | LOCK_NB) == 0) return std::optional<Holder>();
  if (errno != EWOULDBLOCK)
    return Error::from_errno(ErrorCode::io_error, "asking for the lock of the nightly loop", errno);
  return std::optional<Holder>(written_holder(file->get()));
}

NightState observed_state(const Night& night, const std::optional<NightLock::Holder>& holder) noexcept {
  const bool worked_on = holder && holder->night == night.id;
  return night.state == NightState::running && !worked_on ? NightState::killed : night.state;
}

}  // namespace guard::nightly
