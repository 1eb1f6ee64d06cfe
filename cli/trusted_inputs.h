// The configuration and rules of whoever may not be overruled by what is being judged: from HEAD, or from outside of
// the tree.
#pragma once

#include <filesystem>
#include <string>

#include "cli/commands.h"
#include "pipeline/config.h"

namespace guard {

// `config` as typed, or guard.toml at HEAD of the repository that holds `folder`: never the one that a change brings
// along.
Result<ConfigSources> config_at_head(const std::string& config, const std::filesystem::path& folder,
                                     CommandContext& context);

// CONFIG_INVALID where `path`, the value of `option`, lies in the work tree of that repository. Empty is no path.
Result<void> refuse_inside_tree(const std::string& path, std::string_view option, const std::filesystem::path& folder,
                                CommandContext& context);

}  // namespace guard
