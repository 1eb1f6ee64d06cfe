// Puts files into a folder of the person's: all of them, or none.
//
// The folder is opened once, before anything runs, and everything below it is reached one name at a time from there,
// never through a link: whoever swaps a folder meanwhile moves the files with it or makes the writing fail. Nothing
// that is there is ever replaced. Files are first written and synced in a private folder (own_entry.h), and then linked
// to their names, which fails where a name is taken. A guard that is killed meanwhile leaves that folder to the next
// start. POSIX calls only: this is no part of a sandbox.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "common/unique_fd.h"
#include "runner/init_side/collection.h"

namespace guard {

class TargetFolder {
 public:
  // FILE_NOT_FOUND, IO_ERROR; INPUT_INVALID where it is a link or no folder.
  static Result<TargetFolder> open(const std::filesystem::path& folder);

  // Whether each file of `files` was written, in their order; one whose name was taken was not. Paths are below the
  // folder; each becomes a file of mode 0644, never executable, less what the umask takes away; missing folders are
  // made. An Error says that nothing is left of any of them, or what could not be removed.
  Result<std::vector<bool>> write(const std::vector<CollectedFile>& files) const;

 private:
  explicit TargetFolder(UniqueFd folder) : folder_(std::move(folder)) {}
  UniqueFd folder_;
};

}  // namespace guard
