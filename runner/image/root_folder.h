// The root folder of the sandbox: what a tested program sees as "/", and what becomes the one layer of the engine's
// image.
//
//   usr/local/bin/bun            the program
//   lib/..., lib64/...           the loader and libraries it needs, where they are looked for
//   usr/bin/                     the tools that the configuration names
//   usr/local/lib/guard/         the attestation script, with links to it at the top
//   etc/                         passwd, group, nsswitch.conf, hosts: as little as a C library is content with
//   modules/node_modules/        the packages of the lockfile, and modules/packages/a/node_modules those of a
//   workspace; the project
//                                as staged has links to them
//   app, dev, proc, run, sys, tmp                       places to mount on
//
// World-readable and writable for nobody but its owner, whoever builds it: the program inside is another user, or is
// kept from writing by a read-only mount.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "runner/image/bun_binary.h"
#include "runner/image/elf_file.h"

namespace guard {

// Installed packages are foreign: an archive from a registry can hold any kind of entry.
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

struct RootFolderParts {
  std::filesystem::path bun;
  std::string bun_sha256;
  unsigned bun_mode = 0111;  // 0111 or 0755
  std::vector<LibraryFile> libraries;
  std::vector<std::string> library_sha256;  // one each, in the same order
  InstalledTrees packages;                  // no module folders: none
  AttestationParts attestation;
};

// Makes `root`, which must not be there. IO_ERROR when a part is no longer what its digest says; DEPENDENCY_UNSATISFIED
// for what may not be among packages. What was made until then stays behind: `root` belongs in a TempDir.
Result<void> write_root_folder(
    const std::filesystem::path& root, const RootFolderParts& parts, const CancelToken& cancel);

}  // namespace guard
