// SHA-256 of large files that seldom change (bun has some 100 MB), remembered between runs of guard in
// <cache>/file-digests. A remembered digest counts only while the file's device, inode, size, change time and
// modification time are what they were.
//
// The change time cannot be set by who writes the file, and whoever can set the clock or write to the cache folder is
// the person who runs guard. What cannot be read or kept is computed again: the memory is a convenience, never a
// condition.
//
// Not thread-safe; several processes may share the file.
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "common/result.h"

namespace guard {

class FileDigests {
 public:
  explicit FileDigests(const std::filesystem::path& cache) : store_(cache / "file-digests") { load(); }
  ~FileDigests() { save(); }
  FileDigests(const FileDigests&) = delete;
  FileDigests& operator=(const FileDigests&) = delete;

  // Of a regular file. FILE_NOT_FOUND, INPUT_INVALID, IO_ERROR.
  Result<std::string> sha256_hex_of(const std::filesystem::path& path);

 private:
  void load();
  void save() noexcept;

  std::filesystem::path store_;
  std::map<std::string, std::string> known_;  // what identifies a file -> its digest
  bool changed_ = false;
};

}  // namespace guard
