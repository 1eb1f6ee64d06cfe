#include "runner/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <stdlib.h>
#include <unistd.h>

#include <cerrno>

#include "common/file_io.h"
#include "common/text.h"
#include "runner/image_cache.h"

namespace guard {

Result<ScratchFile> ScratchFile::create(const std::filesystem::path& folder) {
  std::string name = (folder / fmt::format("{}archive-XXXXXX", ImageCache::kTempPrefix)).string();
  UniqueFd fd(::mkostemp(name.data(), O_CLOEXEC));
  if (!fd)
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot create a file in {}", printable(folder.native())),
                             errno);
  ::unlink(name.c_str());
  return ScratchFile(std::move(fd));
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
