// `guard clean`: removes what killed runs left behind, now and not at the next start.
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>
#include <vector>

#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "common/own_entry.h"
#include "common/text/text.h"
#include "pipeline/change/git.h"
#include "pipeline/config/config.h"
#include "pipeline/config/config_file.h"
#include "pipeline/report/json_parts.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {

namespace {

namespace fs = std::filesystem;

// Where a guard that is killed may leave something outside of the cache.
std::vector<fs::path> work_folders(const fs::path& project, const Config& config, const CancelToken& cancel) {
  std::vector<fs::path> folders = {temporary_folder(), project, project / "sandbox"};
  if (!config.run.record.empty()) folders.push_back(project / config.run.record);
  const auto place = config_place(project);
  if (!place) return folders;
  folders.push_back(place->root);
  std::error_code failure;
  if (!fs::exists(fs::symlink_status(place->root / ".git", failure))) return folders;
  if (auto hooks = Git(place->root, cancel).hooks_folder()) folders.push_back(std::move(*hooks));
  return folders;
}

}  // namespace

Result<int> cmd_clean(const Options& options, CommandContext& context) {
  // Only for where the engine is; a configuration that cannot be read is no reason to leave things behind.
  const fs::path project = options.project.empty() ? "." : options.project;
  const auto loaded = load_config(config_of({}, project, context));
  const bool plain_tcp = loaded && loaded->config.docker.plain_tcp;
  const EngineLocation engine =
      locate_engine(context.environment, plain_tcp, Deadline::after(milliseconds(2000)), context.cancel);
  const bool engine_answers = engine.probe.state == ProbeState::available;
  const SweepMode mode = options.dry_run ? SweepMode::list : SweepMode::remove;
  Leftovers leftovers = remove_leftovers(
      engine_answers ? engine.engine : docker::Endpoint(), context.cancel, LookAtProcesses::always, mode);
  // Containers may be left that nobody could be asked about: that is not clean.
  if (engine.probe.state == ProbeState::unknown) leftovers.failed.push_back("containers: " + engine.probe.reason);
  for (const auto& folder : work_folders(project, loaded ? loaded->config : Config(), context.cancel)) {
    OwnSweep swept = sweep_own(folder, mode);
    leftovers.removed.insert(leftovers.removed.end(), swept.removed.begin(), swept.removed.end());
    leftovers.failed.insert(leftovers.failed.end(), swept.failed.begin(), swept.failed.end());
  }
  if (options.format == OutputFormat::json) {
    const nlohmann::ordered_json document = {
        {"version", 1}, {"dry_run", options.dry_run}, {"removed", leftovers.removed}, {"failed", leftovers.failed}};
    context.streams.out.write(dump(document));
  } else {
    for (const auto& run : leftovers.removed)
      context.streams.out.print("{} {}\n", options.dry_run ? "would remove:" : "removed:", printable(run));
    for (const auto& sentence : leftovers.failed) context.streams.out.print("failed:  {}\n", printable(sentence));
    if (leftovers.removed.empty() && leftovers.failed.empty()) context.streams.out.write("nothing was left behind\n");
  }
  return leftovers.failed.empty() ? 0 : 2;
}

}  // namespace guard
