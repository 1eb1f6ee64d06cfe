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
#include "pipeline/explanation.h"
#include "pipeline/gate.h"
#include "pipeline/git.h"
#include "pipeline/masked_record.h"
#include "pipeline/report_github.h"
#include "pipeline/report_json.h"
#include "pipeline/report_junit.h"
#include "pipeline/report_sarif.h"
#include "pipeline/report_text.h"
#include "pipeline/run_output.h"
#include "pipeline/waivers.h"

namespace guard {
namespace {

// A gated commit is judged by the configuration that it is based on, never by the one that it brings along.
Result<ConfigSources> config_sources(const CheckOptions& options, CommandContext& context) {
  if (options.staged) return config_at_head(options.config, ".", context);
  if (!options.config.empty()) return config_of(options.config, {}, context);
  std::error_code failure;
  const auto here = std::filesystem::current_path(failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, "the current folder", failure.value());
  return config_of({}, here, context);
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
      GUARD_TRY_ASSIGN(made_, SecretSource::shipped(std::move(known), config_.redact.kinds_off));
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

// What reports need to know beside the record.
struct CheckContext {
  LazySecrets secrets;
  RuleEngine engine;
  LoadedConfig loaded;
  std::string project;  // the folder that guard.toml speaks for, or the current one
};

// Configuration, rules and secrets, into `kept`; the request leans on them.
Result<GateRequest> prepare(const CheckOptions& options, CommandContext& context, CheckContext& kept) {
  if (options.staged) {
    GUARD_TRY(refuse_inside_tree(options.config, "--config", ".", context));
    GUARD_TRY(refuse_inside_tree(options.rules, "--rules", ".", context));
  }
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_sources(options, context));
  GUARD_TRY_ASSIGN(kept.loaded, load_config(sources));
  const Config& config = kept.loaded.config;
  GUARD_TRY_ASSIGN(kept.engine, load_rule_engine(options.rules));
  const bool found_above = options.config.empty() && kept.loaded.file.has_parent_path();
  kept.project = found_above ? kept.loaded.file.parent_path().string() : sources.search_from.string();
  kept.secrets.prepare(config, context.environment);
  // Whatever can be wrong with them is said whether there are findings or not.
  if (!config.redact.mask_file.empty() || !config.redact.kinds_off.empty()) GUARD_TRY(kept.secrets.get());

  GateRequest request;
  request.rules = kept.engine.rules;
  request.matcher = &*kept.engine.matcher;
  request.config = &config;
  request.secrets = [&kept] { return kept.secrets.get(); };
  request.files_expected = !options.allow_empty;
  request.keep_names = options.format == OutputFormat::junit;
  return request;
}

CollectOptions collect_options(const Config& config) {
  CollectOptions collect;
  collect.file_bytes_max = config.check.max_file_bytes;
  collect.gated_paths = config.check.paths;
  return collect;
}

Result<CheckRecord> unmasked_check(const CheckOptions& options, CommandContext& context, CheckContext& kept) {
  GUARD_TRY_ASSIGN(const GateRequest request, prepare(options, context, kept));
  const Config& config = kept.loaded.config;
  std::optional<EngineLocation> located;
  const auto locate = [&]() -> const EngineLocation& {
    if (!located) located = locate_engine(context.environment, config.docker.plain_tcp, Deadline::after(milliseconds(config.docker.probe_deadline_ms)), context.cancel);
    return *located;
  };
  CollectOptions collect = collect_options(config);

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
      const bool found_above = options.config.empty() && kept.loaded.file.has_parent_path();
      paths = {found_above ? kept.project : std::string(".")};
    }
    if (!options.no_ignore) {
      collect.ignored = [&context](const std::filesystem::path& top) {
        auto names = Git(top, context.cancel).ignored();
        return names ? std::move(*names) : std::vector<std::string>();
      };
    }
    return gate_tree(request, tree_gate(options, std::move(paths), collect, context), options.mode, locate);
  }
  GUARD_TRY_ASSIGN(const SourceFiles files, collect_stdin(STDIN_FILENO, options.stdin_name, collect));
  if (options.mode == "auto") return gate_auto(request, files, locate);
  return gate(request, files, options.mode);
}

Result<CheckRecord> check(const CheckOptions& options, CommandContext& context, CheckContext& kept) {
  auto record = unmasked_check(options, context, kept);
  if (!record) return masked(record.error());
  // An allowed change without findings and waivers holds no word that is not guard's own.
  const bool only_ours = record->verdict.kind() == VerdictKind::allowed && !record->error && record->report.findings.empty() && record->waived.empty() &&
                         record->waivers.empty() && record->idle_waivers.empty() && record->names.empty();
  if (only_ours) return record;
  auto made = kept.secrets.get();
  if (!made) return masked(made.error());
  mask_record(**made, *record);
  return record;
}

std::string report_of(const CheckRecord& record, const CheckOptions& options, const CheckContext& kept, const Streams& streams) {
  switch (options.format) {
    case OutputFormat::json: return check_document(record);
    case OutputFormat::sarif:
      return check_sarif(record, {kept.engine.rules == nullptr ? RuleSet::shipped() : *kept.engine.rules, GUARD_VERSION, kept.loaded.config.check.docs_url});
    case OutputFormat::junit: return check_junit(record);
    case OutputFormat::github: return check_annotations(record);
    case OutputFormat::text: break;
  }
  if (options.print_waiver) {
    // A check that could not decide has no findings to waive; what it says instead is its verdict.
    const bool decided = record.verdict.kind() == VerdictKind::allowed || record.verdict.kind() == VerdictKind::rejected;
    if (decided) return waiver_template(record.report, kept.project, today_utc());
  }
  return check_text(record, streams.out_color ? Colour::on : Colour::off);
}

// No verdict: whoever asks wants to understand one. All tiers are on where the mode is left to guard, so that none is missed.
Result<std::string> explanation(const CheckOptions& options, CommandContext& context) {
  CheckContext kept;
  GUARD_TRY_ASSIGN(const GateRequest request, prepare(options, context, kept));
  std::vector<std::string> paths = options.paths;
  paths.push_back(options.explain);
  GUARD_TRY_ASSIGN(const SourceFiles files, collect_paths(paths, collect_options(kept.loaded.config)));
  GUARD_TRY_ASSIGN(const auto explained, explain_line(request, files, options.explain, options.explain_line, options.mode == "auto" ? "host" : options.mode));
  if (options.format == OutputFormat::json) return explanation_document(explained);
  return explanation_text(explained, context.streams.out_color ? Colour::on : Colour::off);
}

}  // namespace

int cmd_check(const CheckOptions& options, CommandContext& context) {
  context.streams.choose_color(options.color, context.environment);
  if (!options.explain.empty()) {
    auto text = explanation(options, context);
    if (!text) return fail(context, text.error());
    context.streams.out.write(*text);
    return finish(context, 0);
  }
  CheckContext kept;
  auto record = check(options, context, kept);
  if (!record) {
    if (options.format == OutputFormat::text) return fail(context, record.error());
    CheckRecord failed;
    failed.mode = options.mode == "auto" ? "host" : options.mode;
    failed.verdict = verdict_of(record.error());
    failed.error = std::move(record).error();
    record = std::move(failed);
  }
  context.streams.out.write(report_of(*record, options, kept, context.streams));
  return finish(context, record->verdict.exit_status());
}

}  // namespace guard
