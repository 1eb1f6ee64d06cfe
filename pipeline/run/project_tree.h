// What a run sees of a project, and what of it is judged first.
//
// The seeds' layout, where it exists and the tests lie in it: src/, sandbox/, package.json and tsconfig.json; what lies
// in sandbox/ is judged, and tests may write there. Any other project: all of its files but those that git ignores;
// what [check] paths names and the tests themselves are judged, and tests may write anywhere. .env*, .git and
// node_modules are never among them.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "pipeline/gate/source_files.h"

namespace guard {

struct ProjectTreeRequest {
  std::filesystem::path project;  // absolute
  std::vector<std::string>
      named;  // relative: tests; "packages/a/" stands for all tests in a folder, "" for all of the project
  std::vector<std::string> gated_paths;
  std::vector<std::string> also;  // files, relative, that a run sees in the seeds' layout, too
  std::uint64_t file_bytes_max = 2u << 20;
  std::function<std::vector<std::string>(const std::filesystem::path& top)> ignored;  // CollectOptions::ignored
};

struct ProjectTree {
  SourceFiles gated;                  // relative paths, sorted
  std::vector<std::string> others;    // files and links, relative, sorted: taken as they lie there
  std::vector<std::string> left_out;  // what is never shown to a run, relative
  std::vector<std::string> tests;     // the named ones and those of the named folders
  std::string writable;               // the folder that tests may write in: "sandbox", or "" for all of it
};

// FILE_NOT_FOUND for a named file that is not there and a named folder without tests; INPUT_INVALID; IO_ERROR.
Result<ProjectTree> read_project_tree(const ProjectTreeRequest& request);

// The layout of the seeds: tests write into sandbox/ alone. A link is no folder.
bool has_sandbox_folder(const std::filesystem::path& project);

// Whether a new file there may change what others mean: a module, a setting that bun looks up, anything beside the
// tests of the seeds' layout.
bool may_change_others(std::string_view path);

// The project of a file or folder: of the folders from it up to the one that holds .git, the outermost with a folder
// sandbox/ beside its package.json that `path` lies in; else the nearest with a lockfile beside package.json; else the
// outermost with package.json; else where .git is, or the folder itself.
std::filesystem::path project_of(const std::filesystem::path& path);

}  // namespace guard
