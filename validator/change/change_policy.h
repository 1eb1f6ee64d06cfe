// What a change may touch, whatever its contents: how many files and lines, which paths, which kinds of entries. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.h"
#include "validator/change/change_set.h"

namespace guard {

// A task that writes tests has its own list of files that it may never touch (`forbidden_files`); any other may.
enum class TaskKind : std::uint8_t { test, any };
template <>
inline constexpr std::array<std::string_view, 2> kNamesOf<TaskKind> = {"test", "any"};

struct PolicyOptions {
  TaskKind kind = TaskKind::test;
  std::uint64_t changed_files_max = 5;
  std::uint64_t diff_lines_max = 2'000;       // added and removed together
  std::uint64_t diff_bytes_max = 256u << 10;  // new texts of all changed files together
  std::vector<std::string> forbidden_files;   // names or globs, for TaskKind::test; a bare name holds in every folder
  std::vector<std::string> forbidden_paths;   // globs, for every kind
  std::vector<std::string> allowed_paths;     // globs; empty: anywhere
};

// The findings of the policy on `change`, sorted, all of tier policy and severity block, with what to do instead in
// `fix`; the change's own findings are not repeated. Refused for every kind: links, submodules and what git cannot
// keep; a mode that changes, or a new file that is executable; binary files; whatever begins with ".git" at any depth
// and in any spelling that a file system could take for it; what configures guard, bun, CI or a coding agent; paths
// that differ from another one in case alone; paths that are empty, absolute, hold "." or ".." or control characters,
// or are not UTF-8.
std::vector<Finding> check_policy(const ChangeSet& change, const PolicyOptions& options);

// A finding of tier policy on a file as a whole.
Finding policy_finding(std::string_view rule, std::string path, std::string message, std::string fix);

}  // namespace guard
