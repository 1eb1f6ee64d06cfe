// The person's repository, as the loop uses it: revisions are read, commits are made, one branch is moved. Only this
// repository is ever asked by git; what a generator leaves in a clone's .git is not looked at. Nothing is checked out,
// and no index is touched.
//
// Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/change/git.h"
#include "pipeline/change/git_objects.h"
#include "validator/change/change_set.h"

namespace guard::nightly {

struct NewCommit {
  std::string tip;  // its parent
  std::string message;
  std::int64_t time_s = 0;  // Unix; author and committer are guard
};

// git fast-import takes any path. The policy has refused these by name (.git in any spelling, ..); a tree that holds
// one would harm whoever checks it out, so they are refused wherever a change is laid on one.
bool is_path_for_a_tree(std::string_view path);

class NightRepository {
 public:
  // `folder`: anywhere in it. `cancel` must outlive this.
  static Result<NightRepository> open(const std::filesystem::path& folder, const CancelToken& cancel);

  const std::filesystem::path& top() const noexcept { return top_; }
  const std::filesystem::path& common_folder() const noexcept { return common_; }
  const std::string& object_format() const noexcept { return object_format_; }  // "sha1", "sha256"

  // The full id of the commit that `revision` names. INPUT_INVALID.
  Result<std::string> commit_id(const std::string& revision) const;
  // What it holds, without sizes.
  Result<std::shared_ptr<const TreeEntries>> listing(const std::string& commit) const;

  Result<std::optional<std::string>> tip(const std::string& branch) const;
  // INPUT_INVALID where there is such a branch, or the name is none for a branch.
  Result<void> create_branch(const std::string& branch, const std::string& commit) const;

  // Makes the commit that holds `change` on top of `what.tip`, and shows that it holds nothing else. No branch moves; a
  // reference below refs/guard/pending/ keeps it from being collected until settle().
  Result<std::string> make_commit(const NewCommit& what, const ChangeSet& change, const std::string& pending) const;
  // Moves the branch if it still is at `from`; INPUT_INVALID where somebody else moved it.
  Result<void> move_branch(const std::string& branch, const std::string& from, const std::string& to) const;
  Result<void> settle(const std::string& pending) const;

  // Whether `commit` is `tip` or comes before it.
  Result<bool> contains(const std::string& tip, const std::string& commit) const;
  // Unified, of the commit against its parent, at most `bytes_max` of it.
  Result<std::string> diff(const std::string& commit, std::size_t bytes_max) const;

  // A commit with its tree and without its history, as one file; made in `folder` unless it is there. Answers the file.
  Result<std::filesystem::path> pack(const std::string& commit, const std::filesystem::path& folder) const;
  // A repository of that commit alone, made of such a file.
  static Result<NightRepository> unpack(const std::filesystem::path& pack, const std::string& commit,
      const std::string& object_format, const std::filesystem::path& folder, const CancelToken& cancel);

  const Git& git() const noexcept { return git_; }

 private:
  NightRepository(
      std::filesystem::path top, std::filesystem::path common, std::string object_format, const CancelToken& cancel);
  std::filesystem::path top_;
  std::filesystem::path common_;
  std::string object_format_;
  Git git_;
  struct Cache {
    std::mutex mutex;
    std::map<std::string, std::shared_ptr<const TreeEntries>> listings;
  };
  std::unique_ptr<Cache> cache_;
};

}  // namespace guard::nightly
