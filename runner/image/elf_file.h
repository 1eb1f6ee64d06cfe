// What a program needs to start: its loader and its shared libraries, read from the file itself. Nothing is executed to
// find out, as ldd would.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "common/result.h"

namespace guard {

struct ElfFile {
  std::string interpreter;          // "/lib64/ld-linux-x86-64.so.2"; empty for a static program or a library
  std::vector<std::string> needed;  // "libc.so.6", as written in the file
};

// Empty when the file is no ELF at all, or one for another machine: a script, say. IO_ERROR, FILE_NOT_FOUND;
// INPUT_INVALID when it starts like an ELF file for this machine and is damaged.
Result<std::optional<ElfFile>> read_elf(const std::filesystem::path& path);

// A file of the host and where a program inside looks for it.
struct LibraryFile {
  std::filesystem::path source;  // no link on the way
  std::string target;            // relative to the root: "lib/x86_64-linux-gnu/libc.so.6"
};

// The loader of `program` and all libraries that it needs, their own needs too, sorted by target. Looked for where the
// loader looks by default. DEPENDENCY_UNSATISFIED names the one that is missing.
Result<std::vector<LibraryFile>> needed_libraries(const std::filesystem::path& program);
// The same for libraries by their names, without a loader.
Result<std::vector<LibraryFile>> needed_libraries(const std::vector<std::string>& names);

}  // namespace guard
