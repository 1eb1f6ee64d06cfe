#include "validator/change/trusted_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "common/text/glob.h"

namespace guard {
namespace {

std::string lower(std::string_view text) {
  std::string folded(text);
  std::transform(
      folded.begin(), folded.end(), folded.begin(), [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return folded;
}

constexpr std::array<std::string_view, 11> kHookFiles = {
    "**/.git",
    "**/.git/**",
    "**/.pre-commit-config.y*ml",
    "**/prek.toml",
    "**/.husky/**",
    "**/.claude/settings*.json",
    "**/.gemini/settings.json",
    "**/.cursor/hooks.json",
    "**/.github/hooks/**",
    "**/.github/copilot/settings*.json",
    "**/.copilot/**",
};

}  // namespace

bool configures_guard(std::string_view path) {
  const std::string name = lower(path.substr(path.rfind('/') == std::string_view::npos ? 0 : path.rfind('/') + 1));
  return name == "guard.toml" || name == "guard-baseline.json" || name == "bunfig.toml";
}

bool configures_hooks(std::string_view path) {
  // With a folder in front `**/` matches at the root, too, whatever the glob's author thought of that.
  const std::string folded = "x/" + lower(path);
  return std::any_of(
      kHookFiles.begin(), kHookFiles.end(), [&](std::string_view glob) { return glob_matches(glob, folded); });
}

}  // namespace guard
