// The shared libraries that native packages need, read from their files.
#pragma once

#include <set>
#include <string>
#include <utility>
#include <vector>

#include "common/result.h"
#include "runner/image/elf_file.h"
#include "runner/image/root_folder.h"

namespace guard {

struct NativeNeeds {
  std::vector<LibraryFile> libraries;  // of the host, their own needs too, without those of `present`; sorted by target
  std::set<std::pair<std::string, std::string>> missing;  // package and library that neither it nor the host has
};

// Of every ELF file for this machine in the installed packages. A library that any package brings itself counts as
// found: the file says where to look for it. Files for another C library (musl) are passed over. IO_ERROR.
Result<NativeNeeds> native_needs(const InstalledTrees& trees, const std::vector<LibraryFile>& present);

}  // namespace guard
