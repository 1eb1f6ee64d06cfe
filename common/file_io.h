// Reading and writing files without surprises: size limits, no half-written files, links seen for what they are.
#pragma once

#include <sys/types.h>
#include <sys/un.h>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

enum class FollowLinks { no, yes };

// the_program: guard only passes on what is in it, so nothing that guard does depends on it (common/read_watch.h).
enum class ReadFor { guard, the_program };

// The whole of a regular file. FILE_NOT_FOUND, FILE_TOO_LARGE (over `bytes_max`), INPUT_INVALID (a folder, FIFO,
// socket, device, or a symbolic link where FollowLinks::no), IO_ERROR with errno.
Result<std::string> read_file(const std::filesystem::path& path, std::uint64_t bytes_max,
    FollowLinks follow = FollowLinks::yes, ReadFor purpose = ReadFor::guard);

// Everything that can be read from `fd`, at most `bytes_max`; FILE_TOO_LARGE beyond.
Result<std::string> read_all(int fd, std::uint64_t bytes_max, std::string_view name);

// Writes all of `bytes` to `fd`, across short writes and EINTR.
Result<void> write_all(int fd, std::string_view bytes);

// Through a temporary file in the same folder and a rename: readers see the old file or the new one, never half of it.
Result<void> write_file_atomically(const std::filesystem::path& path, std::string_view bytes, mode_t mode = 0644);

// A file that must not be there yet (O_EXCL, no links followed), without fsync: for what is lost with the run anyway.
Result<void> write_new_file(const std::filesystem::path& path, std::string_view bytes, mode_t mode = 0644);

// `mkdir -p` with `mode` for the last folder, where it has to be made; parents are made with 0755.
Result<void> make_folders(const std::filesystem::path& path, mode_t mode = 0755);

// Removes a tree without following links, also where folders in it were made unwritable. What is not there is no error.
Result<void> remove_tree(const std::filesystem::path& path);

// A folder of ours that is removed, with all in it, when this goes out of scope; by the next one that is made beside
// it, where we are killed before (own_entry.h).
class TempDir {
 public:
  // Below `parent` (empty: $TMPDIR, else /tmp), mode 0700.
  static Result<TempDir> create(const std::filesystem::path& parent = {});
  TempDir(TempDir&& other) noexcept;
  TempDir& operator=(TempDir&& other) noexcept;
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir();
  const std::filesystem::path& path() const noexcept { return path_; }

 private:
  TempDir(std::filesystem::path path, UniqueFd lock) : path_(std::move(path)), lock_(std::move(lock)) {}
  std::filesystem::path path_;
  UniqueFd lock_;
};

// $TMPDIR, else /tmp.
std::filesystem::path temporary_folder();

// Where guard keeps what may be lost: $GUARD_CACHE_DIR, else /var/cache/guard for root (the sandbox runs as another
// user and must be able to walk there), else $XDG_CACHE_HOME/guard, else ~/.cache/guard. Not created by this call.
Result<std::filesystem::path> cache_folder();

// The same, made where it is missing, and such that the user that root's sandbox runs as can walk through it.
Result<std::filesystem::path> shared_cache_folder();

// Of a socket in the file system. IO_ERROR with EINVAL for an empty path and a NUL (it would end the path early, and a
// first one names an abstract socket that anybody may own), with ENAMETOOLONG for what a socket's name can't hold.
Result<sockaddr_un> socket_address(const std::string& path);

}  // namespace guard
