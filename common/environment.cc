#include "common/environment.h"

#include <unistd.h>

#include <string_view>

namespace guard {

Environment process_environment() {
  Environment environment;
  for (char** entry = ::environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) continue;
    environment.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  return environment;
}

Result<std::filesystem::path> state_root(const Environment& environment) {
  namespace fs = std::filesystem;
  if (const auto given = value_of(environment, "GUARD_STATE_DIR"); !given.empty()) return fs::path(given);
  if (::geteuid() == 0) return fs::path("/var/lib/guard");
  if (const auto given = value_of(environment, "XDG_STATE_HOME"); given.starts_with('/'))
    return fs::path(given) / "guard";
  if (const auto home = value_of(environment, "HOME"); home.starts_with('/'))
    return fs::path(home) / ".local/state/guard";
  return Error(ErrorCode::config_invalid, "there is no place for what guard keeps: HOME is not set")
      .hint("name one with --state");
}

}  // namespace guard
