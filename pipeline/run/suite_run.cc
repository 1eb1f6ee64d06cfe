#include "pipeline/run/suite_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <utility>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/own_entry.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "pipeline/backend_choice.h"
#include "pipeline/change/git.h"
#include "pipeline/evidence/digest_sink.h"
#include "pipeline/evidence/masked_record.h"
#include "pipeline/gate/gate.h"
#include "pipeline/gate/run_gate.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/run/collected_files.h"
#include "pipeline/run/parallel_run.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/project_tree.h"
#include "pipeline/run/run_output.h"
#include "pipeline/run/staging.h"
#include "pipeline/run/test_command.h"
#include "runner/image/engine_image.h"
#include "runner/image/image.h"
#include "runner/init_side/init_binary.h"
#include "runner/process/run_folder.h"
#include "runner/sandbox/sandbox_registry.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kProbeDeadline{2000};  // of the embedded sandbox, for the record alone

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

class Run {
 public:
  Run(const RunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel)
      : request_(request),
        out_(out),
        err_(err),
        cancel_(cancel),
        started_(SteadyClock::now()),
        stage_started_(started_) {}

  RunRecord execute() {
    record_.facts = request_.facts;
    if (auto done = steps(); !done) {
      record_.verdict = verdict_of(done.error());
      record_.error = std::move(done).error();
    }
    end_stage();
    if (!record_.staged) {
      for (const auto& file : tree_.gated.files) record_.hashes[file.path] = sha256_hex(file.bytes);
    }
    if (record_.facts) complete(*record_.facts);
    mask_or_withhold(secrets_, record_);
    return std::move(record_);
  }

 private:
  bool tests() const { return request_.argv.empty(); }

  void complete(RunFacts& facts) const {
    facts.elapsed = std::chrono::duration_cast<milliseconds>(SteadyClock::now() - started_);
    // Of an engine that could not be used, too: it is the reason. Before the choice the backend is docker.
    if (engine_ && choice_.backend == Backend::docker) take_engine(engine_->probe, facts);
    if (record_.exec && record_.exec->report && !record_.exec->report_truncated)
      facts.report_sha256 = sha256_hex(*record_.exec->report);
  }

  void stage(std::string_view name) {
    end_stage();
    stage_ = name;
    stage_started_ = SteadyClock::now();
    log_debug(stage_);
    if (request_.progress) request_.progress(name);
  }

  void end_stage() {
    if (stage_.empty()) return;
    record_.timings.emplace_back(stage_, std::chrono::duration_cast<milliseconds>(SteadyClock::now() - stage_started_));
    stage_.clear();
  }

  const EngineLocation& engine() {
    if (!engine_) engine_ = locate_engine(request_.config, request_.environment, cancel_);
    return *engine_;
  }

  // An Error ends the run undecided or unavailable; a verdict in the record ends it without one.
  Result<void> steps() {
    if (request_.facts && !request_.options.is_plain()) {
      return Error(ErrorCode::internal, "an evidence record was asked for a run that is not the plain one");
    }
    if (request_.options.coverage == Coverage::on &&
        (request_.config.run.collect != CollectPolicy::none || jobs() > 1)) {
      return Error(
          ErrorCode::internal, "coverage was asked for of a run that hands out other files, or of several at once");
    }
    stage("probe");
    GUARD_TRY_ASSIGN(choice_,
        choose_backend(
            request_.config, request_.backend, [this]() -> const EngineLocation& { return engine(); },
            [this] { return probe_container_use(request_.config, request_.environment); }));
    record_.backend = to_string(choice_.backend);
    record_.why_backend = choice_.why;
    log_info(record_.backend + ": " + choice_.why);
    record_.tiers = tier_names(choice_.tiers);
    record_.relaxations = choice_.relaxations;
    if (choice_.backend == Backend::host && request_.config.host.warn_on_start && request_.warn) {
      request_.warn("this runs on the host, without isolation");
    }
    GUARD_TRY(
        network_fits(choice_, request_.config, choice_.backend == Backend::docker && engine().engine.is_plain_tcp()));
    if (choice_.backend == Backend::docker && engine().engine.is_remote() && request_.config.docker.plain_tcp &&
        !engine().engine.tls && !engine().engine.is_loopback()) {
      record_.relaxations.push_back(
          fmt::format("docker.plain_tcp: {} is trusted without TLS", engine().probe.endpoint));
      if (request_.warn)
        request_.warn(fmt::format(
            "{} is trusted without TLS: anybody on the way could forge this verdict", engine().probe.endpoint));
    }
    if (choice_.backend == Backend::docker && request_.config.docker.network != NetworkMode::none && request_.warn) {
      request_.warn(fmt::format("docker.network = {}: the code reaches {}", to_string(request_.config.docker.network),
          request_.config.docker.network == NetworkMode::host
              ? "the network as this machine does, its local services included"
              : "the network"));
    }
    if (!request_.rules_folder.empty())
      record_.relaxations.push_back(
          "rules: " + request_.rules_folder + " instead of the shipped docker and host tiers");
    if (!request_.config.redact.kinds_off.empty())
      record_.relaxations.push_back("redact.kinds_off: " + joined(request_.config.redact.kinds_off));
    if (!request_.options.names.empty())
      record_.relaxations.push_back(
          fmt::format("-t: only tests whose name matches {} ran", printable(request_.options.names)));
    if (request_.config.run.isolation == Isolation::run)
      record_.relaxations.push_back("run.isolation = run: all test files share one process");
    if (!request_.config.check.two_hit_ignore.empty()) {
      record_.relaxations.push_back("check.two_hit_ignore: " + joined(request_.config.check.two_hit_ignore));
    }
    const docker::Endpoint engine_used = choice_.backend == Backend::docker ? engine().engine : docker::Endpoint();
    const Leftovers leftovers = remove_leftovers(engine_used, cancel_);
    record_.notes = leftovers.failed;
    for (auto& sentence : sweep_own(request_.project / "sandbox").failed) record_.notes.push_back(std::move(sentence));

    GUARD_TRY_ASSIGN(const auto variables, run_variables(request_.config, request_.environment));
    const auto& masks = request_.config.redact;
    GUARD_TRY_ASSIGN(auto known, known_secrets(request_.environment, masks.mask_env, masks.mask_file));
    for (const auto& [name, value] : variables) {
      if (std::none_of(known.begin(), known.end(),
              [&wanted = name](const KnownSecret& secret) { return secret.name == wanted; }))
        known.push_back({name, value});
    }
    GUARD_TRY_ASSIGN(secrets_, SecretSource::shipped(std::move(known), masks.kinds_off));
    const SecretSource& secrets = *secrets_;
    record_.unmasked = secrets.refused();

    stage(tests() ? "check" : "collect");
    if (request_.jobs > 1 && collect_policy() != CollectPolicy::none) {
      return Error(ErrorCode::input_invalid,
          "--jobs and --collect do not go together: several sandboxes may write the same file")
          .hint("leave one of them out");
    }
    if (tests()) GUARD_TRY(find_preload());
    GUARD_TRY(collect());
    if (tests()) {
      GUARD_TRY(check(secrets));
      if (record_.check->verdict.kind() != VerdictKind::allowed) {
        record_.verdict = record_.check->verdict;
        record_.error = record_.check->error;
        return ok();
      }
    }

    SandboxSpec spec;
    if (image_is_configured()) {
      stage("image");
      GUARD_TRY(find_configured_image(spec));
    }
    stage("stage");
    GUARD_TRY(choose_image(spec));
    GUARD_TRY_ASSIGN(const RunFolder folder, RunFolder::create());
    GUARD_TRY_ASSIGN(const StagedTree staged,
        stage_tree(folder.path(), request_.project, tree_, {spec.image.module_folders, works_in_staged_folder()}));
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
    GUARD_TRY(fill(spec, folder, staged, variables));
    record_.spec = spec;
    if (record_.facts) record_.facts->run_id = spec.run_id;
    record_.keep_bytes = request_.config.limits.output_keep_bytes;

    stage("run");
    const DockerOptions docker{
        engine_used, request_.config.docker.runtime, milliseconds(request_.config.docker.probe_deadline_ms)};
    const auto sandbox =
        make_sandbox(choice_.backend, docker, container_use_options(request_.config, request_.environment));
    if (record_.facts && choice_.backend != Backend::docker)
      take_engine(sandbox->probe(Deadline::after(kProbeDeadline)), *record_.facts);
    record_.jobs = jobs();
    if (tests()) return run_files(spec, docker, secrets);
    GUARD_TRY_ASSIGN(
        const auto output, RunOutput::create(secrets, request_.config.limits.output_keep_bytes, out_, err_));
    auto exec = sandbox->run(spec, output->out(), output->err(), cancel_);
    if (!exec) {
      // What is still held back stays held back: nobody can say how the stream would have gone on.
      account(*output);
      return std::move(exec).context(fmt::format("running in the {} sandbox", record_.backend)).error();
    }
    std::optional<Collection> written = std::exchange(exec->collected, std::nullopt);
    record_.exec = std::move(*exec);
    record_.notes.insert(record_.notes.end(), record_.exec->notes.begin(), record_.exec->notes.end());
    const bool whole = record_.exec->outcome.kind == OutcomeKind::exited;
    auto finished = output->finish(whole ? RunOutput::Ending::whole : RunOutput::Ending::cut);
    account(*output);
    GUARD_TRY(std::move(finished).context("masking the last of the output"));

    stage("judge");
    record_.verdict = judge_command(*record_.exec, backend_row(choice_.backend).isolates);
    return bring_back(secrets, std::move(written));
  }

  // Where the program sees the staged folder itself: nothing of guard's own lies between the two.
  bool works_in_staged_folder() const { return !backend_row(choice_.backend).takes_image; }

  // There all files would write into the same staged copy.
  std::size_t jobs() const {
    return tests() && !works_in_staged_folder() ? std::max<std::size_t>(1, std::min(request_.jobs, tree_.tests.size()))
                                                : 1;
  }

  Result<void> run_files(const SandboxSpec& spec, const DockerOptions& docker, const SecretSource& secrets) {
    ParallelRunRequest request;
    request.files = tree_.tests;
    request.jobs = jobs();
    request.isolation = isolation();
    request.assertions = request_.config.run.require_assertions;
    request.sandboxed = backend_row(choice_.backend).isolates;
    request.filtered = !request_.options.names.empty();
    request.spec = &spec;
    request.secrets = &secrets;
    request.keep_bytes = record_.keep_bytes;
    request.make_sandbox = [&] {
      return make_sandbox(choice_.backend, docker, container_use_options(request_.config, request_.environment));
    };
    request.progress = [&](std::size_t done) {
      const auto& files = tree_.tests;
      if (!request_.progress || done == files.size()) return;
      request_.progress(jobs() > 1 || isolation() == Isolation::run
              ? fmt::format("running: {} of {} files have ended", done, files.size())
              : fmt::format("running {} ({} of {})", files[done], done + 1, files.size()));
    };
    GUARD_TRY_ASSIGN(ParallelRun parted,
        run_parallel(request, out_, err_, cancel_).context(fmt::format("running in the {} sandbox", record_.backend)));
    account(parted.kept_bytes, parted.dropped_bytes, std::move(parted.redactions));
    record_.exec = std::move(parted.exec);
    record_.notes.insert(record_.notes.end(), record_.exec->notes.begin(), record_.exec->notes.end());
    if (parted.written && request_.options.coverage == Coverage::on) take_coverage(*parted.written);
    stage("judge");
    record_.files = std::move(parted.files);
    take(RunJudgement{std::move(parted.verdict), std::move(parted.tests)});
    return bring_back(secrets, std::move(parted.written));
  }

  // Coverage is of all files together, and tells nothing that a verdict rests on.
  Isolation isolation() const {
    return request_.options.coverage == Coverage::on ? Isolation::run : request_.config.run.isolation;
  }

  // What a command writes was never to be kept: there is no gate before it.
  CollectPolicy collect_policy() const { return tests() ? request_.config.run.collect : CollectPolicy::none; }

  // It names guard's own files, so it is for guard alone and never comes back into the project.
  void take_coverage(Collection& written) {
    const std::string wanted =
        std::string(kCoverageInside.substr(record_.spec->collect->folder.size() + 1)) + "/lcov.info";
    for (auto& file : written.files) {
      if (file.path == wanted) record_.coverage = std::move(file.bytes);
    }
    written.files.clear();
  }

  Result<void> bring_back(const SecretSource& secrets, std::optional<Collection> written) {
    if (!written) {
      // A run that was stopped, or on the host.
      record_.collected.emplace();
      record_.collected->policy = collect_policy();
      record_.collected->complete = false;
      return ok();
    }
    stage("bring_back");
    const GateRequest judged_by = gate_request(secrets);
    BringBackRequest request;
    request.policy = collect_policy();
    request.gate = &judged_by;
    request.secrets = &secrets;
    request.target = target_folder_ ? &*target_folder_ : nullptr;
    request.folder = tree_.writable;
    request.mode = record_.backend;
    return guard::bring_back(request, std::move(tree_.gated), std::move(*written), record_);
  }

  Result<void> find_preload() {
    GUARD_TRY_ASSIGN(preload_, read_preload(request_.project));
    if (preload_.files.empty()) return ok();
    GUARD_TRY_ASSIGN(preload_digests_,
        committed_preload(preload_, request_.project,
            request_.committed_tree.empty() ? request_.project : request_.committed_tree, cancel_));
    record_.preload = preload_.names;
    return ok();
  }

  Result<void> collect() {
    GUARD_TRY_ASSIGN(tree_, read_project_tree(tree_request()));
    record_.left_out = tree_.left_out;
    if (collect_policy() != CollectPolicy::none) {
      GUARD_TRY_ASSIGN(target_folder_, TargetFolder::open(request_.project / tree_.writable));
    }
    if (!tests()) {
      // Without a gate nothing is refused, but a link or device is no more mounted than in a test run.
      for (const auto& finding : tree_.gated.findings) record_.left_out.push_back(finding.path);
    }
    return ok();
  }

  ProjectTreeRequest tree_request() const {
    ProjectTreeRequest wanted;
    wanted.project = request_.project;
    wanted.named = request_.files;
    wanted.gated_paths = request_.config.check.paths;
    wanted.also = preload_.files;
    wanted.file_bytes_max = request_.config.check.max_file_bytes;
    wanted.ignored = Git::ignored_names(cancel_);
    return wanted;
  }

  Result<void> check(const SecretSource& secrets) {
    // Where the program sees the project itself, nothing can be left out.
    if (request_.refused_files == RefusedFiles::decide || works_in_staged_folder()) {
      record_.check = gate(gate_request(secrets), tree_.gated, record_.backend);
    } else {
      std::vector<std::string> named = tree_.tests;
      named.insert(named.end(), preload_.files.begin(), preload_.files.end());
      RunGate judged = gate_run(gate_request(secrets), tree_.gated, named, record_.backend);
      record_.check = std::move(judged.check);
      record_.refused = std::move(judged.left_out);
      for (const auto& finding : record_.refused) absent_.insert(finding.path);
    }
    for (const auto& used : record_.check->waivers) record_.relaxations.push_back(waiver_text(used));
    return ok();
  }

  GateRequest gate_request(const SecretSource& secrets) const {
    GateRequest request;
    request.rules = request_.rules;
    request.matcher = request_.matcher;
    request.config = &request_.config;
    request.secrets = [&secrets]() -> Result<const SecretSource*> { return &secrets; };
    request.project = request_.project;
    request.absent = absent_;
    request.keep_names = true;
    return request;
  }

  bool image_is_configured() const {
    return choice_.backend == Backend::docker && !request_.config.docker.image.empty();
  }

  Result<void> find_configured_image(SandboxSpec& spec) {
    EngineImageRequest wanted;
    wanted.engine = engine().engine;
    wanted.reference = request_.config.docker.image;
    wanted.pull = request_.config.docker.pull == PullPolicy::missing ? PullImage::if_missing : PullImage::never;
    wanted.environment = request_.environment;
    wanted.progress = request_.progress;
    GUARD_TRY_ASSIGN(const EngineImage found, find_or_pull_image(wanted, cancel_));
    spec.image.reference = wanted.reference;
    spec.image.module_folders = {""};
    // What was found is what runs, whoever moves the name meanwhile.
    spec.image.id = found.id;
    record_.relaxations.push_back(
        fmt::format("docker.image = {}: an image of the configuration, its contents not compared", wanted.reference));
    if (found.pulled)
      record_.relaxations.push_back(fmt::format(
          "docker.pull = missing: {} was pulled for this run, its contents not compared", wanted.reference));
    return ok();
  }

  Result<void> choose_image(SandboxSpec& spec) {
    // The environment brings its own bun.
    if (image_is_configured() || choice_.backend == Backend::container_use) return ok();
    if (choice_.backend == Backend::host) {
      GUARD_TRY_ASSIGN(host_bun_, find_bun());
      if (record_.facts) take_host_bun(host_bun_, cancel_, *record_.facts);
      return ok();
    }
    GUARD_TRY_ASSIGN(const ImageInputs inputs, image_inputs(request_.project, request_.config));
    if (!inputs.tools.empty()) record_.relaxations.push_back("image.tools: " + joined(inputs.tools));
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

  Result<void> fill(SandboxSpec& spec, const RunFolder& folder, const StagedTree& staged,
      const std::map<std::string, std::string>& variables) {
    const Config& config = request_.config;
    spec.run_id = folder.run_id();
    spec.host_folder = staged.app;
    mount_staged(staged, tree_.writable, config.limits.sandbox_bytes, config.limits.sandbox_files, spec);
    // Elsewhere tests write into the staged copy itself, which is thrown away unseen.
    if (!works_in_staged_folder()) spec.collect = collect_request(spec.scratch.front().target);
    spec.env = {{"HOME", "/tmp"}, {"TMPDIR", "/tmp"}, {"PATH", "/usr/local/bin:/usr/bin:/bin"}, {"LANG", "C.UTF-8"},
        // bun then refuses test.only and unstored snapshots: both would let a run look greener than it is.
        {"CI", "true"}, {"DO_NOT_TRACK", "1"},
        // Or what a test writes below /tmp would be what src/ means.
        {"BUN_RUNTIME_TRANSPILER_CACHE_PATH", "0"},
        {"BUN_JSC_useShadowRealm", "0"}};  // its realm has a process and a test runner of its own
    if (choice_.backend == Backend::host) {
      for (const auto& name : config.host.env) {
        if (const auto found = request_.environment.find(name); found != request_.environment.end())
          spec.env[name] = found->second;
      }
    }
    for (const auto& [name, value] : variables) {
      spec.env[name] = value;
      record_.relaxations.push_back(fmt::format("run.env: {} is passed in", name));
    }
    spec.limits.memory_bytes = config.limits.memory_bytes;
    spec.limits.cpus = config.limits.cpus;
    spec.limits.pids = static_cast<std::uint32_t>(config.limits.pids);
    spec.limits.tmp_bytes = config.limits.tmp_bytes;
    spec.limits.sandbox_bytes = config.limits.sandbox_bytes;
    spec.limits.sandbox_files = config.limits.sandbox_files;
    spec.limits.output_flood_bytes = config.limits.output_flood_bytes;
    spec.network = config.docker.network == NetworkMode::none ? Network::none
        : config.docker.network == NetworkMode::bridge        ? Network::bridge
                                                              : Network::host;
    spec.timeout = std::chrono::seconds(config.timeout_s(choice_.backend));
    if (tests() && config.run.file_timeout_s > 0) {
      // One file alone, or each in a sandbox of its own, has no more time than a file may take.
      spec.each_timeout = std::chrono::seconds(config.run.file_timeout_s);
      if (jobs() > 1 || tree_.tests.size() == 1) spec.timeout = std::min(spec.timeout, spec.each_timeout);
    }
    spec.grace = std::chrono::seconds(config.run.grace_s);
    spec.require_cgroups = config.require_cgroups;
    if (tests()) {
      if (staged.imports_by_name) spec.env["GUARD_IMPORTS_BY_NAME"] = "1";
      spec.report = ReportChannel::on;
      spec.attestation = Attestation::on;
      const bool on_host = choice_.backend == Backend::host;
      const bool in_environment = choice_.backend == Backend::container_use;
      const fs::path script =
          in_environment ? spec.host_folder / kAttestationInEnvironment : folder.path() / "attestation.mjs";
      const fs::path core = script.parent_path() / kAttestationCore;
      if (!spec.image.has_attestation) {
        GUARD_TRY(write_new_file(script, attestation_script(), 0444).context("staging what will run"));
        GUARD_TRY(write_new_file(core, attestation_core(), 0444).context("staging what will run"));
        if (!works_in_staged_folder()) {
          spec.mounts.push_back({script, std::string(kAttestationInside)});
          spec.mounts.push_back({core, fmt::format("/{}", kAttestationCore)});
        }
      }
      TestOptions options = request_.options;
      options.preload = preload_.names;
      if (!options.preload.empty()) {
        spec.env["GUARD_PRELOADS"] = "1";
        for (const auto& [name, text] :
            {std::pair(kBunfig, std::string_view(preload_.config)), std::pair(kPreloaded, kPreloadedText)}) {
          const fs::path file = script.parent_path() / name;
          GUARD_TRY(write_new_file(file, text, 0444).context("staging what will run"));
          if (!works_in_staged_folder()) spec.mounts.push_back({file, fmt::format("/{}", name)});
        }
      }
      spec.argv = on_host  ? test_command(host_bun_.native(), script.native(), tree_.tests, options)
          : in_environment ? test_command(kBunInEnvironment, kAttestationInEnvironment, tree_.tests, options)
                           : test_command(kBunInside, kAttestationInside, tree_.tests, options);
    } else {
      spec.argv = request_.argv;
    }
    return ok();
  }

  CollectRequest collect_request(std::string folder) const {
    CollectRequest request;
    request.folder = std::move(folder);
    if (collect_policy() == CollectPolicy::none && request_.options.coverage == Coverage::off) return request;
    request.files_max = CollectRequest::kFilesMax;
    request.bytes_max = CollectRequest::kBytesMax;
    // A larger file would only be a finding.
    request.file_bytes_max = std::min(CollectRequest::kFileBytesMax, request_.config.check.max_file_bytes);
    return request;
  }

  void account(const RunOutput& output) { account(output.kept_bytes(), output.dropped_bytes(), output.redactions()); }

  void account(std::uint64_t kept_bytes, std::uint64_t dropped_bytes, std::map<std::string, std::uint64_t> redactions) {
    record_.kept_bytes = kept_bytes;
    record_.dropped_bytes = dropped_bytes;
    record_.redactions = std::move(redactions);
    if (!record_.facts) return;
    record_.facts->stdout_sha256 = out_.finish_hex();
    record_.facts->stderr_sha256 = err_.finish_hex();
  }

  void take(RunJudgement judgement) {
    record_.verdict = std::move(judgement.verdict);
    record_.tests = std::move(judgement.tests);
    if (record_.verdict.kind() == VerdictKind::allowed) look_for_changes();
    if (record_.verdict.kind() != VerdictKind::allowed && !record_.refused.empty()) tell_what_was_missing();
    if (!record_.tests) return;
    for (const auto& file : record_.tests->files) {
      if (file.assertions == 0 && file.skipped < file.tests)
        record_.relaxations.push_back(fmt::format("evidence: no expect() was counted in {}", file.file));
    }
  }

  void tell_what_was_missing() {
    constexpr std::size_t kNamed = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(kNamed, record_.refused.size()); ++i) names.push_back(record_.refused[i].path);
    if (record_.refused.size() > kNamed) names.push_back(fmt::format("{} more", record_.refused.size() - kNamed));
    std::string& detail = record_.verdict.detail;
    detail = fmt::format("{} (left out: {}; a test that needs a refused file fails, so repair or remove it)",
        detail.empty() ? info(record_.verdict.reason).sentence : detail, joined(names));
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
    record_.verdict = choice_.backend == Backend::host
        ? Verdict{Reason::violation, "changed while the tests ran: " + what}
        : Verdict{Reason::changed_meanwhile, what};
  }

  const RunRequest& request_;
  DigestSink out_;
  DigestSink err_;
  const CancelToken& cancel_;
  RunRecord record_;
  BackendChoice choice_;
  ProjectTree tree_;
  std::set<std::string> absent_;  // refused, and not staged
  Preload preload_;
  std::map<std::string, std::string> preload_digests_;  // of its files, as they were compared with HEAD
  std::optional<TargetFolder>
      target_folder_;  // opened before anything runs, so that nobody can put another in its place
  std::optional<EngineLocation> engine_;
  fs::path host_bun_;
  std::optional<SecretSource> secrets_;
  UniqueFd image_hold_;  // keeps `guard image prune` away while we run on it
  SteadyClock::time_point started_;
  std::string stage_;
  SteadyClock::time_point stage_started_;
};

}  // namespace

RunRecord run_tests(const RunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  return Run(request, out, err, cancel).execute();
}

}  // namespace guard
