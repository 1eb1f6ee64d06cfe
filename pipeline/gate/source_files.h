// Which files are judged, and their bytes: what a person named on the command line, or standard input. (Changes:
// change_source.h.)
//
// What is read here is what is judged and, later, what is staged and run: a file is read once.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "validator/finding.h"
#include "validator/validator.h"

namespace guard {

struct SourceFiles {
  std::vector<SourceFile> files;
  // What cannot be judged as text but must not pass: links, devices, node_modules, files over the limit.
  std::vector<Finding> findings;
};

struct CollectOptions {
  std::uint64_t file_bytes_max = 2u << 20;
  std::uint64_t files_max = 200'000;
  std::vector<std::string> gated_paths = {"sandbox/**"};  // globs, see is_gated_path()
  bool gated_only = false;                                // a bare `check`: nothing but the gated paths
  bool whole_tree = false;  // everything, links and devices outside of the gated paths too
  // What the .gitignore files of the repository at `top` leave out and git does not track, relative to it, folders with
  // a slash at the end. Asked at most once, when a .gitignore is seen; without it nothing is passed over. Gated paths
  // and named files never are.
  std::function<std::vector<std::string>(const std::filesystem::path& top)> ignored;
};

// Every name that `bun test` or an import would take as a program.
bool is_code_name(std::string_view name);

// Every name that `bun test` finds by itself in a folder.
bool is_test_name(std::string_view name);

// Walks (file_walk.h) and reads all of it. FILE_NOT_FOUND, IO_ERROR.
Result<SourceFiles> collect_paths(const std::vector<std::string>& paths, const CollectOptions& options);

// Whether one of `globs` matches `path` ('/'-joined) as seen from its root or from any folder above the file: a
// repository may hold several projects, each with a sandbox folder of its own.
bool is_gated_path(const std::vector<std::string>& globs, std::string_view path);

// Paths of a check as its project sees them, wherever guard was started: what waivers and the baseline write down.
class ProjectPaths {
 public:
  // `root` is where relative paths start, `project` the folder of guard.toml. Empty: `root` the current folder,
  // `project` the root.
  explicit ProjectPaths(const std::filesystem::path& project = {}, const std::filesystem::path& root = {});

  // Nothing for a file outside of the project.
  std::optional<std::string> below(const std::string& path) const;
  // The path from the project, or else the whole path without its first slash.
  std::string shown(const std::string& path) const;

 private:
  std::filesystem::path root_;
  std::filesystem::path project_;
};

// All of standard input as one file called `name`.
Result<SourceFiles> collect_stdin(int fd, std::string_view name, const CollectOptions& options);

}  // namespace guard
