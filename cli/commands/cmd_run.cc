// `guard run` and `guard exec`: gate, sandbox, redactor, verdict.
#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>
#include <tuple>

#include "cli/commands/commands.h"
#include "cli/commands/rule_engine.h"
#include "cli/commands/trusted_inputs.h"
#include "cli/file_watch.h"
#include "cli/output_file.h"
#include "cli/progress.h"
#include "cli/sessions/project_sandbox.h"
#include "cli/test_lines.h"
#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/backend_choice.h"
#include "pipeline/change/config_trust.h"
#include "pipeline/config/config.h"
#include "pipeline/config/config_keys.h"
#include "pipeline/evidence/evidence_file.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/report/reports.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/suite_run.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

// The program's output on its way to the terminal: the progress line goes away before its first byte.
class ClearingSink final : public ByteSink {
 public:
  ClearingSink(Progress& progress, OutStream& next) : progress_(progress), next_(next) {}
  Result<void> push(std::span<const char> bytes) override {
    Result<void> pushed = ok();
    progress_.without_line(bytes.empty() || bytes.back() == '\n', [&] { pushed = next_.push(bytes); });
    return pushed;
  }
  Result<void> finish() override { return next_.finish(); }

 private:
  Progress& progress_;
  OutStream& next_;
};

// Keeps what it passes on, for a document.
class KeepingSink final : public ByteSink {
 public:
  explicit KeepingSink(ByteSink& next) : next_(next) {}
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return next_.push(bytes);
  }
  Result<void> finish() override { return next_.finish(); }
  std::string text;

 private:
  ByteSink& next_;
};

// What a command reads and where its output goes, where that is not guard's own streams.
struct CommandFiles {
  UniqueFd input;
  std::optional<OutputFile> out;
  std::optional<OutputFile> err;
};

// Once guard has read all that it reads.
Result<void> outputs_were_not_read(const CommandFiles& files) {
  for (const auto* file : {&files.out, &files.err}) {
    if (*file) GUARD_TRY((*file)->was_not_read());
  }
  return ok();
}

StreamRecord stream_record(std::string text, bool truncated, std::optional<OutputFile>& file) {
  if (!file || !file->begun()) return {std::move(text), truncated, {}, 0, {}};
  return {{}, false, file->path(), file->bytes(), file->finish_sha256()};
}

std::string_view stage_sentence(std::string_view stage) {
  if (stage == "probe") return "looking for a container engine";
  if (stage == "check") return "checking the code";
  if (stage == "collect") return "reading the files";
  if (stage == "image") return "looking for the image";
  if (stage == "stage") return "staging what was checked";
  if (stage == "run") return "running in the sandbox";
  if (stage == "judge") return "judging the result";
  if (stage == "bring_back") return "checking what the tests wrote";
  return stage;
}

// Names as typed -> names relative to the project, which is found from the first of them unless --project says it.
// Without a name: the folder we are in.
Result<void> resolve_files(const Options& options, RunRequest& request) {
  std::vector<std::string> names = options.arguments;
  if (names.empty()) names.emplace_back(options.project.empty() ? "." : options.project);
  std::error_code failure;
  // Only the folder is resolved: a test that is itself a link is refused later, not followed.
  const auto resolved = [&](const std::string& name) {
    const fs::path absolute = fs::absolute(name, failure).lexically_normal();
    return fs::is_directory(fs::symlink_status(absolute, failure))
        ? fs::weakly_canonical(absolute, failure)
        : fs::weakly_canonical(absolute.parent_path(), failure) / absolute.filename();
  };
  if (options.project.empty()) {
    request.project = project_of(resolved(names.front()));
  } else {
    GUARD_TRY_ASSIGN(request.project, project_folder(options.project));
  }
  for (const auto& name : names) {
    const fs::path path = resolved(name);
    const bool folder = fs::is_directory(fs::symlink_status(path, failure));
    std::string relative = path.lexically_relative(request.project).generic_string();
    if (relative.empty() || relative == ".." || relative.starts_with("../")) {
      return Error(ErrorCode::input_invalid,
          fmt::format("{} is not in the project {}", printable(name), printable(request.project.native())))
          .hint("name the tests of one project at a time, or the project with --project DIR");
    }
    if (relative == ".") relative.clear();
    if (folder && !relative.empty()) relative += "/";
    request.files.push_back(std::move(relative));
  }
  return ok();
}

// As the person sees it from where guard was started; in a record it should not tell more of the machine than that.
std::string project_as_given(const Options& options, const RunRequest& request) {
  if (!options.project.empty() || request.project.empty()) return options.project;
  std::error_code failure;
  const fs::path here = fs::current_path(failure);
  return request.project.lexically_proximate(here).string();
}

RunFacts facts_of(const Options& options, const RunRequest& request) {
  RunFacts facts = new_run_facts();
  facts.project = project_as_given(options, request);
  facts.files = request.files;
  facts.rules_folder = options.rules;
  return facts;
}

// --record holds for a run, too, that ends before its configuration is read.
Result<void> take_place(const Options& options, RunRequest& request, std::optional<EvidencePlace>& place) {
  if (options.record.empty()) return ok();
  GUARD_TRY_ASSIGN(place, evidence_place(options.record, request.project));
  request.facts = facts_of(options, request);
  return ok();
}

void take_config(const Options& options, const LoadedConfig& loaded, const RunRequest& request, RunFacts& facts) {
  facts.config = loaded.entries;
  if (loaded.file.empty()) return;
  facts.config_file =
      options.config.empty() ? loaded.file.lexically_proximate(request.project).string() : options.config;
  facts.config_sha256 = sha256_hex(loaded.file_bytes);
}

Result<void> prepare(const Options& options, CommandContext& context, RuleEngine& engine, RunRequest& request,
    std::optional<EvidencePlace>& place) {
  GUARD_TRY_ASSIGN(ConfigSources sources, sources_of(options, request.project, context));
  GUARD_TRY_ASSIGN(LoadedConfig loaded, load_config(sources));
  auto trusted = trust_relaxations(loaded, request.project, context.cancel);
  // A part of the tests is no evidence of the whole.
  if (trusted && !place && !loaded.config.run.record.empty() && request.options.is_plain()) {
    GUARD_TRY_ASSIGN(place, evidence_folder(loaded.config.run.record, request.project));
    request.facts = facts_of(options, request);
  }
  if (request.facts) take_config(options, loaded, request, *request.facts);
  GUARD_TRY(std::move(trusted));
  request.config = std::move(loaded.config);
  request.backend = options.backend;
  if (!request.backend) GUARD_TRY(rolled_out(request.config));
  request.environment = context.environment;
  context.timeline.begin("rules");
  GUARD_TRY_ASSIGN(engine, load_rule_engine(options.rules));
  request.rules = engine.rules;
  request.rules_folder = options.rules;
  request.matcher = &*engine.matcher;
  if (request.facts) request.facts->rules_digest = engine.rules->digest();
  return ok();
}

std::string document_of(const RunRecord& record, OutputFormat format, const RunRequest& request) {
  switch (format) {
    case OutputFormat::sarif:
      return run_sarif(record,
          {request.rules == nullptr ? RuleSet::shipped() : *request.rules, GUARD_VERSION,
              request.config.check.docs_url});
    case OutputFormat::junit: return run_junit(record);
    case OutputFormat::github: return run_annotations(record);
    default: return run_document(record);
  }
}

// A run of its own, of which nothing else is kept: all files in one process, whose coverage bun can write, is no way to
// decide anything.
void measure_coverage(const RunRequest& request, RunRecord& record, const CancelToken& cancel) {
  if (!record.exec || cancel.cancelled()) return;
  if (record.verdict.kind() != VerdictKind::allowed) {
    record.notes.push_back("coverage is measured only where the run is allowed");
    return;
  }
  RunRequest again = request;
  again.options.coverage = Coverage::on;
  again.facts.reset();
  again.jobs = 1;
  again.config.run.collect = CollectPolicy::none;
  again.warn = {};
  again.connection_ended = {};
  again.progress = {};
  NullSink out, err;
  const RunRecord second = run_tests(again, out, err, cancel);
  if (!second.coverage) {
    record.notes.push_back(fmt::format("coverage could not be measured: {}",
        backend_row(named<Backend>(record.backend).value_or(Backend::host)).takes_image
            ? second.verdict.detail.empty() ? std::string(info(second.verdict.reason).sentence) : second.verdict.detail
            : fmt::format("{} hands no files out", record.backend)));
    return;
  }
  record.lines = parse_lcov(*second.coverage, [&](const std::string& file) -> std::uint32_t {
    const bool test = std::any_of(
        record.files.begin(), record.files.end(), [&](const FileResult& result) { return result.file == file; });
    return !test && record.hashes.count(file) != 0 ? UINT32_MAX : 0;
  });
}

std::string connection_text(const EgressDecision& decision) {
  const std::string target =
      decision.host.empty() ? "no host" : fmt::format("{}:{}", printable(decision.host), decision.port);
  if (!decision.allowed)
    return fmt::format("{} refused ({}): {}", target, to_string(decision.reason), printable(decision.text));
  return fmt::format("{} {}, {} up, {} down in {} ms", target,
      decision.reason == EgressReason::done ? "allowed" : to_string(decision.reason), bytes_text(decision.bytes_up),
      bytes_text(decision.bytes_down), decision.elapsed.count());
}

// A run whose configuration is read, as far as a person follows it.
RunRecord run_in_view(
    const Options& options, CommandContext& context, RunRequest& request, CommandFiles& files, Progress& progress) {
  Streams& streams = context.streams;
  const bool document = options.format != OutputFormat::text;
  const bool command = !request.argv.empty();
  // With a format for machines stdout is one document and nothing else.
  ClearingSink out(progress, document ? streams.err : streams.out);
  ClearingSink err(progress, streams.err);
  TestLines painted(err);
  request.progress = [&](std::string_view stage) { progress.say(stage_sentence(stage)); };
  request.warn = [&](std::string_view sentence) {
    progress.without_line(true, [&] { streams.err.print("guard: warning: {}\n", sentence); });
  };
  if (options.network_log) {
    request.connection_ended = [&](const EgressDecision& decision) {
      progress.without_line(true, [&] { streams.err.print("guard: network: {}\n", connection_text(decision)); });
    };
  }
  request.raw_out = files.out ? &*files.out : nullptr;
  request.raw_err = files.err ? &*files.err : nullptr;
  request.timeline = &context.timeline;
  request.before_start = [&] { return outputs_were_not_read(files); };
  RunRecord record;
  if (command && document) {
    KeepingSink kept_out(out);
    KeepingSink kept_err(err);
    record = run_tests(request, kept_out, kept_err, context.cancel);
    const bool broken = record.spec && !record.exec;
    record.out = stream_record(std::move(kept_out.text), broken || record.out_truncated, files.out);
    record.err = stream_record(std::move(kept_err.text), broken || record.err_truncated, files.err);
  } else {
    const bool paints = streams.err_color && !command;
    record = run_tests(request, out, paints ? static_cast<ByteSink&>(painted) : err, context.cancel);
  }
  if (options.coverage) {
    progress.say("running once more for the coverage");
    measure_coverage(request, record, context.cancel);
  }
  static_cast<void>(painted.finish());  // a stream that can't be written to is told at the end
  if (record.dropped_bytes > 0) {
    (document || command ? streams.err : streams.out)
        .print("\n[guard: the output is cut here, after {} bytes; {} more were dropped]\n", record.kept_bytes,
            record.dropped_bytes);
  }
  return record;
}

// What a program that was refused everything has asked for, as it may stand in guard.toml.
std::string network_toml(const NetworkRecord& record) {
  std::vector<std::string> targets;
  for (const NetworkLine& line : record.lines) {
    const auto target = EgressTarget::parse(fmt::format("{}:{}", line.host, line.port));
    if (line.reason != to_string(EgressReason::not_listed) || !target) continue;
    targets.push_back(fmt::format("\"{}\"", target->text()));
  }
  if (targets.empty()) return "guard: the code asked for no connection\n";
  return fmt::format("guard: the code asked for these; as guard.toml has them:\n\n[network]\nallow = [{}]\n",
      fmt::join(targets, ", "));
}

// `seen`: what the verdict was about, relative to the project, for those who wait for a change of it; may be null.
// USAGE for a call that can't be right, whatever the run would have come to.
Result<int> run(const Options& options, CommandContext& context, RuleEngine& engine, RunRequest& request,
    Result<void> prepared, CommandFiles files = {}, std::vector<std::string>* seen = nullptr) {
  Streams& streams = context.streams;
  const bool document = options.format != OutputFormat::text;
  const bool command = !request.argv.empty();
  RunRecord record;
  std::optional<EvidencePlace> place;
  {
    Progress progress(streams.err, progress_mode(streams, options.quiet));
    context.timeline.begin("configuration");
    auto placed = take_place(options, request, place);
    if (prepared) prepared = std::move(placed);
    if (prepared) prepared = prepare(options, context, engine, request, place);
    if (prepared) {
      record = run_in_view(options, context, request, files, progress);
    } else {
      record.verdict = verdict_of(prepared.error());
      record.error = std::move(prepared).error();
      record.facts = request.facts;
      mask_or_withhold(std::nullopt, record);
    }
  }
  if (record.error && record.error->code() == ErrorCode::usage) return *record.error;
  if (record.lines && !options.lcov.empty()) {
    if (const auto written = write_file_atomically(options.lcov, lcov_text(*record.lines), 0644); !written)
      record.notes.push_back("--lcov: " + written.error().message());
  }
  if (place) context.timeline.begin("evidence");
  if (place) keep_evidence(*place, GUARD_VERSION, interrupted_status(context, record.verdict.exit_status()), record);
  context.timeline.end();
  record.timeline = context.timeline.stages();
  context.timeline.begin("report");
  if (document) {
    streams.out.write(document_of(record, options.format, request));
  } else if (command) {
    // The command's own output is the result; ours is talk.
    if (!options.quiet || record.verdict.kind() != VerdictKind::allowed)
      streams.err.write(run_text(record, streams.err_color ? Colour::on : Colour::off));
  } else {
    streams.out.write(run_text(record, streams.out_color ? Colour::on : Colour::off));
  }
  if (options.record_network && record.network && !document) streams.err.write(network_toml(*record.network));
  if (seen != nullptr) {
    *seen = {"guard.toml", "package.json"};
    for (const auto& [path, hash] : record.hashes) seen->push_back(path);
    for (const auto& finding : record.refused) seen->push_back(finding.path);
  }
  const bool ended = record.exec && record.exec->outcome.kind == OutcomeKind::exited &&
      (record.verdict.kind() == VerdictKind::allowed || record.verdict.reason == Reason::command_failed);
  if (options.exit_code == ExitCode::program && ended) return static_cast<int>(record.exec->outcome.value);
  return record.verdict.exit_status();
}

Result<int> run_once(
    const Options& options, CommandContext& context, fs::path& project, std::vector<std::string>* seen) {
  RuleEngine engine;
  RunRequest request;
  request.jobs = std::max(1u, options.jobs);
  request.options.names = options.test_name;
  auto resolved = resolve_files(options, request);
  project = request.project;
  return run(options, context, engine, request, std::move(resolved), {}, seen);
}

Result<void> open_files(const Options& options, RunRequest& request, CommandFiles& files) {
  if (options.input == "-") {
    request.input_descriptor = STDIN_FILENO;
  } else if (!options.input.empty()) {
    // Not to wait for a writer here, where no time limit holds yet.
    files.input.reset(::open(options.input.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
    if (!files.input) return Error::from_errno(ErrorCode::input_invalid, printable(options.input), errno);
    request.input_descriptor = files.input.get();
  }
  for (auto [option, path, file] :
      {std::tuple("--out", &options.out_file, &files.out), std::tuple("--err", &options.err_file, &files.err)}) {
    if (path->empty()) continue;
    GUARD_TRY_ASSIGN(OutputFile opened, OutputFile::open({option, *path, request.project, options.writes}));
    file->emplace(std::move(opened));
    GUARD_TRY((*file)->differs_from(request.input_descriptor, "--stdin"));
    if (!options.record.empty()) GUARD_TRY((*file)->differs_from(options.record, "--record"));
  }
  return files.out && files.err ? files.out->differs_from(files.err->fd(), "--err") : ok();
}

}  // namespace

Result<int> cmd_run(const Options& options, CommandContext& context) {
  fs::path project;
  if (!options.watch) return run_once(options, context, project, nullptr);
  for (;;) {
    const auto begun = fs::file_time_type::clock::now();
    std::vector<std::string> seen;
    GUARD_TRY_ASSIGN(const int status, run_once(options, context, project, &seen));
    end_timeline(context);
    if (context.cancel.cancelled() || project.empty()) return status;
    std::vector<fs::path> files;
    for (const auto& name : seen) files.push_back(project / name);
    (void)context.streams.out.flush();  // its failure is told at the end
    context.streams.err.print("\nguard: waiting for a change of {} files; Ctrl-C ends\n", files.size());
    if (!wait_for_change(files, begun, context.cancel))
      return interrupted_status(context, info(ErrorCode::cancelled).exit_status);
  }
}

Result<int> cmd_exec(const Options& options, CommandContext& context) {
  if (options.tty)
    return work_on_terminal([&] { return project_sandbox(options, context, options.arguments, {}); }, context);
  RuleEngine engine;
  RunRequest request;
  request.argv = options.arguments;
  request.working_dir = options.cwd;
  request.writes = options.writes;
  CommandFiles files;
  Result<void> prepared = ok();
  if (auto project = project_folder(options.project)) {
    request.project = *std::move(project);
    prepared = open_files(options, request, files);
  } else {
    prepared = std::move(project).error();
  }
  return run(options, context, engine, request, std::move(prepared), std::move(files));
}

}  // namespace guard
