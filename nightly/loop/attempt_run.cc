#include "nightly/loop/attempt_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <optional>
#include <set>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/glob.h"
#include "common/text/text.h"
#include "nightly/loop/clone.h"
#include "nightly/loop/feedback.h"
#include "nightly/loop/generator.h"
#include "nightly/loop/wall_clock.h"
#include "nightly/worth/kept_tests.h"
#include "nightly/worth/mutation_check.h"
#include "pipeline/backend_choice.h"
#include "pipeline/evidence/evidence_file.h"
#include "pipeline/gate/gate.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/report/brief.h"
#include "pipeline/report/test_results.h"
#include "pipeline/run/run_output.h"
#include "pipeline/run/staging.h"
#include "pipeline/run/suite_run.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kDiffBytesMax = 256u << 10;
constexpr std::size_t kFindingsKept = 500;
constexpr const char* kTestsWeakened = "tests_weakened";

std::string file_stem(const AttemptOrder& order) { return fmt::format("{}-{}", order.task.id, order.number); }

// Masks a text whole; what can't be masked is not shown.
std::string masked_text(const SecretSource& secrets, std::string_view text) {
  StringSink out;
  StringSink err;
  auto output = RunOutput::create(secrets, 0, out, err);
  if (!output || !(*output)->out().push(std::span(text.data(), text.size())) ||
      !(*output)->finish(RunOutput::Ending::whole))
    return "(withheld)";
  return out.text;
}

// That holds something, cut to what one line of a report takes.
std::string last_line(std::string_view text) {
  constexpr std::size_t kShown = 200;
  const std::size_t end = text.find_last_not_of(" \t\r\n");
  if (end == std::string_view::npos) return {};
  text = text.substr(0, end + 1);
  text.remove_prefix(text.rfind('\n') + 1);
  std::string line = printable(text);
  if (line.size() > kShown) {
    line.resize(kShown);
    while (!line.empty() && !is_utf8(line)) line.pop_back();
    line += " ...";
  }
  return line;
}

// The attempt is over, one way or the other.
struct AttemptEnd {
  AttemptOutcome outcome;
  std::string reason;
  std::string detail;
};

class AttemptRun {
 public:
  AttemptRun(const NightContext& context, const AttemptOrder& order, const std::function<void(AttemptStep)>& progress,
      const CancelToken& cancel)
      : context_(context),
        order_(order),
        progress_(progress),
        cancel_(cancel),
        folder_(context.state->clones() / context.night / file_stem(order)) {
    attempt_.night = context.night;
    attempt_.task = order.task.id;
    attempt_.number = order.number;
    attempt_.started_ms = unix_ms();
    attempt_.start = order.start;
  }

  Result<Attempt> execute() {
    GUARD_TRY(save());
    std::optional<AttemptEnd> over;
    if (auto done = steps(over); !done) {
      if (fatal_) return std::move(*fatal_);
      if (done.error().code() == ErrorCode::cancelled || cancel_.cancelled()) {
        over = AttemptEnd{AttemptOutcome::interrupted, "interrupted", "guard was stopped"};
      } else {
        std::string sentence = fmt::format("{}: {}", done.error().wire_name(), done.error().message());
        if (!done.error().hint().empty()) sentence += fmt::format("; {}", done.error().hint());
        over = AttemptEnd{AttemptOutcome::put_back, "error", std::move(sentence)};
      }
    }
    return finish(std::move(*over));
  }

 private:
  using Clock = std::chrono::steady_clock;

  // `fatal_` ends the night: nothing can be written down any more, or nobody knows where the branch is.
  Result<void> save() {
    auto saved = context_.journal->save(nullptr, nullptr, &attempt_);
    context_.state->beat();
    if (saved) return ok();
    fatal_ = std::move(saved).error();
    return Error(*fatal_);
  }

  Result<void> enter(AttemptStep step) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped");
    attempt_.step = step;
    if (progress_) progress_(step);
    return save();
  }

  void time(std::string_view name, Clock::time_point began) {
    attempt_.timings_ms.emplace_back(name, std::chrono::duration_cast<milliseconds>(Clock::now() - began).count());
  }

  // Everything up to the outcome. An Error: guard's own failure, or the engine's.
  Result<void> steps(std::optional<AttemptEnd>& over) {
    const Config& config = context_.config->config;
    // Before the generator is paid for: where nothing can be run, nothing need be generated.
    GUARD_TRY(choose(over));
    if (over) return ok();

    auto began = Clock::now();
    GUARD_TRY(remove_tree(folder_));
    GUARD_TRY(make_folders(folder_.parent_path(), 0700));
    GUARD_TRY(make_folders(folder_, 0700));
    GUARD_TRY_ASSIGN(const Clone clone, Clone::create(*context_.repository, folder_ / "clone", order_.start));
    time("clone", began);

    GUARD_TRY(enter(AttemptStep::generating));
    began = Clock::now();
    GUARD_TRY(generate(clone, over));
    time("generator", began);
    if (over) return ok();

    GUARD_TRY(enter(AttemptStep::reading));
    began = Clock::now();
    ReadLimits limits;
    limits.file_bytes_max = config.check.max_file_bytes;
    auto read = clone.read_change(limits, cancel_);
    if (!read) {
      // Nothing of ours makes a file that we cannot read.
      if (read.error().sys_errno() != EACCES && read.error().sys_errno() != EPERM) return std::move(read).error();
      over = AttemptEnd{AttemptOutcome::refused, "unreadable", read.error().message()};
      return ok();
    }
    ChangeSet& change = *read;
    for (const auto& file : change.files) attempt_.files.push_back(masked_text(*context_.secrets, file.path));
    time("read", began);
    if (change.files.empty() && change.findings.empty()) {
      over = AttemptEnd{AttemptOutcome::refused, "no_change", "the generator changed nothing"};
      return ok();
    }

    const std::lock_guard judging(*context_.judging);
    GUARD_TRY_ASSIGN(const auto tip, context_.repository->tip(context_.branch));
    if (!tip || *tip != *context_.branch_tip) {
      fatal_ = Error(ErrorCode::input_invalid,
          fmt::format("somebody else moved or removed {} during the night", printable(context_.branch)))
                   .hint("leave the branch of a night alone until the night is over");
      return Error(*fatal_);
    }
    GUARD_TRY_ASSIGN(const bool fits, fits_on(*tip, change));
    if (!fits) {
      over = AttemptEnd{
          AttemptOutcome::put_back, "conflict", "another task of this night changed one of these files first"};
      return ok();
    }
    GUARD_TRY(enter(AttemptStep::gating));
    began = Clock::now();
    GUARD_TRY(name_neighbours(*tip, change));
    gate_it(change, over);
    time("gate", began);
    if (over) return ok();

    GUARD_TRY(enter(AttemptStep::testing));
    began = Clock::now();
    GUARD_TRY_ASSIGN(const Clone judged, Clone::create(*context_.repository, folder_ / "judged", *tip));
    GUARD_TRY(judged.apply(change));
    GUARD_TRY_ASSIGN(const Tests tests, tests_of(*tip, change, over));
    time("lay_out", began);
    if (over) return ok();
    began = Clock::now();
    GUARD_TRY(run(judged, tests, over));
    time("run", began);
    if (over) return ok();
    if (!tests.before.empty()) {
      began = Clock::now();
      GUARD_TRY(compare(*tip, tests, over));
      time("compare", began);
      if (over) return ok();
    }

    if (config.nightly.worth && order_.task.kind == TaskKind::test) {
      GUARD_TRY(enter(AttemptStep::weighing));
      began = Clock::now();
      GUARD_TRY(weigh(judged, tests, over));
      time("worth", began);
      if (over) return ok();
    }

    began = Clock::now();
    GUARD_TRY(commit(*tip, change));
    time("commit", began);
    over = AttemptEnd{AttemptOutcome::accepted, "accepted", {}};
    return ok();
  }

  Result<void> choose(std::optional<AttemptEnd>& over) {
    const Config& config = context_.config->config;
    std::optional<Backend> forced;
    if (order_.rollout == Rollout::host) forced = Backend::host;
    EngineLocation located;  // asked for at most once
    auto chosen = choose_backend(
        config, forced,
        [&]() -> const EngineLocation& { return located = locate_engine(config, context_.environment, cancel_); },
        [&] { return probe_container_use(config, context_.environment); });
    if (!chosen) {
      const Verdict verdict = verdict_of(chosen.error());
      over = AttemptEnd{AttemptOutcome::put_back, std::string(info(verdict.reason).name), chosen.error().message()};
      return ok();
    }
    backend_ = std::move(*chosen);
    attempt_.backend = to_string(backend_.backend);
    return ok();
  }

  Result<void> generate(const Clone& clone, std::optional<AttemptEnd>& over) {
    const Config& config = context_.config->config;
    GeneratorRequest request;
    request.argv = order_.task.generator;
    const std::string brief = brief_text({clone.folder() / order_.task.project, &config, context_.rules});
    request.prompt = prompt_with(brief, order_.task.prompt, order_.feedback);
    request.folder = clone.folder();
    for (const auto& name : context_.plan->generator_env) {
      if (const auto value = context_.environment.find(name); value != context_.environment.end())
        request.variables[name] = value->second;
    }
    request.variables["GUARD_NIGHTLY_TASK"] = order_.task.id;
    request.variables["GUARD_NIGHTLY_ATTEMPT"] = std::to_string(order_.number);
    request.timeout = std::min(order_.task.generator_timeout, order_.time_left);
    request.keep_bytes = config.limits.output_keep_bytes;
    request.flood_bytes = config.limits.output_flood_bytes;
    request.free_bytes_min = config.nightly.min_free_bytes / 2;
    request.supervisor = context_.supervisor;
    GUARD_TRY_ASSIGN(const GeneratorResult result, run_generator(request, *context_.secrets, cancel_));
    attempt_.generator = masked_text(*context_.secrets, result.sentence);
    const fs::path file = fs::path("outputs") / context_.night / (file_stem(order_) + ".txt");
    GUARD_TRY(make_folders((context_.state->path() / file).parent_path(), 0700));
    GUARD_TRY(write_file_atomically(context_.state->path() / file, result.output, 0600));
    attempt_.output = file.generic_string();
    over = judge(result);
    if (over && over->outcome == AttemptOutcome::failed) {
      said_ = result.output;
      if (const std::string last = last_line(said_); !last.empty())
        over->detail += fmt::format("; its last line: {}", last);
    }
    return ok();
  }

  std::optional<AttemptEnd> judge(const GeneratorResult& result) const {
    using End = GeneratorResult::End;
    switch (result.end) {
      case End::cancelled: return AttemptEnd{AttemptOutcome::interrupted, "interrupted", "guard was stopped"};
      case End::disk_full:
        return AttemptEnd{AttemptOutcome::put_back, "no_space", "the disk filled up while the generator ran"};
      case End::not_started: return AttemptEnd{AttemptOutcome::failed, "generator_missing", result.sentence};
      case End::flooded: return AttemptEnd{AttemptOutcome::failed, "generator_flooded", result.sentence};
      case End::timed_out:
        if (order_.time_left <= order_.task.generator_timeout)
          return AttemptEnd{AttemptOutcome::interrupted, "time", "the time of the night was over"};
        return AttemptEnd{AttemptOutcome::failed, "generator_timed_out", result.sentence};
      case End::signaled: return AttemptEnd{AttemptOutcome::failed, "generator_crashed", result.sentence};
      case End::exited: break;
    }
    if (result.value != 0) return AttemptEnd{AttemptOutcome::failed, "generator_failed", result.sentence};
    if (result.left > 0 && !context_.plan->allow_left_processes) {
      return AttemptEnd{AttemptOutcome::refused, "left_processes",
          fmt::format("the generator left {} running when it ended; {} ended",
              result.left == 1 ? "a process" : fmt::format("{} processes", result.left),
              result.left == 1 ? "it was" : "they were")};
    }
    return std::nullopt;
  }

  void take(const std::vector<Finding>& findings) {
    for (const auto& finding : findings) {
      if (attempt_.findings.size() >= kFindingsKept) break;
      // Excerpts were masked with their file at hand; names and messages can hold foreign words, too.
      attempt_.findings.push_back(
          {finding.rule, std::string(to_string(finding.tier)), masked_text(*context_.secrets, finding.path),
              finding.line, masked_text(*context_.secrets, finding.message), finding.fix, finding.excerpt});
    }
  }

  void take_failures(const RunRecord& record) {
    for (const Failure& failure : failures_of(record)) {
      if (attempt_.findings.size() >= kFindingsKept) break;
      std::string message = failure.test;
      for (std::string_view rest = failure.message; !rest.empty();) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        if (end > 0) message.append(message.empty() ? "" : "; ").append(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
      attempt_.findings.push_back(
          {std::string(failure.kind), std::string(kFailedTest), masked_text(*context_.secrets, failure.file),
              failure.line, masked_text(*context_.secrets, message), std::string(failure.next), {}});
    }
  }

  void gate_it(const ChangeSet& change, std::optional<AttemptEnd>& over) {
    const Config& config = context_.config->config;
    GateRequest request;
    request.rules = context_.rules;
    request.matcher = context_.matcher;
    request.config = &config;
    request.secrets = [this]() -> Result<const SecretSource*> { return context_.secrets; };
    request.project = context_.repository->top();
    request.files_expected = false;
    // Nothing stands between code and machine on the host: there all that was changed is judged by all tiers, src/ too.
    Config wider = config;
    if (backend_.backend == Backend::host) {
      wider.check.paths = {"**"};
      request.config = &wider;
    }
    CheckRecord record = gate_change(request, change, policy_options(config, order_.task.kind), attempt_.backend);
    add_known_values(change, record.report.findings);
    add_removed_tests(change, record.report.findings);
    if (record.verdict.kind() == VerdictKind::allowed && record.report.rejected())
      record.verdict = verdict_of(record.report, false);
    attempt_.diff = masked_text(*context_.secrets, added_text(change));
    take(record.report.findings);
    if (record.verdict.kind() == VerdictKind::allowed) return;
    over = over_of(record.verdict, record.error);
  }

  // Names that stand beside the change where it will be committed: another task may have brought one that differs in
  // case alone.
  Result<void> name_neighbours(const std::string& tip, ChangeSet& change) const {
    GUARD_TRY_ASSIGN(const auto listing, context_.repository->listing(tip));
    std::set<std::string_view> changed;
    for (const auto& file : change.files) changed.insert(file.path);
    change.unchanged.clear();
    for (const auto& [path, entry] : *listing) {
      if (changed.count(path) == 0) change.unchanged.push_back(path);
    }
    return ok();
  }

  // A value that guard knows to be secret, in a file that would be committed. The shapes of secrets are the rules'
  // business.
  void add_known_values(const ChangeSet& change, std::vector<Finding>& findings) const {
    for (const auto& file : change.files) {
      StringSink out;
      auto output = RunOutput::create(*context_.secrets, 0, out, out);
      const std::string text = file.path + "\n" + file.new_bytes;
      if (!output || !(*output)->out().push(std::span(text.data(), text.size())) ||
          !(*output)->finish(RunOutput::Ending::whole)) {
        findings.push_back(policy_finding("policy.known_secret", file.path, "could not be searched for known secrets",
            "change it in smaller pieces"));
        continue;
      }
      const auto found = (*output)->redactions();
      for (const auto& [kind, count] : found) {
        if (!kind.starts_with("env:")) continue;
        findings.push_back(policy_finding("policy.known_secret", file.path,
            fmt::format("holds the value of the variable {}", kind.substr(4)),
            "never write down what the environment holds"));
      }
    }
  }

  void add_removed_tests(const ChangeSet& change, std::vector<Finding>& findings) const {
    if (order_.task.kind != TaskKind::test) return;
    for (const auto& file : change.files) {
      if (file.after == EntryKind::absent && is_test_name(file.path)) {
        findings.push_back(policy_finding("policy.test_removed", file.path, "a test file is removed or renamed",
            "leave the tests that are there, and add to them"));
      }
    }
  }

  static AttemptEnd over_of(const Verdict& verdict, const std::optional<Error>& error) {
    const std::string detail = error ? error->message()
        : !verdict.detail.empty()    ? verdict.detail
                                     : std::string(info(verdict.reason).sentence);
    const std::string reason(info(verdict.reason).name);
    // Nothing of ours or of the engine's makes a test file empty.
    if (verdict.reason == Reason::no_tests) return {AttemptOutcome::refused, reason, detail};
    if (verdict.reason == Reason::interrupted) return {AttemptOutcome::interrupted, reason, detail};
    return {
        verdict.kind() == VerdictKind::rejected ? AttemptOutcome::refused : AttemptOutcome::put_back, reason, detail};
  }

  // What a person reads of a change that was never committed: what it adds, without what stood around it.
  static std::string added_text(const ChangeSet& change) {
    std::string text;
    for (const auto& file : change.files) {
      text +=
          fmt::format("--- {}\n+++ {}\n", file.before == EntryKind::absent ? "/dev/null" : "a/" + printable(file.path),
              file.after == EntryKind::absent ? "/dev/null" : "b/" + printable(file.path));
      if (file.unread) text += "(not read)\n";
      std::uint32_t number = 0;
      auto range = file.added.begin();
      for (std::string_view rest = file.new_bytes;
           !rest.empty() && range != file.added.end() && text.size() < kDiffBytesMax;) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        ++number;
        if (number == range->first)
          text += fmt::format("@@ +{},{} @@\n", range->first, range->second - range->first + 1);
        if (number >= range->first) text.append("+").append(rest.substr(0, end)).append("\n");
        if (number >= range->second) ++range;
        rest.remove_prefix(std::min(end + 1, rest.size()));
      }
    }
    if (text.size() > kDiffBytesMax) text.resize(kDiffBytesMax);
    return text;
  }

  // Whether the files that the change touches stand at the tip as they stood where the clone began.
  Result<bool> fits_on(const std::string& tip, const ChangeSet& change) const {
    if (tip == order_.start) return true;
    GUARD_TRY_ASSIGN(const auto ours, context_.repository->listing(order_.start));
    GUARD_TRY_ASSIGN(const auto theirs, context_.repository->listing(tip));
    for (const auto& file : change.files) {
      const auto a = ours->find(file.path);
      const auto b = theirs->find(file.path);
      if ((a == ours->end()) != (b == theirs->end())) return false;
      if (a != ours->end() && (a->second.id != b->second.id || a->second.kind != b->second.kind)) return false;
      // A new file where there is a folder by now, or the other way round.
      const auto below = theirs->lower_bound(file.path + "/");
      if (b == theirs->end() && below != theirs->end() && below->first.starts_with(file.path + "/")) return false;
      for (std::size_t slash = file.path.find('/'); slash != std::string::npos;
           slash = file.path.find('/', slash + 1)) {
        if (theirs->count(file.path.substr(0, slash)) > 0 && ours->count(file.path.substr(0, slash)) == 0) return false;
      }
    }
    return true;
  }

  struct Tests {
    std::vector<std::string> run;    // relative to the project
    std::vector<std::string> fresh;  // those of them that the change brings or changes
    std::vector<std::string> old;    // the project's others
    std::vector<std::string>
        before;  // all that the project had, where the change touches what was in sandbox/; else none
  };

  Result<Tests> tests_of(const std::string& tip, const ChangeSet& change, std::optional<AttemptEnd>& over) const {
    const std::string prefix = order_.task.project.empty() ? "" : order_.task.project + "/";
    GUARD_TRY_ASSIGN(const auto listing, context_.repository->listing(tip));
    std::set<std::string> all;
    std::set<std::string> fresh;
    const auto consider = [&](const std::string& path, bool is_changed) {
      if (!path.starts_with(prefix + "sandbox/") || !is_test_name(path)) return;
      const std::string name = path.substr(prefix.size());
      all.insert(name);
      if (is_changed) fresh.insert(name);
    };
    for (const auto& [path, entry] : *listing) consider(path, false);
    // A helper that was there before counts as much as a test: tests can be made of what it exports.
    const bool touches_tests = std::any_of(change.files.begin(), change.files.end(), [&](const ChangedFile& file) {
      return file.before != EntryKind::absent && file.path.starts_with(prefix + "sandbox/");
    });
    const std::vector<std::string> before(all.begin(), all.end());
    for (const auto& file : change.files) {
      if (file.before == EntryKind::absent || !is_test_name(file.path) || file.path.starts_with(prefix + "sandbox/"))
        continue;
      over = AttemptEnd{AttemptOutcome::refused, kTestsWeakened,
          fmt::format("{} was there before and is not below {}sandbox/: guard does not run it, so nothing shows that "
                      "its tests still pass; leave it as it is",
              file.path, prefix)};
      return Tests{};
    }
    for (const auto& file : change.files) {
      if (file.after == EntryKind::absent) {
        if (file.path.starts_with(prefix)) all.erase(file.path.substr(prefix.size()));
      } else {
        consider(file.path, true);
      }
    }
    std::set<std::string> chosen = fresh;
    if (!order_.task.tests.empty()) {
      for (const auto& name : all) {
        if (std::any_of(order_.task.tests.begin(), order_.task.tests.end(),
                [&](const std::string& glob) { return glob == name || glob_matches(glob, name); }))
          chosen.insert(name);
      }
    }
    // What stood there before can break what leans on it.
    const bool only_adds = std::all_of(change.files.begin(), change.files.end(), [&](const ChangedFile& file) {
      return file.before == EntryKind::absent && file.path.starts_with(prefix + "sandbox/");
    });
    if ((order_.task.kind == TaskKind::any && order_.task.tests.empty()) || !only_adds) chosen = all;
    Tests tests;
    tests.run.assign(chosen.begin(), chosen.end());
    tests.fresh.assign(fresh.begin(), fresh.end());
    if (touches_tests) tests.before = before;
    std::set_difference(all.begin(), all.end(), fresh.begin(), fresh.end(), std::back_inserter(tests.old));
    if (order_.task.kind == TaskKind::test && fresh.empty()) {
      over = AttemptEnd{AttemptOutcome::refused, "no_tests",
          fmt::format(
              "the change holds no test below {}sandbox/: names end in .test.ts, _test.ts, .spec.ts or _spec.ts",
              prefix)};
    } else if (chosen.empty()) {
      over = AttemptEnd{AttemptOutcome::refused, "no_tests", "there is no test that could show that this change works"};
      // What is taken away whole.
      if (!tests.before.empty()) over->reason = kTestsWeakened;
    }
    return tests;
  }

  RunRequest run_request(const Clone& judged, const std::vector<std::string>& files) const {
    RunRequest request;
    request.project = order_.task.project.empty() ? judged.folder() : judged.folder() / order_.task.project;
    request.files = files;
    request.refused_files = RefusedFiles::decide;
    request.config = context_.config->config;
    // Nobody reads these tests before they are kept.
    const ConfigEntry* asked = context_.config->find("run.require_assertions");
    if (asked == nullptr || asked->origin == "default") request.config.run.require_assertions = Assertions::test;
    if (order_.rollout == Rollout::host) request.backend = Backend::host;
    request.environment = context_.environment;
    request.rules = context_.rules;
    request.matcher = context_.matcher;
    return request;
  }

  Result<void> run(const Clone& judged, const Tests& tests, std::optional<AttemptEnd>& over) {
    RunRequest request = run_request(judged, tests.run);
    RunFacts facts = new_run_facts();
    facts.project = order_.task.project.empty() ? "." : order_.task.project;
    facts.files = tests.run;
    facts.config = context_.config->entries;
    facts.rules_digest = context_.rules->digest();
    request.facts = std::move(facts);
    const std::string name = fmt::format("evidence/{}/{}.json", context_.night, file_stem(order_));
    GUARD_TRY(make_folders((context_.state->path() / name).parent_path(), 0700));
    StringSink output;
    RunRecord record = run_tests(request, output, output, cancel_);
    keep_evidence(EvidencePlace{context_.state->path() / name, false}, context_.guard_version,
        record.verdict.exit_status(), record);
    auto document = read_file(context_.state->path() / name, 64u << 20, FollowLinks::no);
    attempt_.backend = record.backend;
    if (document) {
      attempt_.evidence = name;
      attempt_.evidence_sha256 = sha256_hex(*document);
    }
    if (record.tests) {
      attempt_.tests_passed = record.tests->passed;
      attempt_.tests_failed = record.tests->failures;
      attempt_.tests_skipped = record.tests->skipped;
    }
    if (record.check) take(record.check->report.findings);
    if (record.verdict.reason == Reason::tests_failed) take_failures(record);
    said_ = std::move(output.text);
    tests_ = std::move(record.tests);
    if (record.verdict.kind() != VerdictKind::allowed) {
      over = over_of(record.verdict, record.error);
      return ok();
    }
    // Without evidence there is no commit: its trailer would name nothing.
    if (!document) return std::move(document).error();
    return ok();
  }

  // What passed before has to pass afterwards. What that is, a run of the files as they were says, and no report that
  // the change had a hand in.
  Result<void> compare(const std::string& tip, const Tests& tests, std::optional<AttemptEnd>& over) {
    GUARD_TRY_ASSIGN(const Clone before, Clone::create(*context_.repository, folder_ / "before", tip));
    StringSink output;
    const RunRecord record = run_tests(run_request(before, tests.before), output, output, cancel_);
    const VerdictKind kind = record.verdict.kind();
    const bool is_known = record.tests && record.tests->whole &&
        (kind == VerdictKind::allowed || kind == VerdictKind::rejected || record.verdict.reason == Reason::no_tests);
    if (!is_known || !tests_) {
      over = over_of(record.verdict, record.error);
      if (is_known) over->outcome = AttemptOutcome::put_back;
      over->detail = fmt::format(
          "which tests passed before the change is not known ({}); add tests in new files, and leave the files of "
          "sandbox/ as they are",
          over->detail);
      return ok();
    }
    if (std::string lost = lost_tests(*record.tests, *tests_); !lost.empty()) {
      over = AttemptEnd{AttemptOutcome::refused, kTestsWeakened, std::move(lost)};
      said_.clear();  // all passed, which is not the point
    }
    return ok();
  }

  Result<void> weigh(const Clone& judged, const Tests& tests, std::optional<AttemptEnd>& over) {
    const auto& nightly = context_.config->config.nightly;
    WorthRequest request;
    request.run = run_request(judged, tests.fresh);
    request.old_tests = tests.old;
    request.runs = nightly.worth_runs;
    request.mutants = nightly.worth_mutants;
    request.scratch = folder_ / "worth";
    GUARD_TRY(make_folders(request.scratch, 0700));
    const fs::path before = folder_ / "before" / order_.task.project;
    for (const auto& file : tests.fresh) {
      if (std::find(tests.before.begin(), tests.before.end(), file) == tests.before.end()) continue;
      GUARD_TRY_ASSIGN(request.before[file], read_file(before / file, kStagedBytesMax, FollowLinks::no));
    }
    GUARD_TRY_ASSIGN(const Worth worth, weigh_tests(request, cancel_));
    attempt_.mutants = worth.mutants.size();
    attempt_.mutants_killed = static_cast<std::uint64_t>(
        std::count_if(worth.mutants.begin(), worth.mutants.end(), [](const Mutant& mutant) { return mutant.killed; }));
    attempt_.lines_covered = worth.lines_covered;
    attempt_.lines_newly_covered = worth.lines_newly_covered;
    for (const auto& test : worth.flaky) attempt_.flaky.push_back(masked_text(*context_.secrets, test));
    switch (worth.kind) {
      case WorthKind::worth: break;
      case WorthKind::weaker: over = AttemptEnd{AttemptOutcome::refused, kTestsWeakened, worth.detail}; break;
      case WorthKind::worthless: over = AttemptEnd{AttemptOutcome::refused, "worthless", worth.detail}; break;
      case WorthKind::flaky: over = AttemptEnd{AttemptOutcome::refused, "flaky", worth.detail}; break;
      case WorthKind::undecided: over = AttemptEnd{AttemptOutcome::put_back, "worth_undecided", worth.detail}; break;
    }
    return ok();
  }

  Result<void> commit(const std::string& tip, const ChangeSet& change) {
    NewCommit what;
    what.tip = tip;
    what.time_s = unix_ms() / 1000;
    // git's trailers: one line each, the last paragraph.
    what.message = fmt::format("{}: {}\n\nGuard-Night: {}\nGuard-Task: {}\nGuard-Evidence: sha256:{} {}\n",
        order_.task.kind == TaskKind::test ? "Add tests" : "Change", order_.task.id, context_.night, order_.task.id,
        attempt_.evidence_sha256, attempt_.evidence);
    const std::string pending = pending_reference(context_.night, order_.task.id);
    GUARD_TRY_ASSIGN(attempt_.commit, context_.repository->make_commit(what, change, pending));
    attempt_.tip = tip;
    GUARD_TRY_ASSIGN(std::string diff, context_.repository->diff(attempt_.commit, kDiffBytesMax));
    attempt_.diff = masked_text(*context_.secrets, diff);
    GUARD_TRY(enter(AttemptStep::committing));
    if (auto moved = context_.repository->move_branch(context_.branch, tip, attempt_.commit); !moved) {
      // It may have moved all the same: what can't be told apart stays in the journal as it is, for `resume`.
      auto there = finish_commit(context_, attempt_);
      if (!there) fatal_ = std::move(there).error();
      if (!there || !*there) return std::move(moved).error();
    }
    *context_.branch_tip = attempt_.commit;
    return ok();
  }

  Result<Attempt> finish(AttemptEnd over) {
    attempt_.outcome = over.outcome;
    attempt_.reason = std::move(over.reason);
    attempt_.detail = masked_text(*context_.secrets, over.detail);
    attempt_.ended_ms = unix_ms();
    attempt_.step = AttemptStep::done;
    const bool told = over.outcome == AttemptOutcome::refused || over.outcome == AttemptOutcome::failed;
    if (told)
      attempt_.feedback =
          feedback_of(attempt_, attempt_.findings.empty() ? std::string_view(said_) : std::string_view());
    keep_or_remove(over.outcome);
    return std::move(attempt_);
  }

  void keep_or_remove(AttemptOutcome outcome) {
    const KeepClones keep = context_.config->config.nightly.keep_clones;
    const bool wanted = keep == KeepClones::always ||
        (keep == KeepClones::refused && (outcome == AttemptOutcome::refused || outcome == AttemptOutcome::failed));
    if (wanted) {
      const fs::path kept = fs::path("kept") / context_.night / file_stem(order_);
      std::error_code failure;
      fs::create_directories((context_.state->path() / kept).parent_path(), failure);
      (void)remove_tree(context_.state->path() / kept);
      // Whoever looks at it must not run what its .git was made to run.
      (void)remove_tree(folder_ / "clone" / ".git");
      if (!fs::exists(fs::symlink_status(folder_ / "clone" / ".git", failure)))
        fs::rename(folder_ / "clone", context_.state->path() / kept, failure);
      else
        failure = std::make_error_code(std::errc::io_error);
      if (!failure) attempt_.kept = kept.generic_string();
    }
    // What is left here is found and removed when the next night begins.
    (void)remove_tree(folder_);
  }

  const NightContext& context_;
  const AttemptOrder& order_;
  const std::function<void(AttemptStep)>& progress_;
  const CancelToken& cancel_;
  fs::path folder_;
  Attempt attempt_;
  BackendChoice backend_;
  std::string said_;
  std::optional<TestSummary> tests_;  // of the change
  std::optional<Error> fatal_;
};

}  // namespace

std::string pending_reference(const std::string& night, const std::string& task) {
  return fmt::format("refs/guard/pending/{}/{}", night, sha256_hex(task).substr(0, 16));
}

Result<Attempt> run_attempt(const NightContext& context, const AttemptOrder& order,
    const std::function<void(AttemptStep)>& progress, const CancelToken& cancel) {
  return AttemptRun(context, order, progress, cancel).execute();
}

Result<bool> finish_commit(const NightContext& context, const Attempt& attempt) {
  if (attempt.step != AttemptStep::committing || attempt.commit.empty()) return false;
  GUARD_TRY_ASSIGN(const auto tip, context.repository->tip(context.branch));
  if (!tip) return false;
  if (!context.repository->commit_id(attempt.commit)) return false;  // collected since
  GUARD_TRY_ASSIGN(const bool there, context.repository->contains(*tip, attempt.commit));
  if (there) return true;
  if (*tip != attempt.tip) return false;
  GUARD_TRY(context.repository->move_branch(context.branch, attempt.tip, attempt.commit));
  return true;
}

}  // namespace guard::nightly
