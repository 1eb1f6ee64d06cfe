#include "runner/files/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_io.h"
#include "common/own_entry.h"
#include "common/text/text.h"

namespace guard {

Result<ScratchFile> ScratchFile::create(const std::filesystem::path& folder) {
  const UniqueFd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const std::string what = fmt::format("cannot create a file in {}", printable(folder.native()));
  if (!parent) return Error::from_errno(ErrorCode::io_error, what, errno);
  GUARD_TRY_ASSIGN(OwnEntry file, make_own_file(parent.get()).context(what));
  ::unlinkat(parent.get(), file.name.c_str(), 0);
  return ScratchFile(std::move(file.fd));
}

Result<void> ScratchFile::push(std::span<const char> bytes) {
  bytes_ += bytes.size();
  return write_all(fd_.get(), std::string_view(bytes.data(), bytes.size()));
}

Result<UniqueFd> ScratchFile::take() {
  if (::lseek(fd_.get(), 0, SEEK_SET) != 0) return Error::from_errno(ErrorCode::io_error, "lseek", errno);
  return std::move(fd_);
}

}  // namespace guard
