// `guard check`: the validator alone.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/commands.h"
#include "cli/progress.h"
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

// What is masked, made when it is first needed and then kept: making it takes longer than checking a small file.
class LazySecrets {
 public:
  void prepare(Config config, const Environment& environment) {
    config_ = std::move(config);
    environment_ = &environment;
  }

  Result<const SecretSource*> get() {
    if (!made_) {
      std::vector<KnownSecret> known;
      if (environment_ != nullptr) {
        GUARD_TRY_ASSIGN(known, known_secrets(*environment_, config_.redact.mask_env, config_.redact.mask_file));
      }
      GUARD_TRY_ASSIGN(made_, SecretSource::create(RuleSet::shipped(), std::move(known), config_.redact.kinds_off));
    }
    return &*made_;
  }

 private:
  Config config_;
  const Environment* environment_ = nullptr;
  std::optional<SecretSource> made_;
};

TreeGate tree_gate(const CheckOptions& options, std::vector<std::string> paths, const CollectOptions& collect, CommandContext& context) {
  TreeGate tree;
  tree.paths = std::move(paths);
  tree.collect = collect;
  tree.jobs = options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (context.streams.err_is_terminal) {
    tree.progress = [progress = std::make_shared<Progress>(context.streams.err, Progress::Mode::rewritten),
                     started = std::chrono::steady_clock::now()](std::uint64_t files, std::uint64_t bytes) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      const double megabytes = static_cast<double>(bytes) / 1e6;
      progress->say(fmt::format("{} files, {:.0f} MB, {:.0f} MB/s", files, megabytes, seconds > 0 ? megabytes / seconds : 0.0));
    };
  }
  return tree;
}

Result<CheckRecord> unmasked_check(const CheckOptions& options, CommandContext& context, LazySecrets& secrets) {
  if (options.staged) {
    GUARD_TRY(refuse_inside_tree(options.config, "--config", ".", context));
    GUARD_TRY(refuse_inside_tree(options.rules, "--rules", ".", context));
  }
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_sources(options, context));
  GUARD_TRY_ASSIGN(const LoadedConfig loaded, load_config(sources));
  const Config& config = loaded.config;
  GUARD_TRY_ASSIGN(const RuleEngine engine, load_rule_engine(options.rules));
  secrets.prepare(config, context.environment);
  // Whatever can be wrong with them is said whether there are findings or not.
  if (!config.redact.mask_file.empty() || !config.redact.kinds_off.empty()) GUARD_TRY(secrets.get());

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
  request.secrets = [&secrets] { return secrets.get(); };
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

  if (!options.read_stdin) {
    std::vector<std::string> paths = options.paths;
    if (paths.empty()) {
      collect.gated_only = true;
      // The folder that the configuration speaks for, or the one we stand in.
      const bool found_above = options.config.empty() && loaded.file.has_parent_path();
      paths = {found_above ? loaded.file.parent_path().string() : std::string(".")};
    }
    return gate_tree(request, tree_gate(options, std::move(paths), collect, context), options.mode, locate);
  }
  GUARD_TRY_ASSIGN(const SourceFiles files, collect_stdin(STDIN_FILENO, options.stdin_name, collect));
  if (options.mode == "auto") return gate_auto(request, files, locate);
  return gate(request, files, options.mode);
}

Result<CheckRecord> check(const CheckOptions& options, CommandContext& context) {
  LazySecrets secrets;
  auto record = unmasked_check(options, context, secrets);
  if (!record) return masked(record.error());
  // An allowed change without findings and waivers holds no word that is not guard's own.
  const bool only_ours = record->verdict.kind() == VerdictKind::allowed && !record->error && record->report.findings.empty() && record->waivers.empty();
  if (only_ours) return record;
  auto made = secrets.get();
  if (!made) return masked(made.error());
  mask_record(**made, *record);
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
