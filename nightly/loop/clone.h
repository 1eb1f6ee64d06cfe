// A clone for one attempt, and what a generator changed in it.
//
// It has objects of its own and borrows those of the repository (alternates); no remote, no hooks, no template. Files
// stand in it with the very bytes of the repository: no attribute converts them. Once a generator has worked in it, git
// never runs there again: what was changed is found by reading its files ourselves, without following a link, and
// comparing with the repository (pipeline/change/change_source.h).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

#include "common/cancel.h"
#include "common/result.h"
#include "nightly/loop/night_repository.h"
#include "validator/change/change_set.h"

namespace guard::nightly {

class Clone {
 public:
  // Makes `folder`, which must not be there, and checks `commit` out. The repository must outlive the clone.
  static Result<Clone> create(
      const NightRepository& repository, const std::filesystem::path& folder, const std::string& commit);

  const std::filesystem::path& folder() const noexcept { return folder_; }
  const std::string& commit() const noexcept { return commit_; }

  // What differs from `commit`, but for what the .gitignore files of the commit leave out; and what was put into its
  // .git to be run later. Nobody may write to the clone meanwhile. A larger file is not read: ChangedFile::unread.
  Result<ChangeSet> read_change(std::uint64_t file_bytes_max, const CancelToken& cancel) const;

  // Lays a change over the checked out files: the tree that is judged. Regular files only. INPUT_INVALID for what a
  // link of the tree would lead elsewhere.
  Result<void> apply(const ChangeSet& change) const;

 private:
  Result<void> look_for_traps(ChangeSet& change) const;

  Clone(const NightRepository& repository, std::filesystem::path folder, std::string commit)
      : repository_(&repository), folder_(std::move(folder)), commit_(std::move(commit)) {}

  const NightRepository* repository_;
  std::filesystem::path folder_;
  std::string commit_;
};

}  // namespace guard::nightly
