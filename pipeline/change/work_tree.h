// The files that lie in a work tree, compared with those of a commit. Every folder is read and every file opened by
// ourselves, by name in its folder's descriptor and without following links: index flags, filters, attributes,
// fsmonitor and whatever else a repository can be made to say about its files make no difference.
//
// What the .gitignore files of the commit leave out is left out. One that was changed since, or that lies outside of
// the commit, hides nothing: it is part of the change, and so is all that it would have hidden.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/result.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/change/git_objects.h"
#include "validator/change/change_set.h"

namespace guard {

struct WorkTreeChange {
  std::vector<ChangedFile> files;  // new bytes and kinds; what they were before is for the caller to fill in
  std::uint64_t count = 0;         // all that differ; `files` has the first of them
  std::vector<Finding> findings;
};

// `top` is the root of the work tree of `git`. `id_digits` as the repository's ids have them. Of `limits` those of
// files and bytes count. IO_ERROR where something cannot be read, CANCELLED.
Result<WorkTreeChange> compare_work_tree(const std::filesystem::path& top, const Git& git, const TreeEntries& base,
    std::size_t id_digits, const ChangeRequest& limits, const CancelToken& cancel);

}  // namespace guard
