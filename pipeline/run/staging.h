// Lays out what will run: the very bytes that were checked, and copies of what they lean on, in the run's private
// folder. Only this is mounted; the project's own folders never are, so nothing that changes there meanwhile, and
// nothing that the run does, crosses over.
//
//   <run>/app/...   of the project as a run sees it (pipeline/run/project_tree.h) what tests may not write to, mounted
//   as /app <run>/fill      what lies where they may, as one file: the folder in memory is filled from it, and the run
//   tells of each copy
//                   that was touched (ScratchFolder)
//
// So a run has one or two mounts, however many files there are.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"
#include "pipeline/run/project_tree.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// Where init finds what the writable folder is filled from.
inline constexpr std::string_view kFillInside = "/.guard-fill";

struct StageOptions {
  std::vector<std::string> module_folders =
      {};                 // RuntimeImage::module_folders; each gets its link to the packages in the image
  bool in_place = false;  // the program works in <run>/app itself: all is written there, and nothing is filled
};

struct StagedTree {
  std::filesystem::path app;                  // <run>/app
  std::filesystem::path fill;                 // <run>/fill; empty: none
  std::map<std::string, std::string> hashes;  // "sandbox/a.test.ts" -> SHA-256 in hex, of every staged file
  std::vector<std::string> left_out;          // links that lead out of the project
  std::uint64_t writable_bytes = 0;           // of what lies in the writable folder, in whole pages
  std::uint64_t writable_entries = 0;
  bool imports_by_name = false;  // some file may load a builtin module by a name that bun does not see when it
                                 // translates: imports_by_name()
};

// Whether a text may hold an import() of anything but one literal, or asks bun not to translate it.
bool imports_by_name(std::string_view text);

// INPUT_INVALID for more than the limits below; IO_ERROR.
Result<StagedTree> stage_tree(const std::filesystem::path& run_folder, const std::filesystem::path& project,
    const ProjectTree& tree, const StageOptions& options);

// The mounts of `staged`, and the writable folder with room for `bytes` and `files` more.
void mount_staged(
    const StagedTree& staged, std::string_view writable, std::uint64_t bytes, std::uint64_t files, SandboxSpec& spec);

// What of `hashes` (StagedTree::hashes) reads otherwise in `now`'s project by now or is gone, and what is new there and
// could change what others mean; relative paths.
Result<std::vector<std::string>> changed_since(
    const std::filesystem::path& project, const ProjectTree& now, const std::map<std::string, std::string>& hashes);

// What stage_tree() would stage: StagedTree::hashes, without writing anything.
Result<std::map<std::string, std::string>> staged_hashes(const std::filesystem::path& project, const ProjectTree& tree);

// More than this is not one project's source; copying it for every run would hurt before it helped.
constexpr std::uint64_t kStagedBytesMax = 1ull << 30;
constexpr std::uint64_t kStagedFilesMax = 200'000;

}  // namespace guard
