#include "cli/unit_surroundings.h"

#include "nightly/install/systemd_units.h"

namespace guard {

Result<std::filesystem::path> user_unit_folder(const std::string& home, const Environment& environment) {
  if (const auto given = value_of(environment, "XDG_CONFIG_HOME"); given.starts_with('/'))
    return std::filesystem::path(given) / "systemd/user";
  if (home.starts_with('/')) return std::filesystem::path(home) / ".config/systemd/user";
  return Error(ErrorCode::config_invalid, "there is no place for units of this user: HOME is not set");
}

std::vector<std::pair<std::string, std::string>> unit_variables(
    const Environment& environment, const std::string& project) {
  std::vector<std::pair<std::string, std::string>> variables;
  if (const auto path = nightly::unit_path(value_of(environment, "PATH"), project); !path.empty())
    variables.emplace_back("PATH", path);
  for (const char* name :
      {"DOCKER_HOST", "DOCKER_CONTEXT", "DOCKER_CONFIG", "DOCKER_TLS_VERIFY", "DOCKER_CERT_PATH", "GUARD_BUN"}) {
    if (auto value = value_of(environment, name); !value.empty()) variables.emplace_back(name, std::move(value));
  }
  return variables;
}

}  // namespace guard
