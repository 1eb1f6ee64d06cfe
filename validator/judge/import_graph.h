// Which files of one call load which others, told from the names that stand in them.
//
// A name may stand for several files (a.ts and a.tsx, a folder's index), and a name that is built at run time for a
// whole folder: then all of them count as loaded. Too many edges cost a false alarm, a missing one lets the halves of
// an act pass.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "validator/lex/mapped_text.h"
#include "validator/views/module_names.h"

namespace guard {

// Where something stands in a file; line 0: nowhere, or not counted yet.
struct Place {
  TextSpan span;
  std::uint32_t line = 0;
  std::uint32_t column = 0;
};

// A file that is named where files are loaded. An unknown part of the name is a byte 0x1a.
struct FileLoad {
  std::string name;
  Place place;
};

// What one file is called, and what it loads. Both must outlive the graph.
struct LoadingFile {
  std::string_view path;
  const std::vector<FileLoad>* loads = nullptr;
  bool exports = true;
};

// Files that load each other, directly or not; most have one file. Those that stand for a folder have none.
struct FileGroup {
  std::vector<std::uint32_t> files;
  std::vector<std::uint32_t> loads;  // other groups, without doubles
};

// Every group behind all that it loads. The work is linear in files and loads.
std::vector<FileGroup> group_by_loads(const std::vector<LoadingFile>& files, const ModuleNames& modules);

// By file: is it one of `first`, or loaded by one, directly or not?
std::vector<bool> loaded_by(
    const std::vector<std::uint32_t>& first, const std::vector<LoadingFile>& files, const ModuleNames& modules);

}  // namespace guard
