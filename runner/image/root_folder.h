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

#include <filesystem>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "runner/image/elf_file.h"
#include "runner/image/package_tree.h"
#include "runner/init_side/attestation_parts.h"

namespace guard {

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
