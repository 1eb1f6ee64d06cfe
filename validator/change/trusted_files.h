// Files that say what guard does, or whether it is asked at all. Changing one is a finding, whoever wants to.
#pragma once

#include <string_view>

namespace guard {

// guard.toml, guard-baseline.json and bunfig.toml, in any folder, and whatever the case: on some file systems
// Guard.toml is guard.toml.
bool configures_guard(std::string_view path);

// What calls guard: all below .git, and the settings of the hook managers and coding agents in docs/hooks.md.
bool configures_hooks(std::string_view path);

}  // namespace guard
