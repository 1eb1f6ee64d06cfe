#include "runner/files/folder_names.h"

#include <algorithm>
#include <system_error>

#include "common/text/text.h"

namespace guard {

Result<std::vector<std::string>> sorted_names(const std::filesystem::path& folder) {
  std::error_code failure;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    names.push_back(entry->path().filename().string());
  }
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(folder.native()), failure.value());
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace guard
