#include "runner/files/scratch_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
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

Result<UniqueFd> memory_file(const char* name, std::string_view bytes, Sealed sealed) {
  UniqueFd file(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING));
  const auto failed = [](const char* what) {
    return Error::from_errno(ErrorCode::environment_creation_failed, what, errno);
  };
  if (!file) return failed("memfd_create");
  GUARD_TRY(write_all(file.get(), bytes));
  if (::lseek(file.get(), 0, SEEK_SET) != 0) return failed("lseek");
  constexpr int kSeals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_WRITE | F_SEAL_SEAL;
  if (sealed == Sealed::yes && ::fcntl(file.get(), F_ADD_SEALS, kSeals) != 0) return failed("sealing a file in memory");
  return file;
}

}  // namespace guard
