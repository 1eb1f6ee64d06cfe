#include "cli/output_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <utility>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard {

Result<OutputFile> OutputFile::open(std::string_view option, const std::string& path) {
  const std::string shown = fmt::format("{} {}", option, printable(path));
  // Not to wait for the reader of a FIFO.
  UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC, 0600));
  if (!fd && errno == ELOOP) return Error(ErrorCode::input_invalid, shown + " is a symbolic link").hint("name a file");
  if (!fd) return Error::from_errno(ErrorCode::input_invalid, shown, errno);
  struct stat found {};
  if (::fstat(fd.get(), &found) != 0) return Error::from_errno(ErrorCode::io_error, shown, errno);
  if (!S_ISREG(found.st_mode))
    return Error(ErrorCode::input_invalid, shown + " is not a regular file").hint("name a file");
  return OutputFile(option, path, std::move(fd));
}

Result<void> OutputFile::differs_from(int fd, std::string_view option) const {
  if (fd < 0) return ok();
  struct stat own {};
  struct stat other {};
  if (::fstat(fd_.get(), &own) != 0 || ::fstat(fd, &other) != 0) return failure(ErrorCode::io_error, errno);
  if (own.st_dev != other.st_dev || own.st_ino != other.st_ino) return ok();
  return Error(ErrorCode::input_invalid, fmt::format("{} and {} name the same file", option_, option))
      .hint("give each a file of its own");
}

Result<void> OutputFile::empty() {
  if (::ftruncate(fd_.get(), 0) == 0) return ok();
  return failure(ErrorCode::io_error, errno);
}

Result<void> OutputFile::push(std::span<const char> bytes) {
  GUARD_TRY(write_all(fd_.get(), {bytes.data(), bytes.size()}).context(fmt::format("writing {}", printable(path_))));
  bytes_ += bytes.size();
  hash_.update(bytes);
  return ok();
}

Result<void> OutputFile::finish() {
  if (::close(fd_.release()) == 0) return ok();
  return failure(ErrorCode::io_error, errno);
}

Error OutputFile::failure(ErrorCode code, int error_number) const {
  return Error::from_errno(code, fmt::format("{} {}", option_, printable(path_)), error_number);
}

}  // namespace guard
