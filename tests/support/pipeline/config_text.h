// A key of guard.toml as a file has it.
#pragma once

#include <string>

#include "pipeline/config/config_keys.h"

namespace guard::testing {

inline std::string in_file(const ConfigKey& key, const std::string& value) {
  const std::string section = key.section.empty() ? "" : "[" + std::string(key.section) + "]\n";
  return section + std::string(key.name) + " = " + value + "\n";
}

}  // namespace guard::testing
