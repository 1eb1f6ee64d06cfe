// What all units of guard have in common: where they lie, and what of today's environment they need.
#pragma once

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "common/environment.h"
#include "common/result.h"

namespace guard {

// Of the units of a user. CONFIG_INVALID where there is none.
Result<std::filesystem::path> user_unit_folder(const std::string& home, const Environment& environment);

// What guard is led by and a unit would not know. Not what configures it: that belongs into guard.toml, where others
// see it. Nothing of PATH that lies in `project`.
std::vector<std::pair<std::string, std::string>> unit_variables(
    const Environment& environment, const std::string& project);

}  // namespace guard
