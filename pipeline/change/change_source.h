// Where a change comes from: two commits, git's index, the work tree or a patch, each compared with a base. What is
// read here is what is judged. Nothing that the repository configures is run: git tells names, modes and object ids
// (`--raw -z`) and gives contents by object id; files of the work tree are opened by ourselves, without following
// links.
//
// The answers of a repository that a generator could write to are only as good as its objects and the names that it
// gives them: a base is best named by its full id. Grafts, replaced objects, attributes, filters and index flags make
// no difference.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/change/git.h"
#include "validator/change/change_set.h"

namespace guard {

enum class ChangeFrom : std::uint8_t {
  work_tree,  // what lies in the work tree, tracked or not, except what the .gitignore files of the base leave out
  index,      // what `git commit` would commit
  commit,     // `head`
  patch,      // what the base would be with `patch`
};

struct ChangeRequest {
  ChangeFrom from = ChangeFrom::work_tree;
  std::string base;   // a revision; empty: HEAD, or the empty tree where there is no commit yet
  std::string head;   // a revision, for ChangeFrom::commit
  std::string patch;  // unified, as `git diff` or `diff -u` writes it
  // For ChangeFrom::work_tree: another folder than the repository's own work tree, a clone that a generator had in its
  // hands, say. Its files are compared with the base of this repository; what lies in its .git is neither read nor
  // believed.
  std::filesystem::path work_tree;
  std::uint64_t file_bytes_max = UINT64_MAX;  // of larger files only the size is told (ChangedFile::unread)
  std::uint64_t bytes_max = UINT64_MAX;       // of all texts before, and of all texts after
  std::uint64_t files_max = UINT64_MAX;       // more are not listed; then ChangeSet::findings says how many there are
  bool list_unchanged = false;                // fill ChangeSet::unchanged
};

struct CollectedChange {
  std::filesystem::path top;  // the repository's root folder
  std::string base;           // id of the commit; empty: the empty tree
  ChangeSet change;
};

// In the repository that holds `folder`. INPUT_INVALID where a revision cannot be found, the patch does not apply, or
// git cannot read the repository; PROTOCOL_ERROR where contents are missing (a partial clone); IO_ERROR.
Result<CollectedChange> collect_change(
    const std::filesystem::path& folder, const ChangeRequest& request, const CancelToken& cancel);

// The id of the commit that `revision` names there; empty for an empty name where there is no commit yet.
Result<std::string> commit_id(
    const std::filesystem::path& folder, std::string_view revision, const CancelToken& cancel);

// The text of `path` at `revision` (empty: HEAD) in the repository holding `folder`; empty when it has no such file.
// Configuration of a gated change comes from there, never from what the change itself brings.
Result<std::string> read_at(
    const std::filesystem::path& folder, std::string_view revision, std::string_view path, const CancelToken& cancel);
// `git` stands in the repository's root folder.
Result<std::string> read_at(const Git& git, std::string_view revision, std::string_view path);

}  // namespace guard
