// `guard check`: the validator alone.
#include <unistd.h>

#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/rule_engine.h"
#include "cli/trusted_inputs.h"
#include "common/text.h"
#include "pipeline/config_file.h"
#include "pipeline/gate.h"
#include "pipeline/git.h"
#include "pipeline/masked_record.h"
#include "pipeline/report_json.h"
#include "pipeline/report_text.h"
#include "pipeline/run_output.h"

namespace guard {
namespace {

// A gated commit is judged by the configuration that it is based on, never by the one that it brings along.
Result<ConfigSources> config_sources(const CheckOptions& options, CommandContext& context) {
  if (options.staged) return config_at_head(options.config, ".", context);
  ConfigSources sources;
  sources.environment = context.environment;
  sources.file = options.config;
  if (!options.config.empty()) return sources;
  std::error_code failure;
  sources.search_from = std::filesystem::current_path(failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, "the current folder", failure.value());
  return sources;
}

Result<CheckRecord> unmasked_check(const CheckOptions& options, CommandContext& context, std::optional<SecretSource>& kept) {
  if (options.staged) {
    GUARD_TRY(refuse_inside_tree(options.config, "--config", ".", context));
    GUARD_TRY(refuse_inside_tree(options.rules, "--rules", ".", context));
  }
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_sources(options, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  const Config& config = loaded.config;
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
  GUARD_TRY_ASSIGN(auto known, known_secrets(context.environment, config.redact.mask_env, config.redact.mask_file));
  GUARD_TRY_ASSIGN(kept, SecretSource::create(RuleSet::shipped(), std::move(known), config.redact.kinds_off));
  const SecretSource& secrets = *kept;

  std::optional<EngineLocation> located;
  const auto locate = [&]() -> const EngineLocation& {
    if (!located) located = locate_engine(context.environment, Deadline::after(milliseconds(config.docker.probe_deadline_ms)), context.cancel);
    return *located;
  };

  CollectOptions collect;
  collect.file_bytes_max = config.check.max_file_bytes;
  collect.gated_paths = config.check.paths;

  GateRequest request;
  request.rules = engine.rules;
  request.matcher = &*engine.matcher;
  request.config = &config;
  request.secrets = &secrets;
  request.files_expected = !options.allow_empty;

  if (options.staged) {
    GUARD_TRY_ASSIGN(const StagedChange change, collect_staged(".", collect, context.cancel));
    if (options.mode != "auto") return gate_staged(request, change, options.mode);
    GateRequest relaxed = request;
    relaxed.files_expected = false;
    CheckRecord first = gate_auto(relaxed, change.gated, locate);
    if (first.error) return first;
    return gate_staged(request, change, first.mode);
  }

  SourceFiles files;
  if (options.read_stdin) {
    GUARD_TRY_ASSIGN(files, collect_stdin(STDIN_FILENO, options.stdin_name, collect));
  }
  if (!options.paths.empty() || !options.read_stdin) {
    std::vector<std::string> paths = options.paths;
    if (paths.empty()) {
      collect.gated_only = true;
      // The folder that the configuration speaks for, or the one we stand in.
      const bool found_above = options.config.empty() && loaded.file.has_parent_path();
      paths = {found_above ? loaded.file.parent_path().string() : std::string(".")};
    }
    GUARD_TRY_ASSIGN(SourceFiles named, collect_paths(paths, collect));
    files.files.insert(files.files.end(), std::make_move_iterator(named.files.begin()), std::make_move_iterator(named.files.end()));
    files.findings.insert(files.findings.end(), std::make_move_iterator(named.findings.begin()), std::make_move_iterator(named.findings.end()));
  }
  if (options.mode == "auto") return gate_auto(request, files, locate);
  return gate(request, files, options.mode);
}

Result<CheckRecord> check(const CheckOptions& options, CommandContext& context) {
  std::optional<SecretSource> secrets;
  auto record = unmasked_check(options, context, secrets);
  if (record && secrets) mask_record(*secrets, *record);
  if (!record) return masked(record.error());
  return record;
}

}  // namespace

int cmd_check(const CheckOptions& options, CommandContext& context) {
  context.streams.choose_color(options.color, context.environment);
  auto record = check(options, context);
  if (!record) {
    if (options.format == OutputFormat::text) return fail(context, record.error());
    CheckRecord failed;
    failed.mode = options.mode == "auto" ? "host" : options.mode;
    failed.verdict = verdict_of(record.error());
    failed.error = std::move(record).error();
    context.streams.out.write(check_document(failed));
    return finish(context, failed.verdict.exit_status());
  }
  context.streams.out.write(options.format == OutputFormat::json ? check_document(*record)
                                                                 : check_text(*record, context.streams.out_color ? Colour::on : Colour::off));
  return finish(context, record->verdict.exit_status());
}

}  // namespace guard
