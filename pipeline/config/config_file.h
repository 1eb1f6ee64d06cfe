// Which guard.toml is trusted, and its text.
#pragma once

#include <filesystem>
#include <optional>

#include "pipeline/config/config.h"

namespace guard {

inline constexpr std::string_view kConfigFileName = "guard.toml";
inline constexpr std::uint64_t kConfigBytesMax = 1u << 20;

// Where guard.toml may stand. `begin` is the start folder, or the parent of the project's sandbox folder
// where the start lies in one: whatever is in there was written by a generator. `root` is the folder at or above
// `begin` that holds .git; without a repository it is `begin`.
struct ConfigPlace {
  std::filesystem::path begin;
  std::filesystem::path root;
  bool left_sandbox = false;
};
Result<ConfigPlace> config_place(const std::filesystem::path& start);

struct ConfigFile {
  std::filesystem::path path;
  ConfigText text;
};

// The guard.toml of `place.root`, and no other: one in a folder further down could be written by whoever may write
// there, and would speak for itself. What cannot be read is an error, never "there is none".
Result<std::optional<ConfigFile>> find_config_file(const ConfigPlace& place);

// As named by a person; links are followed.
Result<ConfigFile> read_config_file(const std::filesystem::path& path);

}  // namespace guard
