#include "runner/files/folder_names.h"

#include <dirent.h>
#include <fcntl.h>

#include <algorithm>
#include <cerrno>
#include <memory>

#include "common/text/text.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

struct CloseFolder {
  void operator()(DIR* folder) const noexcept { ::closedir(folder); }
};

}  // namespace

Result<std::vector<std::string>> sorted_names(const std::filesystem::path& folder) {
  const UniqueFd fd(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd) return Error::from_errno(ErrorCode::io_error, printable(folder.native()), errno);
  return sorted_names(fd.get(), folder.native());
}

Result<std::vector<std::string>> sorted_names(int folder, std::string_view name, std::size_t most) {
  const auto failed = [&] { return Error::from_errno(ErrorCode::io_error, printable(name), errno); };
  // A description of its own: the position in a folder belongs to it.
  UniqueFd again(::openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return failed();
  const std::unique_ptr<DIR, CloseFolder> entries(::fdopendir(again.get()));
  if (!entries) return failed();
  again.release();
  std::vector<std::string> names;
  while (names.size() < most) {
    errno = 0;
    const dirent* const entry = ::readdir(entries.get());
    if (entry == nullptr && errno != 0) return failed();
    if (entry == nullptr) break;
    const std::string_view found = entry->d_name;
    if (found != "." && found != "..") names.emplace_back(found);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace guard
