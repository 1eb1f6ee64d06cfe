#include "cli/commands/trusted_inputs.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <system_error>
#include <utility>

#include "common/text/text.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/config/config_file.h"
#include "pipeline/config/env_file.h"

namespace guard {

ConfigSources config_of(const std::string& config, const std::filesystem::path& folder, const CommandContext& context) {
  ConfigSources sources;
  sources.environment = context.environment;
  if (config.empty()) {
    sources.search_from = folder;
  } else {
    sources.file = config;
  }
  return sources;
}

Result<ConfigSources> sources_of(
    const Options& options, const std::filesystem::path& folder, const CommandContext& context) {
  ConfigSources sources = config_of(options.config, folder, context);
  for (const std::string& file : options.env_files) {
    GUARD_TRY_ASSIGN(auto variables, read_env_file(file));
    std::move(variables.begin(), variables.end(), std::back_inserter(sources.overrides));
  }
  sources.overrides.insert(sources.overrides.end(), options.overrides.begin(), options.overrides.end());
  return sources;
}

Result<ConfigSources> config_at(
    const std::string& config, const std::filesystem::path& folder, const std::string& base, CommandContext& context) {
  ConfigSources sources = config_of(config, {}, context);
  if (!config.empty()) return sources;
  GUARD_TRY_ASSIGN(std::string bytes, read_at(folder, base, kConfigFileName, context.cancel));
  const std::string name = base.empty() ? "HEAD" : base.substr(0, 12);
  if (!bytes.empty()) sources.text = ConfigText{"guard.toml at " + name, std::move(bytes)};
  return sources;
}

Result<void> refuse_inside_tree(
    const std::string& path, std::string_view option, const std::filesystem::path& folder, CommandContext& context) {
  if (path.empty()) return ok();
  std::error_code failure;
  GUARD_TRY_ASSIGN(const auto top, Git(folder, context.cancel).top());
  const auto inside = std::filesystem::weakly_canonical(path, failure)
                          .lexically_relative(std::filesystem::weakly_canonical(top, failure));
  if (failure || inside.empty() || *inside.begin() != "..") {
    return Error(ErrorCode::config_invalid,
        fmt::format("{} {} lies in the work tree that is being judged", option, printable(path)))
        .hint("name one outside of the repository, or leave the option out: the one of the base is used then");
  }
  return ok();
}

}  // namespace guard
