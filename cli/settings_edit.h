// Files of a project that a person keeps and guard adds to: shown as a difference, written when told to.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <string>

#include "cli/streams.h"
#include "common/result.h"

namespace guard {

struct FileEdit {
  std::filesystem::path path;
  mode_t mode = 0644;
  std::string before;  // empty: there is no such file
  std::string after;
};

// With `before` as `after`, too. No link is followed, nor one of the folders on the way from `project`: what it points
// to belongs to somebody else. INPUT_INVALID.
Result<FileEdit> begin_edit(const std::filesystem::path& project, const std::filesystem::path& relative);

// The object that `edit.before` holds, its keys in their order. INPUT_INVALID, with `by_hand` as what to do, for what
// is none.
Result<nlohmann::ordered_json> settings_in(const FileEdit& edit, std::string_view by_hand);
std::string settings_text(const nlohmann::ordered_json& settings);

// Prints what changes, masked, and writes it where `yes`. 0: done, or nothing to do; 1: there is something to do.
Result<int> finish_edits(std::span<const FileEdit> edits, bool yes, OutStream& out);

}  // namespace guard
