#include "cli/sessions/project_sandbox.h"

#include <fmt/format.h>

#include <algorithm>

#include "cli/commands/trusted_inputs.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/backend_choice.h"
#include "pipeline/change/config_trust.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/evidence/recorded_sandbox.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/suite_run.h"
#include "rules/rule_set.h"

namespace guard {
namespace {

Result<RecordedRun> read_record(
    const std::string& file, const Options& options, const RunRequest& request, CommandContext& context) {
  GUARD_TRY_ASSIGN(const std::string bytes, read_file(file, kEvidenceBytesMax));
  EvidencePresent present;
  present.project = request.project;
  present.config_file = options.config;
  present.guard_version = GUARD_VERSION;
  present.rules_digest = RuleSet::shipped_gate().digest();
  return recorded_run(bytes, present, context.cancel);
}

Result<LoadedConfig> configuration(const Options& options, const RunRequest& request, CommandContext& context) {
  GUARD_TRY_ASSIGN(ConfigSources sources, sources_of(options, request.project, context));
  GUARD_TRY_ASSIGN(LoadedConfig loaded, load_config(sources));
  GUARD_TRY(trust_relaxations(loaded, request.project, context.cancel));
  return loaded;
}

}  // namespace

Result<TerminalTask> project_sandbox(const Options& options, CommandContext& context,
    const std::vector<std::string>& command, const std::string& record) {
  RunRequest request;
  GUARD_TRY_ASSIGN(request.project, project_folder(options.project));
  request.environment = context.environment;
  request.argv = command.empty() ? std::vector<std::string>{"sh"} : command;
  request.working_dir = options.cwd;
  request.writes = options.writes;
  request.warn = [&](std::string_view sentence) { context.streams.err.print("guard: warning: {}\n", sentence); };
  GUARD_TRY_ASSIGN(LoadedConfig loaded, configuration(options, request, context));
  request.backend = options.backend;
  std::optional<RecordedSandbox> recorded;
  if (!record.empty()) {
    GUARD_TRY_ASSIGN(RecordedRun run, read_record(record, options, request, context));
    GUARD_TRY(makes_the_same_sandbox(run, loaded.entries));
    if (options.backend.value_or(run.backend) != run.backend)
      return Error(ErrorCode::input_invalid, fmt::format("the recorded run was in {}", to_string(run.backend)))
          .hint("leave --backend out");
    // A record may have been made up: it leads nowhere that neither the configuration nor the user does.
    if (!options.backend && !loaded.config.allows(run.backend))
      return Error(ErrorCode::input_invalid,
          fmt::format("the recorded run was in {}, which is no backend of this project", to_string(run.backend)))
          .hint(fmt::format("where you trust the record: --backend {}", to_string(run.backend)));
    request.backend = run.backend;
    request.files = run.files;
    recorded = std::move(run.sandbox);
  }
  if (!request.backend) GUARD_TRY(rolled_out(loaded.config));
  request.config = std::move(loaded.config);
  GUARD_TRY_ASSIGN(RunSandbox opened, open_run_sandbox(request, recorded, context.cancel));
  TerminalTask task;
  task.spec.argv = command;
  task.spec.env = std::move(opened.env);
  task.spec.working_dir = opened.working_dir;
  // The limit of a run is none for a person, unless it is asked for.
  const bool timed = std::any_of(options.overrides.begin(), options.overrides.end(),
      [](const ConfigOverride& override) { return override.key == "limits.timeout"; });
  if (timed) task.spec.timeout = request.config.timeout(named<Backend>(opened.backend).value_or(Backend::docker));
  task.spec.grace = std::chrono::seconds(request.config.run.grace_s);
  task.start = [sandbox = std::shared_ptr<OpenSandbox>(std::move(opened.sandbox))](
                   const TaskSpec& spec) { return sandbox->start(spec); };
  return task;
}

}  // namespace guard
