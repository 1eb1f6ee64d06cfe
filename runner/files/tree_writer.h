// Makes files and folders with exactly the given mode, whatever the umask, and with the time 0: the tree is then a pure
// function of its contents. Paths are full paths; parents must be there.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

Result<void> new_folder(const std::filesystem::path& path, mode_t mode = 0755);
Result<void> new_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode = 0644);

struct CopiedFile {
  std::uint64_t bytes = 0;
  std::string sha256_hex;
};
// Reads `source` once and says what was copied, so that a source that has changed since it was looked at is noticed.
// FILE_TOO_LARGE beyond `bytes_max`. A link as `source` is INPUT_INVALID.
Result<CopiedFile> copy_to_new_file(const std::filesystem::path& source, const std::filesystem::path& path, mode_t mode,
    std::uint64_t bytes_max, const CancelToken& cancel);

// What is left of an open file, piece by piece; an Error from `take` ends it. `cancel` may be none.
Result<void> each_chunk(int fd, const std::filesystem::path& name, const CancelToken* cancel,
    const std::function<Result<void>(std::string_view bytes)>& take);

// The time of a folder changes with every entry made in it, so it is set when the folder is complete. Links too.
Result<void> clear_time(const std::filesystem::path& path);

}  // namespace guard
