#include "validator/two_hit.h"

#include <algorithm>

#include "validator/known_names.h"

namespace guard {

const std::vector<std::string>& shipped_harmless_variables() {
  static const std::vector<std::string> kNames = {
      "NODE_ENV",  "BUN_ENV", "CI",        "TZ",      "DEBUG",          "LANG",     "LANGUAGE",    "LC_ALL",
      "LC_CTYPE",  "TERM",    "COLORTERM", "COLUMNS", "LINES",          "NO_COLOR", "FORCE_COLOR", "PWD",
      "TMPDIR",    "TEMP",    "TMP",       "VITEST",  "JEST_WORKER_ID", "TEST",     "BUN_TEST",    "GITHUB_ACTIONS",
      "RUNNER_OS", "OS",      "OSTYPE",    "SHELL",   "EDITOR",         "VERBOSE",  "LOG_LEVEL",   "PORT",
      "GITLAB_CI", "CITGM",   "ECOSYSTEM_CI", "UPDATE_GOLDENS", "UPDATE_SNAPSHOT", "UPDATE_SNAPSHOTS", "npm_config_user_agent"};
  return kNames;
}

bool reads_only_harmless(std::string_view read, std::span<const std::string> harmless) noexcept {
  std::size_t at = 0;
  bool any = false;
  while (at < read.size()) {
    const std::size_t comma = read.find(',', at);
    const std::string_view part = read.substr(at, comma - at);
    std::size_t size = 0;
    while (size < part.size() && is_name_byte(part[size])) ++size;
    const std::string_view name = part.substr(0, size);
    if (size < part.size() && part[size] != ':' && part[size] != '=') return false;
    const bool trailing_comma = name.empty() && comma == std::string_view::npos && any;
    if (!trailing_comma && std::find(harmless.begin(), harmless.end(), name) == harmless.end()) return false;
    any = true;
    if (comma == std::string_view::npos) break;
    at = comma + 1;
  }
  return any;
}

}  // namespace guard
