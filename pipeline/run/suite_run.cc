#include "pipeline/run/suite_run.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/hash.h"
#include "common/log.h"
#include "common/own_entry.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/backend_choice.h"
#include "pipeline/change/git.h"
#include "pipeline/credentials.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/gate/gate.h"
#include "pipeline/gate/run_gate.h"
#include "pipeline/network.h"
#include "pipeline/run/collected_files.h"
#include "pipeline/run/command_hints.h"
#include "pipeline/run/parallel_run.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/run_output.h"
#include "pipeline/run/run_spec.h"
#include "pipeline/run/staging.h"
#include "pipeline/run/test_command.h"
#include "runner/image/engine_image.h"
#include "runner/image/image.h"
#include "runner/process/run_folder.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kOpenLimit{60'000};
constexpr milliseconds kProbeDeadline{2000};  // of the embedded sandbox, for the record alone

std::string joined(const std::vector<std::string>& words) { return fmt::format("{}", fmt::join(words, ", ")); }

// Digests bytes on their way to the next sink.
class DigestSink final : public ByteSink {
 public:
  explicit DigestSink(ByteSink& next) : next_(next) {}
  Result<void> push(std::span<const char> bytes) override {
    hash_.update(bytes);
    return next_.push(bytes);
  }
  Result<void> finish() override { return next_.finish(); }

  std::string finish_hex() { return hash_.finish_hex(); }

 private:
  ByteSink& next_;
  Sha256 hash_;
};

void relax_if(bool relaxed, std::string sentence, RunRecord& record) {
  if (relaxed) record.relaxations.push_back(std::move(sentence));
}

void warn(const RunRequest& request, std::string_view sentence) {
  if (request.warn) request.warn(sentence);
}

// What the configuration relaxes, whatever the backend.
void tell_relaxations(const RunRequest& request, RunRecord& record) {
  const Config& config = request.config;
  relax_if(!request.rules_folder.empty(),
      "rules: " + request.rules_folder + " instead of the shipped docker and host tiers", record);
  if (network_of(config) == Network::allowlist) relax_if(true, network_relaxation(config), record);
  for (std::string& sentence : credential_relaxations(config)) relax_if(true, std::move(sentence), record);
  relax_if(!config.network.proxy.empty(),
      fmt::format(
          "network.proxy = {}: it looks names up, and may lead them to private addresses", config.network.proxy),
      record);
  for (const auto& [option, sink] : {std::pair("--out", request.raw_out), std::pair("--err", request.raw_err)})
    relax_if(sink != nullptr, fmt::format("{}: neither masked nor capped", option), record);
  for (const std::string& folder : request.writes)
    relax_if(
        true, fmt::format("--write {}: what the command writes there stays, unchecked", printable(folder)), record);
  relax_if(!config.redact.kinds_off.empty(), "redact.kinds_off: " + joined(config.redact.kinds_off), record);
  relax_if(!request.options.names.empty(),
      fmt::format("-t: only tests whose name matches {} ran", printable(request.options.names)), record);
  relax_if(config.run.isolation == Isolation::run, "run.isolation = run: all test files share one process", record);
  relax_if(
      !config.check.two_hit_ignore.empty(), "check.two_hit_ignore: " + joined(config.check.two_hit_ignore), record);
}

void tell_of_engine(const RunRequest& request, const EngineLocation& used, RunRecord& record) {
  const auto& config = request.config.docker;
  if (used.engine.is_remote() && config.plain_tcp && !used.engine.tls && !used.engine.is_loopback()) {
    relax_if(true, fmt::format("docker.plain_tcp: {} is trusted without TLS", used.probe.endpoint), record);
    warn(request,
        fmt::format("{} is trusted without TLS: anybody on the way could forge this verdict", used.probe.endpoint));
  }
  if (!is_open(network_of(request.config))) return;
  warn(request,
      fmt::format("docker.network = {}: the code reaches {}", to_string(config.network),
          config.network == NetworkMode::host ? "the network as this machine does, its local services included"
                                              : "the network"));
}

Result<void> find_configured_image(const RunRequest& request, const docker::Endpoint& engine, const CancelToken& cancel,
    SandboxSpec& spec, RunRecord& record) {
  EngineImageRequest wanted;
  wanted.engine = engine;
  wanted.reference = request.config.docker.image;
  wanted.pull = request.config.docker.pull == PullPolicy::missing ? PullImage::if_missing : PullImage::never;
  wanted.environment = request.environment;
  wanted.progress = request.progress;
  GUARD_TRY_ASSIGN(const EngineImage found, find_or_pull_image(wanted, cancel));
  spec.image.reference = wanted.reference;
  spec.image.module_folders = {""};
  // What was found is what runs, whoever moves the name meanwhile.
  spec.image.id = found.id;
  relax_if(true,
      fmt::format("docker.image = {}: an image of the configuration, its contents not compared", wanted.reference),
      record);
  relax_if(found.pulled,
      fmt::format("docker.pull = missing: {} was pulled for this run, its contents not compared", wanted.reference),
      record);
  return ok();
}

void tell_what_was_missing(RunRecord& record) {
  constexpr std::size_t kNamed = 3;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < std::min(kNamed, record.refused.size()); ++i) names.push_back(record.refused[i].path);
  if (record.refused.size() > kNamed) names.push_back(fmt::format("{} more", record.refused.size() - kNamed));
  std::string& detail = record.verdict.detail;
  detail = fmt::format("{} (left out: {}; a test that needs a refused file fails, so repair or remove it)",
      detail.empty() ? info(record.verdict.reason).sentence : detail, joined(names));
}

class Run {
 public:
  Run(const RunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel)
      : request_(request),
        config_(request.config),
        out_(out),
        err_(err),
        cancel_(cancel),
        started_(SteadyClock::now()) {}

  RunRecord execute() {
    record_.facts = request_.facts;
    if (auto done = steps(); !done) {
      record_.verdict = verdict_of(done.error());
      record_.error = std::move(done).error();
    }
    end_stage();
    if (!record_.staged) {
      for (const auto& file : plan_.tree.gated.files) record_.hashes[file.path] = sha256_hex(file.bytes);
    }
    if (record_.facts) complete(*record_.facts);
    mask_or_withhold(secrets_, record_);
    return std::move(record_);
  }

  Result<RunSandbox> open(const RecordedSandbox* recorded) {
    recorded_ = recorded;
    SandboxSpec spec;
    GUARD_TRY_ASSIGN(std::optional<RunFolder> folder, prepare(spec));
    spec.argv.clear();
    spec.collect.reset();  // of a program
    spec.timeout = kOpenLimit;
    stage("run");
    const std::shared_ptr<Sandbox> sandbox =
        make_sandbox(plan_.choice.backend, sandbox_options(config_, request_.environment, engine_used()));
    RunSandbox opened;
    GUARD_TRY_ASSIGN(opened.sandbox, sandbox->open(spec, cancel_));
    opened.sandbox->keep(sandbox);
    opened.sandbox->keep(std::make_shared<RunFolder>(*std::move(folder)));
    opened.sandbox->keep(std::make_shared<UniqueFd>(std::move(image_hold_)));
    opened.backend = record_.backend;
    opened.working_dir = spec.working_dir;
    opened.env = spec.env;
    opened.left_out = record_.left_out;
    return opened;
  }

 private:
  // The order of work. An Error ends the run undecided or unavailable; a verdict in the record ends it without one.
  Result<void> steps() {
    SandboxSpec spec;
    GUARD_TRY_ASSIGN(const std::optional<RunFolder> folder, prepare(spec));
    if (!folder) return ok();

    stage("run");
    auto ran = run(spec);
    if (egress_) record_.network = egress_->close();
    GUARD_TRY_ASSIGN(std::optional<Collection> written, std::move(ran));

    stage("judge");
    if (plan_.tests()) judge();
    // An environment of the cu program and the host have a network of their own.
    if (record_.verdict.reason == Reason::command_failed && !plan_.works_in_staged_folder())
      record_.error = why_it_failed(spec);
    auto brought = bring_back(std::move(written));
    note("tidy");  // the run's folder
    return brought;
  }

  // Up to the sandbox. Without a folder: the gate refuses the run.
  Result<std::optional<RunFolder>> prepare(SandboxSpec& spec) {
    GUARD_TRY(refuse_what_does_not_fit());
    stage("probe");
    GUARD_TRY(choose());
    note("leftovers");
    remove_what_is_left_over();
    note("settings");
    GUARD_TRY_ASSIGN(plan_.variables, run_variables(config_, request_.environment));
    GUARD_TRY(check_key_files(config_, request_.project));
    GUARD_TRY_ASSIGN(secrets_, secrets_of(request_.environment, config_, plan_.variables));
    record_.unmasked = secrets_->refused();

    stage(plan_.tests() ? "check" : "collect", "files");
    if (request_.jobs > 1 && plan_.collect_policy() != CollectPolicy::none) {
      return Error(ErrorCode::input_invalid,
          "--jobs and --collect do not go together: several sandboxes may write the same file")
          .hint("leave one of them out");
    }
    GUARD_TRY(find_preload());
    GUARD_TRY(collect());
    if (plan_.tests()) note("check");
    if (plan_.tests() && !check()) return std::optional<RunFolder>();
    GUARD_TRY(read_keys());

    if (plan_.image_is_configured()) {
      stage("image");
      GUARD_TRY(find_configured_image(request_, engine().engine, cancel_, spec, record_));
    }
    stage("stage", "image");
    if (!plan_.image_is_configured()) GUARD_TRY(choose_image(spec));
    GUARD_TRY(compare_image(spec.image));
    note("stage");
    GUARD_TRY_ASSIGN(RunFolder folder, RunFolder::create());
    GUARD_TRY_ASSIGN(const StagedTree staged,
        stage_tree(
            folder.path(), request_.project, plan_.tree, {spec.image.module_folders, plan_.works_in_staged_folder()}));
    GUARD_TRY(take_staged(staged));
    GUARD_TRY(compare_files(staged));
    for (const auto& [name, value] : plan_.variables)
      relax_if(true, fmt::format("run.env: {} is passed in", name), record_);
    GUARD_TRY(fill_run_spec(plan_, folder, staged, spec));
    if (spec.network == Network::allowlist) {
      GUARD_TRY_ASSIGN(egress_, Egress::open(config_, std::move(credentials_), watch()));
      GUARD_TRY(egress_->show_authorities(folder.path(), spec));
    }
    record_.spec = spec;
    if (egress_) spec.egress = egress_->taker();
    if (record_.facts) record_.facts->run_id = spec.run_id;
    record_.keep_bytes = config_.limits.output_keep_bytes;
    return std::optional(std::move(folder));
  }

  Result<void> read_keys() {
    GUARD_TRY_ASSIGN(credentials_, read_credentials(config_, request_.project, request_.environment, cancel_));
    if (credentials_.empty()) return ok();
    auto passed = hidden_by(credentials_);
    passed.insert(plan_.variables.begin(), plan_.variables.end());
    GUARD_TRY_ASSIGN(secrets_, secrets_of(request_.environment, config_, passed));
    record_.unmasked = secrets_->refused();
    return ok();
  }

  // A host is a word of the code's.
  Egress::Watch watch() const {
    if (!request_.connection_ended) return {};
    return [this](const EgressDecision& decision) {
      EgressDecision shown = decision;
      for (std::string* text : {&shown.host, &shown.text}) *text = redact_text(*secrets_, *text).value_or("[WITHHELD]");
      request_.connection_ended(shown);
    };
  }

  // ---- a sandbox as it was recorded ----

  void keep_recorded_files() {
    if (recorded_ == nullptr) return;
    const auto is_new = [this](const std::string& path) { return recorded_->hashes.count(path) == 0; };
    std::erase_if(plan_.tree.gated.files, [&](const SourceFile& file) { return is_new(file.path); });
    std::erase_if(plan_.tree.others, is_new);
  }

  Result<void> compare_image(const RuntimeImage& image) const {
    if (recorded_ == nullptr || (image.reference == recorded_->image_reference && image.id == recorded_->image_id))
      return ok();
    return Error(ErrorCode::input_invalid,
        fmt::format("the record is of a run on {}, and a run now would be on {}", printable(recorded_->image_reference),
            printable(image.reference)))
        .hint("go back to the lockfile, the guard and the bun of then, or run the tests again");
  }

  Result<void> compare_files(const StagedTree& staged) const {
    if (recorded_ == nullptr || staged.hashes == recorded_->hashes) return ok();
    std::vector<std::string> changed;
    for (const auto& [path, digest] : recorded_->hashes) {
      const auto found = staged.hashes.find(path);
      if (found == staged.hashes.end() || found->second != digest) changed.push_back(printable(path));
    }
    return Error(ErrorCode::input_invalid,
        fmt::format("the project is not what the record was written of; changed or gone: {}", joined(changed)))
        .hint("go back to the files of then, or run the tests again");
  }

  // ---- what is asked for ----

  Result<void> refuse_what_does_not_fit() const {
    if (request_.facts && !request_.options.is_plain())
      return Error(ErrorCode::internal, "an evidence record was asked for a run that is not the plain one");
    if (plan_.tests() && (request_.raw_out != nullptr || request_.raw_err != nullptr))
      return Error(ErrorCode::internal, "the output of tests was asked for unmasked");
    if (plan_.tests() && !request_.writes.empty())
      return Error(ErrorCode::internal, "tests were to write into the project");
    if (plan_.coverage() && (config_.run.collect != CollectPolicy::none || request_.jobs > 1)) {
      return Error(
          ErrorCode::internal, "coverage was asked for of a run that hands out other files, or of several at once");
    }
    return ok();
  }

  // ---- what the record says beside the verdict ----

  // The timeline has finer ones: `first` is the first of those.
  void stage(const char* name, const char* first) {
    end_stage();
    note(first);
    stage_ = name;
    stage_started_ = SteadyClock::now();
    log_debug(stage_);
    if (request_.progress) request_.progress(name);
  }

  void stage(const char* name) { stage(name, name); }
  void note(const char* name) { begin_stage(request_.timeline, name); }

  void end_stage() {
    const auto took = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - stage_started_);
    if (!stage_.empty()) record_.timings.emplace_back(std::exchange(stage_, {}), took);
  }

  void complete(RunFacts& facts) const {
    facts.elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - started_);
    // Of an engine that could not be used, too: it is the reason. Before the choice the backend is docker.
    if (engine_ && plan_.on_docker()) take_engine(engine_->probe, facts);
    if (record_.exec && record_.exec->report && !record_.exec->report_truncated)
      facts.report_sha256 = sha256_hex(*record_.exec->report);
  }

  // ---- where it runs ----

  const EngineLocation& engine() {
    if (!engine_) engine_ = locate_engine(config_, request_.environment, cancel_);
    return *engine_;
  }

  Result<void> choose() {
    GUARD_TRY_ASSIGN(plan_.choice, choose_backend(config_, request_.backend, [this](Backend backend) {
      return probe_backend(
          backend, config_, request_.environment, [this]() -> const EngineLocation& { return engine(); });
    }));
    record_.backend = to_string(plan_.choice.backend);
    record_.why_backend = plan_.choice.why;
    log_info(record_.backend + ": " + plan_.choice.why);
    record_.tiers = tier_names(plan_.choice.tiers);
    record_.relaxations = plan_.choice.relaxations;
    if (plan_.choice.backend == Backend::host && config_.host.warn_on_start)
      warn(request_, "this runs on the host, without isolation");
    GUARD_TRY(network_fits(plan_.choice, config_, plan_.on_docker() && engine().engine.is_plain_tcp()));
    if (plan_.on_docker()) {
      tell_of_engine(request_, engine(), record_);
    } else if (!config_.docker.image.empty()) {
      record_.notes.push_back(fmt::format("docker.image = {} is not used by {}", printable(config_.docker.image),
          backend_row(plan_.choice.backend).words));
    }
    tell_relaxations(request_, record_);
    return ok();
  }

  docker::Endpoint engine_used() { return plan_.on_docker() ? engine().engine : docker::Endpoint(); }

  void remove_what_is_left_over() {
    for (const auto& sentences : {remove_leftovers(engine_used(), cancel_, LookAtProcesses::where_runs_died).failed,
             sweep_own(request_.project / "sandbox").failed})
      record_.notes.insert(record_.notes.end(), sentences.begin(), sentences.end());
  }

  // ---- which files ----

  Result<void> find_preload() {
    if (!plan_.tests() && recorded_ == nullptr) return ok();
    GUARD_TRY_ASSIGN(plan_.preload, read_preload(request_.project));
    if (plan_.preload.files.empty() || recorded_ != nullptr) return ok();  // those of a record are compared with it
    const fs::path& committed = request_.committed_tree.empty() ? request_.project : request_.committed_tree;
    GUARD_TRY_ASSIGN(preload_digests_, committed_preload(plan_.preload, request_.project, committed, cancel_));
    record_.preload = plan_.preload.names;
    return ok();
  }

  ProjectTreeRequest tree_request() const {
    ProjectTreeRequest wanted;
    wanted.project = request_.project;
    wanted.named = request_.files;
    wanted.gated_paths = config_.check.paths;
    wanted.also = plan_.preload.files;
    wanted.file_bytes_max = config_.check.max_file_bytes;
    wanted.ignored = Git::ignored_names(cancel_);
    return wanted;
  }

  Result<void> collect() {
    GUARD_TRY_ASSIGN(plan_.tree, read_project_tree(tree_request()));
    record_.left_out = plan_.tree.left_out;
    if (plan_.collect_policy() != CollectPolicy::none) {
      GUARD_TRY_ASSIGN(target_folder_, TargetFolder::open(request_.project / plan_.tree.writable));
    }
    if (!plan_.tests()) {
      plan_.tree.tests.clear();
      GUARD_TRY_ASSIGN(plan_.writes, shared_folders(request_.project, request_.writes));
      leave_to_command(plan_.writes, plan_.tree);
      keep_recorded_files();
      // Without a gate nothing is refused, but a link or device is no more mounted than in a test run.
      for (const auto& finding : plan_.tree.gated.findings) record_.left_out.push_back(finding.path);
    }
    return ok();
  }

  GateRequest gate_request() const {
    GateRequest request;
    request.rules = request_.rules;
    request.matcher = request_.matcher;
    request.config = &config_;
    request.secrets = [this]() -> Result<const SecretSource*> { return &*secrets_; };
    request.project = request_.project;
    request.absent = absent_;
    request.keep_names = true;
    return request;
  }

  // False: the gate refuses the run, and the record says why.
  bool check() {
    // Where the program sees the project itself, nothing can be left out.
    if (request_.refused_files == RefusedFiles::decide || plan_.works_in_staged_folder()) {
      record_.check = gate(gate_request(), plan_.tree.gated, record_.backend);
    } else {
      std::vector<std::string> named = plan_.tree.tests;
      named.insert(named.end(), plan_.preload.files.begin(), plan_.preload.files.end());
      RunGate judged = gate_run(gate_request(), plan_.tree.gated, named, record_.backend);
      record_.check = std::move(judged.check);
      record_.refused = std::move(judged.left_out);
      for (const auto& finding : record_.refused) absent_.insert(finding.path);
    }
    for (const auto& used : record_.check->waivers) record_.relaxations.push_back(waiver_text(used));
    if (record_.check->verdict.kind() == VerdictKind::allowed) return true;
    record_.verdict = record_.check->verdict;
    record_.error = record_.check->error;
    return false;
  }

  // ---- what they run on ----

  Result<void> choose_image(SandboxSpec& spec) {
    if (plan_.choice.backend == Backend::container_use) return ok();  // the environment brings its own bun
    if (plan_.choice.backend == Backend::host) {
      GUARD_TRY_ASSIGN(plan_.host_bun, find_bun());
      if (record_.facts) take_host_bun(plan_.host_bun, cancel_, *record_.facts);
      return ok();
    }
    GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(request_.project, config_));
    relax_if(!inputs.tools.empty(), "image.tools: " + joined(inputs.tools), record_);
    GUARD_TRY_ASSIGN(const ImagePlan plan, plan_image(inputs));
    if (!plan.built) {
      return Error(ErrorCode::image_missing, fmt::format("{} is not built yet", plan.reference))
          .hint(fmt::format("run `guard image build` in {}", printable(request_.project.native())))
          .detail("image", plan.reference);
    }
    GUARD_TRY_ASSIGN(image_hold_, hold_image(plan));
    GUARD_TRY_ASSIGN(spec.image, runtime_image(plan));
    if (record_.facts) take_image(plan, *record_.facts);
    return ok();
  }

  // What is preloaded was compared with HEAD; it has to be what was staged.
  Result<void> take_staged(const StagedTree& staged) {
    record_.hashes = staged.hashes;
    for (const auto& [path, digest] : preload_digests_) {
      const auto found = staged.hashes.find(path);
      if (found == staged.hashes.end() || found->second != digest) {
        return Error(ErrorCode::input_invalid,
            fmt::format("{} is loaded before the tests, and changed or can't be staged", printable(path)))
            .hint("run again; git must not ignore it");
      }
    }
    record_.staged = true;
    record_.left_out.insert(record_.left_out.end(), staged.left_out.begin(), staged.left_out.end());
    return ok();
  }

  // ---- the run ----

  void tell_progress(std::size_t done) const {
    const auto& files = plan_.tree.tests;
    if (!request_.progress || done >= files.size()) return;
    request_.progress(plan_.jobs() > 1 || plan_.isolation() == Isolation::run
            ? fmt::format("running: {} of {} files have ended", done, files.size())
            : fmt::format("running {} ({} of {})", files[done], done + 1, files.size()));
  }

  // Answers what was written.
  Result<std::optional<Collection>> run(const SandboxSpec& spec) {
    const SandboxOptions options = sandbox_options(config_, request_.environment, engine_used());
    ParallelRunRequest request;
    request.plan = &plan_;
    request.spec = &spec;
    request.secrets = &*secrets_;
    request.make_sandbox = [&] { return make_sandbox(plan_.choice.backend, options); };
    request.progress = [&](std::size_t done) { tell_progress(done); };
    record_.jobs = plan_.jobs();
    if (record_.facts && !plan_.on_docker())
      take_engine(make_sandbox(plan_.choice.backend, options)->probe(Deadline::after(kProbeDeadline)), *record_.facts);
    if (request_.before_start) GUARD_TRY(request_.before_start());
    auto parts = run_parallel(request, out_, err_, cancel_);
    if (!parts && !plan_.tests() && !plan_.works_in_staged_folder())
      parts = with_start_hint(std::move(parts).error(), spec);
    GUARD_TRY_ASSIGN(ParallelRun ran,
        std::move(parts).context(fmt::format("running {} in the {} sandbox",
            plan_.tests() ? "the tests" : printable(spec.argv.front()), record_.backend)));
    static_cast<RunOutcome&>(record_) = std::move(ran);
    if (record_.facts) {
      record_.facts->stdout_sha256 = out_.finish_hex();
      record_.facts->stderr_sha256 = err_.finish_hex();
    }
    record_.exec = std::move(ran.exec);  // NOLINT(bugprone-use-after-move): it is not of what was moved
    record_.notes.insert(record_.notes.end(), record_.exec->notes.begin(), record_.exec->notes.end());
    if (ran.written && plan_.coverage()) take_coverage(*ran.written);
    return std::move(ran.written);
  }

  // It names guard's own files, so it is for guard alone and never comes back into the project.
  void take_coverage(Collection& written) {
    const std::string wanted =
        std::string(kCoverageInside.substr(record_.spec->collect->folder.size() + 1)) + "/lcov.info";
    for (auto& file : written.files) {
      if (file.path == wanted) record_.coverage = std::move(file.bytes);
    }
    written.files.clear();
  }

  // ---- what it came to ----

  void judge() {
    if (record_.verdict.kind() == VerdictKind::allowed) look_for_changes();
    if (record_.verdict.kind() != VerdictKind::allowed && !record_.refused.empty()) tell_what_was_missing(record_);
    if (!record_.tests) return;
    for (const auto& file : record_.tests->files) {
      relax_if(file.assertions == 0 && file.skipped < file.tests,
          fmt::format("evidence: no expect() was counted in {}", file.file), record_);
    }
  }

  // A sandboxed run can't have changed them, but whoever takes the verdict takes what lies there now.
  void look_for_changes() {
    auto changed = [&]() -> Result<std::vector<std::string>> {
      GUARD_TRY_ASSIGN(ProjectTree now, read_project_tree(tree_request()));
      std::erase_if(now.gated.files, [this](const SourceFile& file) { return absent_.count(file.path) != 0; });
      return changed_since(request_.project, now, record_.hashes);
    }();
    if (changed && changed->empty()) return;
    const std::string what = changed ? joined(*changed) : changed.error().message();
    record_.verdict = plan_.choice.backend == Backend::host
        ? Verdict{Reason::violation, "changed while the tests ran: " + what}
        : Verdict{Reason::changed_meanwhile, what};
  }

  Result<void> bring_back(std::optional<Collection> written) {
    if (!written) {
      // A run that was stopped, or on the host.
      record_.collected.emplace();
      record_.collected->policy = plan_.collect_policy();
      record_.collected->complete = false;
      return ok();
    }
    stage("bring_back");
    const GateRequest judged_by = gate_request();
    BringBackRequest request;
    request.policy = plan_.collect_policy();
    request.gate = &judged_by;
    request.secrets = &*secrets_;
    request.target = target_folder_ ? &*target_folder_ : nullptr;
    request.folder = plan_.tree.writable;
    request.mode = record_.backend;
    return guard::bring_back(request, std::move(plan_.tree.gated), std::move(*written), record_);
  }

  const RunRequest& request_;
  const Config& config_;
  DigestSink out_;
  DigestSink err_;
  const CancelToken& cancel_;
  RunRecord record_;
  RunPlan plan_{request_};
  std::set<std::string> absent_;                        // refused, and not staged
  std::map<std::string, std::string> preload_digests_;  // of its files, as they were compared with HEAD
  // Opened before anything runs, so that nobody can put another in its place.
  std::optional<TargetFolder> target_folder_;
  const RecordedSandbox* recorded_ = nullptr;
  std::optional<EngineLocation> engine_;
  std::optional<SecretSource> secrets_;
  std::vector<EgressCredential> credentials_;
  std::shared_ptr<Egress> egress_;
  UniqueFd image_hold_;  // keeps `guard image prune` away while we run on it
  SteadyClock::time_point started_;
  std::string stage_;
  SteadyClock::time_point stage_started_;
};

}  // namespace

Result<RunSandbox> open_run_sandbox(
    const RunRequest& request, const std::optional<RecordedSandbox>& recorded, const CancelToken& cancel) {
  NullSink none;
  return Run(request, none, none, cancel).open(recorded ? &*recorded : nullptr);
}

RunRecord run_tests(const RunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  RunRequest closed = request;
  if (!request.argv.empty() || !leave_registries_out(closed.config)) return Run(request, out, err, cancel).execute();
  RunRecord record = Run(closed, out, err, cancel).execute();
  record.notes.emplace_back(
      "the presets of network.allow are for commands and sessions: tests reach them with network.registries_in_tests");
  return record;
}

}  // namespace guard
