#include "runner/files/tree_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <vector>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

constexpr std::array<timespec, 2> kTimeZero{};
constexpr std::size_t kChunk = 1 << 20;

Error failed(std::string_view what, const std::filesystem::path& path, int number) {
  return Error::from_errno(ErrorCode::io_error, fmt::format("cannot {} {}", what, printable(path.native())), number);
}

Result<UniqueFd> create(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd) return failed("create", path, errno);
  return fd;
}

Result<void> seal(const UniqueFd& fd, const std::filesystem::path& path, mode_t mode) {
  if (::fchmod(fd.get(), mode) != 0) return failed("set the mode of", path, errno);
  if (::futimens(fd.get(), kTimeZero.data()) != 0) return failed("set the time of", path, errno);
  return ok();
}

}  // namespace

Result<void> new_folder(const std::filesystem::path& path, mode_t mode) {
  if (::mkdir(path.c_str(), 0700) != 0) return failed("create folder", path, errno);
  if (::chmod(path.c_str(), mode) != 0) return failed("set the mode of", path, errno);
  return ok();
}

Result<void> new_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  GUARD_TRY_ASSIGN(const UniqueFd fd, create(path));
  GUARD_TRY(write_all(fd.get(), bytes).context(fmt::format("writing {}", printable(path.native()))));
  return seal(fd, path, mode);
}

Result<CopiedFile> copy_to_new_file(const std::filesystem::path& source, const std::filesystem::path& path, mode_t mode,
    std::uint64_t bytes_max, const CancelToken& cancel) {
  UniqueFd in(::open(source.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!in && errno == ELOOP)
    return Error(ErrorCode::input_invalid, fmt::format("{} is a symbolic link", printable(source.native())));
  if (!in) return failed("open", source, errno);
  struct stat status {};
  if (::fstat(in.get(), &status) != 0) return failed("look at", source, errno);
  if (!S_ISREG(status.st_mode))
    return Error(ErrorCode::input_invalid, fmt::format("{} is not a regular file", printable(source.native())));

  GUARD_TRY_ASSIGN(const UniqueFd out, create(path));
  CopiedFile copied;
  Sha256 hash;
  GUARD_TRY(each_chunk(in.get(), source, &cancel, [&](std::string_view bytes) -> Result<void> {
    copied.bytes += bytes.size();
    if (copied.bytes > bytes_max) {
      return Error(ErrorCode::file_too_large,
          fmt::format("{} is over the limit of {} bytes", printable(source.native()), bytes_max));
    }
    hash.update(bytes);
    return write_all(out.get(), bytes).context(fmt::format("writing {}", printable(path.native())));
  }));
  copied.sha256_hex = hash.finish_hex();
  GUARD_TRY(seal(out, path, mode));
  return copied;
}

Result<void> each_chunk(int fd, const std::filesystem::path& name, const CancelToken* cancel,
    const std::function<Result<void>(std::string_view bytes)>& take) {
  std::vector<char> chunk(kChunk);
  for (;;) {
    if (cancel != nullptr && cancel->cancelled()) return Error(ErrorCode::cancelled, "stopped while reading files");
    const ssize_t count = ::read(fd, chunk.data(), chunk.size());
    if (count == 0) return ok();
    if (count < 0 && errno == EINTR) continue;
    if (count < 0) return failed("read", name, errno);
    GUARD_TRY(take({chunk.data(), static_cast<std::size_t>(count)}));
  }
}

Result<void> clear_time(const std::filesystem::path& path) {
  if (::utimensat(AT_FDCWD, path.c_str(), kTimeZero.data(), AT_SYMLINK_NOFOLLOW) != 0)
    return failed("set the time of", path, errno);
  return ok();
}

}  // namespace guard
