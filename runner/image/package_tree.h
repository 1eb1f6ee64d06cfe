// Taking over trees of installed packages, which are foreign: an archive from a registry can hold any kind of entry.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct PackageTreeLimits {
  std::uint64_t entries_max = 400'000;  // large front-end projects have some 100,000
  std::uint64_t bytes_max = 8ull << 30;
};

// What an install made. Nobody else may write there meanwhile: it is a private folder of guard's.
struct InstalledTrees {
  std::filesystem::path folder;
  std::vector<std::string> module_folders;  // relative to `folder`, "" or "packages/a": where a node_modules lies
  std::vector<std::string> workspaces;      // relative to `folder`: "" is the root package
};

// Copies each `<place>/node_modules` to `to/<place>/node_modules`, whose parents are there: regular files as 0644 or
// 0755 (so no setuid), folders as 0755. Times are set to 0.
//
// A link counts by where it really leads, and is written anew: within the copied trees it stays a relative link; into a
// workspace it becomes an absolute one below `project`, where a run finds the project. Anything else, and any entry
// that is no file, folder or link, is DEPENDENCY_UNSATISFIED.
Result<void> copy_package_trees(const InstalledTrees& trees, const std::filesystem::path& to,
    const std::filesystem::path& project, const PackageTreeLimits& limits, const CancelToken& cancel);

}  // namespace guard
