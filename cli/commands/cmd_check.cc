// `guard check`: the validator alone.
#include <unistd.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <thread>

#include "cli/commands/check_session.h"
#include "cli/commands/commands.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/progress.h"
#include "common/file_io.h"
#include "common/text/text.h"
#include "pipeline/change/change_source.h"
#include "pipeline/change/git.h"
#include "pipeline/config/config_file.h"
#include "pipeline/gate/baseline.h"
#include "pipeline/gate/gate.h"
#include "pipeline/gate/waivers.h"
#include "pipeline/report/explanation.h"
#include "pipeline/report/reports.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// A gated commit is judged by the configuration that it is based on, never by the one that it brings along.
Result<ConfigSources> config_sources(const Options& options, CommandContext& context) {
  if (options.staged) return config_at(options.config, ".", {}, context);
  if (!options.config.empty()) return config_of(options.config, {}, context);
  std::error_code failure;
  const auto here = fs::current_path(failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, "the current folder", failure.value());
  return config_of({}, here, context);
}

TreeGate tree_gate(
    const Options& options, std::vector<std::string> paths, const CollectOptions& collect, CommandContext& context) {
  TreeGate tree;
  tree.paths = std::move(paths);
  tree.collect = collect;
  tree.cancel = &context.cancel;
  tree.jobs = options.jobs != 0 ? options.jobs : std::max(1u, std::thread::hardware_concurrency());
  if (context.streams.err_is_terminal) {
    tree.progress = [progress = std::make_shared<Progress>(context.streams.err, Progress::Mode::rewritten),
                        started = std::chrono::steady_clock::now()](std::uint64_t files, std::uint64_t bytes) {
      const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - started).count();
      const double megabytes = static_cast<double>(bytes) / 1e6;
      progress->say(
          fmt::format("{} files, {:.0f} MB, {:.0f} MB/s", files, megabytes, seconds > 0 ? megabytes / seconds : 0.0));
    };
  }
  return tree;
}

Result<GateRequest> prepare(const Options& options, CommandContext& context, CheckSession& session) {
  if (options.staged) {
    GUARD_TRY(refuse_inside_tree(options.config, "--config", ".", context));
    GUARD_TRY(refuse_inside_tree(options.rules, "--rules", ".", context));
  }
  GUARD_TRY_ASSIGN(const ConfigSources sources, config_sources(options, context));
  GUARD_TRY_ASSIGN(GateRequest request, prepare_check(sources, options.rules, context, session));
  request.files_expected = !options.allow_empty;
  request.keep_names = options.format == OutputFormat::junit;
  return request;
}

// Leaves in `baseline` what it held and is still found, or, where there was no file (`first`), all that is found; and
// in the file the same. A check that fails leaves the file alone.
Result<void> write_baseline(const GateRequest& request, const TreeGate& tree, const fs::path& file, bool first,
    Baseline& baseline, const CheckSession& session, CommandContext& context) {
  GateRequest naming = request;
  naming.keep_names = true;
  const CheckRecord record = gate_tree(naming, tree, "host");
  if (record.error) return *record.error;
  Baseline now(session.project, session.loaded.config.check.paths);
  now.add(record.report.findings);
  const std::uint64_t before = baseline.findings();
  if (first) {
    baseline = std::move(now);
  } else {
    baseline.shrink_to(now, record.names);
  }
  GUARD_TRY(write_file_atomically(file, baseline.document()));
  const std::uint64_t left = baseline.findings();
  context.streams.err.write(first
          ? fmt::format("guard: {} holds {}; commit it\n", file.native(), plural(left, "finding"))
          : fmt::format(
                "guard: {} holds {}, {} fewer than before\n", file.native(), plural(left, "finding"), before - left));
  return ok();
}

Result<CheckRecord> unmasked_check(const Options& options, CommandContext& context, CheckSession& session) {
  GUARD_TRY_ASSIGN(const GateRequest request, prepare(options, context, session));
  CollectOptions collect = collect_options(session.loaded.config);
  context.timeline.begin("check");

  if (options.staged) {
    ChangeRequest staged;
    staged.from = ChangeFrom::index;
    GUARD_TRY_ASSIGN(const CollectedChange collected, collect_change(".", staged, context.cancel));
    GateRequest relaxed = request;
    relaxed.files_expected = false;  // a commit that touches nothing gated is no reason to stop it
    return gate_change(relaxed, collected.change, std::nullopt, options.mode);
  }

  if (!options.read_stdin) {
    std::vector<std::string> paths = options.arguments;
    if (paths.empty() && options.write_baseline) {
      paths = {session.project};
    } else if (paths.empty()) {
      collect.gated_only = true;
      // The folder that the configuration speaks for, or the one we stand in.
      const bool found_above = options.config.empty() && session.loaded.file.has_parent_path();
      paths = {found_above ? session.project : std::string(".")};
    }
    if (!options.no_ignore) collect.ignored = Git::ignored_names(context.cancel);
    Baseline baseline(session.project, session.loaded.config.check.paths);
    const fs::path file = fs::path(session.project) / kBaselineFile;
    bool there = false;
    if (!options.no_baseline) {
      GUARD_TRY_ASSIGN(there, baseline.read(file));
    }
    const TreeGate tree = tree_gate(options, std::move(paths), collect, context);
    if (options.write_baseline) {
      GUARD_TRY(write_baseline(request, tree, file, !there, baseline, session, context));
    }
    GateRequest with_baseline = request;
    with_baseline.baseline = &baseline;
    return gate_tree(with_baseline, tree, options.write_baseline ? "host" : options.mode);
  }
  GUARD_TRY_ASSIGN(const SourceFiles files, collect_stdin(STDIN_FILENO, options.stdin_name, collect));
  return gate(request, files, options.mode);
}

// No verdict: whoever asks wants to understand one. All tiers are on where the mode is left to guard, so that none is
// missed.
Result<std::string> explanation(const Options& options, CommandContext& context) {
  CheckSession session;
  GUARD_TRY_ASSIGN(const GateRequest request, prepare(options, context, session));
  std::vector<std::string> paths = options.arguments;
  paths.push_back(options.explain);
  GUARD_TRY_ASSIGN(const SourceFiles files, collect_paths(paths, collect_options(session.loaded.config)));
  GUARD_TRY_ASSIGN(const auto explained,
      explain_line(
          request, files, options.explain, options.explain_line, options.mode == "auto" ? "host" : options.mode));
  if (options.format == OutputFormat::json) return explanation_document(explained);
  return explanation_text(explained, context.streams.out_color ? Colour::on : Colour::off);
}

}  // namespace

Result<int> cmd_check(const Options& options, CommandContext& context) {
  if (!options.explain.empty()) {
    GUARD_TRY_ASSIGN(const std::string text, explanation(options, context));
    context.streams.out.write(text);
    return 0;
  }
  CheckSession session;
  const auto record = masked_check(unmasked_check(options, context, session), session);
  if (record && options.print_waiver) {
    // A check that could not decide has no findings to waive; what it says instead is its verdict.
    const bool decided =
        record->verdict.kind() == VerdictKind::allowed || record->verdict.kind() == VerdictKind::rejected;
    if (decided) {
      context.streams.out.write(waiver_template(record->report, ProjectPaths(session.project), today_utc()));
      return record->verdict.exit_status();
    }
  }
  return finish_check(record, options.format, options.mode, session, context);
}

}  // namespace guard
