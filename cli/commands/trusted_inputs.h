// Where a verb takes its configuration from: what the person named or keeps in the project, or, where a change is
// judged, what that change can't overrule: HEAD, or outside of the tree.
#pragma once

#include <filesystem>
#include <string>

#include "cli/commands/commands.h"
#include "pipeline/config/config.h"

namespace guard {

// `config` as typed, or the guard.toml that is found from `folder` upwards.
ConfigSources config_of(const std::string& config, const std::filesystem::path& folder, const CommandContext& context);

// The same with what the options set, variables of --env-file first.
Result<ConfigSources> sources_of(
    const Options& options, const std::filesystem::path& folder, const CommandContext& context);

// `config` as typed, or guard.toml at `base`, a commit's id (empty: HEAD), of the repository that holds `folder`: never
// the one that a change brings along.
Result<ConfigSources> config_at(
    const std::string& config, const std::filesystem::path& folder, const std::string& base, CommandContext& context);

// CONFIG_INVALID where `path`, the value of `option`, lies in the work tree of that repository. Empty is no path.
Result<void> refuse_inside_tree(
    const std::string& path, std::string_view option, const std::filesystem::path& folder, CommandContext& context);

}  // namespace guard
