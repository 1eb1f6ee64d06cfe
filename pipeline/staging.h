// Lays out what will run: the very bytes that were checked, and copies of what they lean on, in the run's private folder. Only
// this is mounted; the project's own folders never are, so nothing that changes there meanwhile, and nothing that the run
// does, crosses over.
//
//   <run>/app/package.json, tsconfig.json   copies, read-only inside
//   <run>/app/src/                          a copy, read-only inside
//   <run>/app/sandbox/...                   the checked bytes; each mounted read-only by itself into an empty writable folder
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/result.h"
#include "runner/sandbox.h"
#include "validator/validator.h"

namespace guard {

struct StagedTree {
  std::filesystem::path app;                   // <run>/app
  std::vector<Mount> mounts;                   // parents before children
  std::map<std::string, std::string> hashes;   // "sandbox/a.test.ts" -> SHA-256 in hex, of every staged file
  std::vector<std::string> left_out;           // "src/.env": never mounted, and said
};

// `checked`: paths relative to the project, all below "sandbox/". INPUT_INVALID for a path that leaves the sandbox folder, a link
// in src that leads out of it, or more than the limits below; IO_ERROR.
Result<StagedTree> stage_tree(const std::filesystem::path& run_folder, const std::filesystem::path& project,
                              const std::vector<SourceFile>& checked);

// What stage_tree() would stage: StagedTree::hashes, without writing anything.
Result<std::map<std::string, std::string>> staged_hashes(const std::filesystem::path& project, const std::vector<SourceFile>& checked);

// What of `hashes` (StagedTree::hashes) reads otherwise in the project by now or is gone, and what is new in src/; relative paths.
// IO_ERROR where src/ can't be walked.
Result<std::vector<std::string>> changed_since(const std::filesystem::path& project, const std::map<std::string, std::string>& hashes);

// A src of more than this is not one project's source; copying it for every run would hurt before it helped.
constexpr std::uint64_t kStagedBytesMax = 512ull << 20;
constexpr std::uint64_t kStagedFilesMax = 20'000;

}  // namespace guard
