// Whether a guard.toml may relax what guard promises. Whoever writes into the project can write its guard.toml, too;
// what a person has committed is what the person wants.
#pragma once

#include <filesystem>

#include "common/cancel.h"
#include "pipeline/config/config.h"

namespace guard {

// CONFIG_INVALID where the guard.toml of `loaded` lies in the tree of `project`, relaxes something (the `relaxes` of
// config_keys.h) and is not, byte for byte, the one at HEAD; also where that can't be found out, without git or a
// repository say. git is started only if something is relaxed. The environment, options and a file outside of the tree
// are the person's own.
Result<void> trust_relaxations(
    const LoadedConfig& loaded, const std::filesystem::path& project, const CancelToken& cancel);

// Whether HEAD of the repository that holds `folder` has `file` (canonical, or relative to it) with these bytes.
// INPUT_INVALID where it has none.
Result<bool> is_committed(const std::filesystem::path& folder, const std::filesystem::path& file,
    std::string_view bytes, const CancelToken& cancel);

}  // namespace guard
