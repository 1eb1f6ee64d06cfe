// Taking over a tree of installed packages, which is foreign: an archive from a registry can hold any kind of entry.
#pragma once

#include <cstdint>
#include <filesystem>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct PackageTreeLimits {
  std::uint64_t entries_max = 400'000;  // large front-end projects have some 100,000
  std::uint64_t bytes_max = 8ull << 30;
};

// Copies the tree below `from` to the new folder `to`: regular files as 0644 or 0755 (so no setuid), folders as 0755,
// and links that are relative and lead to something within the tree. Anything else in it is DEPENDENCY_UNSATISFIED.
// Nobody else may write to `from` meanwhile: it is a private folder of guard's. Times are set to 0.
Result<void> copy_package_tree(const std::filesystem::path& from, const std::filesystem::path& to,
                               const PackageTreeLimits& limits, const CancelToken& cancel);

}  // namespace guard
