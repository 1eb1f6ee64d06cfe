#include "nightly/loop/attempt_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <thread>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/time.h"
#include "nightly/loop/clone.h"
#include "nightly/loop/feedback.h"
#include "nightly/loop/generator.h"
#include "nightly/loop/journal_tables.h"
#include "nightly/loop/judged_change.h"
#include "nightly/loop/wall_clock.h"
#include "nightly/loop/worker_evidence.h"
#include "nightly/worth/kept_tests.h"
#include "nightly/worth/mutation_check.h"
#include "pipeline/backend_choice.h"
#include "pipeline/evidence/evidence_file.h"
#include "pipeline/evidence/evidence_record.h"
#include "pipeline/gate/gate.h"
#include "pipeline/report/brief.h"
#include "pipeline/report/test_results.h"
#include "pipeline/run/staging.h"
#include "pipeline/run/suite_run.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;

constexpr std::size_t kDiffBytesMax = 256u << 10;
constexpr std::size_t kFindingsKept = 500;
constexpr std::uint64_t kSentBytesMax = 4'096;
constexpr std::size_t kWorkerDetailBytesMax = 2'000;
constexpr milliseconds kReadAgain{200};
constexpr std::size_t kSaidKept = 2'000;  // bytes of a generator's last lines
constexpr std::string_view kTrusted = "a worker ran the tests and signed that they passed; they did not run again here";

// That holds something, cut to what one line of a report takes.
std::string last_line(std::string_view text) {
  constexpr std::size_t kShown = 200;
  text = text.substr(0, text.find_last_not_of(" \t\r\n") + 1);  // npos + 1: 0
  return cut_text(printable(text.substr(text.rfind('\n') + 1)), kShown, " ...");
}

// The attempt is over, one way or the other.
struct AttemptEnd {
  AttemptOutcome outcome;
  std::string reason;
  std::string detail;
};

AttemptEnd end_of(const Verdict& verdict, const std::optional<Error>& error) {
  const std::string detail = error ? error->message()
      : !verdict.detail.empty()    ? verdict.detail
                                   : std::string(info(verdict.reason).sentence);
  // Nothing of ours or of the engine's makes a test file empty.
  const bool refused = verdict.reason == Reason::no_tests || verdict.kind() == VerdictKind::rejected;
  return {verdict.reason == Reason::interrupted ? AttemptOutcome::interrupted
          : refused                             ? AttemptOutcome::refused
                                                : AttemptOutcome::requeued,
      std::string(info(verdict.reason).name), detail};
}

// What can't be masked is not shown.
std::string masked_or_withheld(const SecretSource& secrets, std::string_view text) {
  auto hidden = mask_text(secrets, text);
  return hidden ? std::move(hidden->text) : "(withheld)";
}

// What is guard's own failure, or the engine's.
AttemptEnd end_of(const Error& error) {
  return {AttemptOutcome::requeued, "error",
      fmt::format("{}: {}{}{}", error.wire_name(), error.message(), error.hint().empty() ? "" : "; ", error.hint())};
}

AttemptEnd worker_lost(std::string detail) {
  return {AttemptOutcome::requeued, std::string(kWorkerLost), std::move(detail)};
}

std::optional<AttemptEnd> refused(std::string_view reason, std::string detail) {
  return AttemptEnd{AttemptOutcome::refused, std::string(reason), std::move(detail)};
}

// Nothing: it has done its work.
std::optional<AttemptEnd> end_of(const GeneratorResult& result, const AttemptOrder& order, bool may_leave_processes) {
  using End = GeneratorResult::End;
  const auto failed = [&](const char* reason) { return AttemptEnd{AttemptOutcome::failed, reason, result.sentence}; };
  switch (result.end) {
    case End::cancelled: return AttemptEnd{AttemptOutcome::interrupted, "interrupted", "guard was stopped"};
    case End::disk_full:
      return AttemptEnd{AttemptOutcome::requeued, "no_space", "the disk filled up while the generator ran"};
    case End::not_started: return failed("generator_missing");
    case End::flooded: return failed("generator_flooded");
    case End::timed_out:
      if (order.time_left <= order.task.generator_timeout)
        return AttemptEnd{AttemptOutcome::interrupted, "time", "the time of the night was over"};
      return failed("generator_timed_out");
    case End::signaled: return failed("generator_crashed");
    case End::exited: break;
  }
  if (result.value != 0) return failed("generator_failed");
  if (result.left == 0 || may_leave_processes) return std::nullopt;
  return refused("left_processes",
      fmt::format("the generator left {} running when it ended; {} ended",
          result.left == 1 ? "a process" : fmt::format("{} processes", result.left),
          result.left == 1 ? "it was" : "they were"));
}

RunRequest run_request(const NightContext& context, const AttemptOrder& order, const Clone& judged,
    const std::vector<std::string>& files) {
  RunRequest request;
  request.project = order.task.project.empty() ? judged.folder() : judged.folder() / order.task.project;
  request.files = files;
  request.refused_files = RefusedFiles::decide;
  request.config = context.config->config;
  if (order.task.allow) request.config.network.allow = *order.task.allow;
  // Nobody reads these tests before they are kept.
  const ConfigEntry* asked = context.config->find("run.require_assertions");
  if (asked == nullptr || asked->origin == "default") request.config.run.require_assertions = Assertions::test;
  if (order.rollout == Rollout::host) request.backend = Backend::host;
  request.environment = context.environment;
  request.rules = context.rules;
  request.matcher = context.matcher;
  return request;
}

void take(const std::vector<Finding>& findings, const SecretSource& secrets, Attempt& attempt) {
  for (const auto& finding : findings) {
    if (attempt.findings.size() >= kFindingsKept) break;
    // Excerpts were masked with their file at hand; names and messages can hold foreign words, too.
    attempt.findings.push_back(
        {finding.rule, std::string(to_string(finding.tier)), masked_or_withheld(secrets, finding.path), finding.line,
            masked_or_withheld(secrets, finding.message), finding.fix, finding.excerpt});
  }
}

void take_failures(const RunRecord& record, const SecretSource& secrets, Attempt& attempt) {
  for (const Failure& failure : failures_of(record)) {
    if (attempt.findings.size() >= kFindingsKept) break;
    std::string message = failure.test;
    for (const auto line : pieces_of(failure.message)) {
      if (!line.empty()) message.append(message.empty() ? "" : "; ").append(line);
    }
    attempt.findings.push_back(
        {std::string(failure.kind), std::string(kFailedTest), masked_or_withheld(secrets, failure.file), failure.line,
            masked_or_withheld(secrets, message), std::string(failure.next), {}});
  }
}

// What is noted of an attempt that a worker was given.
struct Sent {
  std::string sha256;  // of task.json: what a result has to belong to
  std::string start;
  std::string job;
};

fs::path sent_place(const NightContext& context, const Attempt& attempt) {
  return context.state->path() / "sent" / attempt.night / attempt_name(attempt.task, attempt.number);
}

std::optional<Sent> read_sent(const fs::path& file) {
  const std::string text = read_file(file, kSentBytesMax, FollowLinks::no).value_or("");
  const auto words = pieces_of(std::string_view(text).substr(0, text.find('\n')), ' ');
  if (words.size() < 2) return std::nullopt;
  return Sent{std::string(words[0]), std::string(words[1]), std::string(words.size() > 2 ? words[2] : "")};
}

class AttemptRun {
 public:
  AttemptRun(const NightContext& context, const AttemptOrder& order, const std::function<void(AttemptStep)>& progress,
      const CancelToken& cancel)
      : context_(context),
        config_(context.config->config),
        order_(order),
        progress_(progress),
        cancel_(cancel),
        stem_(attempt_name(order.task.id, order.number)),
        folder_(context.state->clones() / context.night / stem_) {
    attempt_.night = context.night;
    attempt_.task = order.task.id;
    attempt_.number = order.number;
    attempt_.started_ms = unix_ms();
    attempt_.start = order.start;
  }

  // Of a worker: what it made, once it is over.
  const ChangeSet& change() const { return change_; }

  Result<Attempt> execute() {
    GUARD_TRY(save());
    auto over = steps();
    if (fatal_) return std::move(*fatal_);
    if (over) return finish(std::move(*over));
    const Error& error = over.error();
    if (error.code() == ErrorCode::cancelled || cancel_.cancelled())
      return finish({AttemptOutcome::interrupted, "interrupted", "guard was stopped"});
    return finish(end_of(error));
  }

 private:
  using Clock = std::chrono::steady_clock;
  // Nothing: the next step follows. An Error: guard's own failure, or the engine's.
  using StepEnd = Result<std::optional<AttemptEnd>>;
  struct Step {
    std::string_view time;  // the name under which it is timed; empty: it is not
    AttemptStep step;
    StepEnd (AttemptRun::*run)();
    bool (AttemptRun::*is_needed)() const = nullptr;
  };
  static constexpr std::size_t kSteps = 14;

  Result<AttemptEnd> steps() {
    static constexpr Step kAll[kSteps] = {
        // Before the generator is paid for: where nothing can be run, nothing need be generated.
        {"", AttemptStep::cloning, &AttemptRun::choose},
        {"worker", AttemptStep::generating, &AttemptRun::send, &AttemptRun::is_remote},
        {"clone", AttemptStep::cloning, &AttemptRun::make_clone},
        {"generator", AttemptStep::generating, &AttemptRun::generate, &AttemptRun::is_local},
        {"", AttemptStep::reading, &AttemptRun::lay_result, &AttemptRun::is_remote},
        {"read", AttemptStep::reading, &AttemptRun::read},
        {"", AttemptStep::reading, &AttemptRun::wait_for_turn},
        {"gate", AttemptStep::gating, &AttemptRun::gate},
        {"lay_out", AttemptStep::testing, &AttemptRun::lay_out},
        {"evidence", AttemptStep::testing, &AttemptRun::take_evidence, &AttemptRun::is_of_the_tip},
        {"run", AttemptStep::testing, &AttemptRun::run, &AttemptRun::is_tested_here},
        {"compare", AttemptStep::testing, &AttemptRun::compare, &AttemptRun::touches_tests},
        {"worth", AttemptStep::weighing, &AttemptRun::weigh, &AttemptRun::is_weighed},
        // Notes its own step once the commit is made.
        {"commit", AttemptStep::done, &AttemptRun::commit, &AttemptRun::is_kept},
    };
    for (const Step& step : kAll) {
      if (step.is_needed != nullptr && !(this->*step.is_needed)()) continue;
      if (step.step != attempt_.step && step.step != AttemptStep::done) GUARD_TRY(enter(step.step));
      const auto began = Clock::now();
      GUARD_TRY_ASSIGN(auto over, (this->*step.run)());
      if (!step.time.empty()) {
        attempt_.timings_ms.emplace_back(
            step.time, std::chrono::duration_cast<milliseconds>(Clock::now() - began).count());
      }
      if (over) return std::move(*over);
    }
    return AttemptEnd{AttemptOutcome::accepted, "accepted", std::string(is_tested_here() ? "" : kTrusted)};
  }

  bool is_remote() const { return context_.executor != nullptr; }
  bool is_local() const { return context_.executor == nullptr; }
  bool is_kept() const { return context_.journal != nullptr; }
  // What was judged on another tip says nothing about this one.
  bool is_of_the_tip() const { return offered_ && tip_ == attempt_.start; }
  bool is_tested_here() const { return !takes_offer_; }
  bool touches_tests() const { return is_tested_here() && !tests_.before.empty(); }
  bool is_weighed() const { return is_tested_here() && config_.nightly.worth && order_.task.kind == TaskKind::test; }

  // `fatal_` ends the night: nothing can be written down any more, or nobody knows where the branch is.
  Result<void> save() {
    if (context_.journal == nullptr) return ok();
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

  std::string masked(std::string_view text) const { return masked_or_withheld(*context_.secrets, text); }

  // A worker's record: masked there, but of what secrets are known here only we know. Masked again it would not hold.
  bool may_be_kept(std::string_view evidence) const { return masked(evidence) == evidence; }

  // A file below `kind` of the state folder, whose folder is there then; as the journal names it.
  Result<std::string> place_for(std::string_view kind, std::string_view ending) const {
    const std::string name = fmt::format("{}/{}/{}{}", kind, context_.night, stem_, ending);
    GUARD_TRY(make_folders((context_.state->path() / name).parent_path(), 0700));
    return name;
  }

  StepEnd choose() {
    std::optional<Backend> forced;
    if (order_.rollout == Rollout::host) forced = Backend::host;
    EngineLocation located;  // asked for at most once
    auto chosen = choose_backend(config_, forced, [&](Backend backend) {
      return probe_backend(backend, config_, context_.environment,
          [&]() -> const EngineLocation& { return located = locate_engine(config_, context_.environment, cancel_); });
    });
    if (!chosen) {
      const Verdict verdict = verdict_of(chosen.error());
      return AttemptEnd{AttemptOutcome::requeued, std::string(info(verdict.reason).name), chosen.error().message()};
    }
    backend_ = std::move(*chosen);
    attempt_.backend = to_string(backend_.backend);
    return std::nullopt;
  }

  // A worker makes the first half, and judges as we will: what it refuses need not be judged again.
  StepEnd send() {
    GUARD_TRY_ASSIGN(Sent sent, read_or_send());
    attempt_.start = sent.start;
    const fs::path folder = context_.task_folders / stem_;
    WorkOrder work{folder, sent.job, {}, {}, order_.time_left};
    work.submitted = [&](const std::string& job) {
      sent.job = job;
      return note_sent(sent);
    };
    work.is_given_up = [this] { return context_.journal->stop_requested(context_.night).value_or(false); };
    const auto end = context_.executor->work(work, cancel_);
    if (!end && end.error().code() == ErrorCode::environment_unavailable) {
      AttemptEnd over = end_of(end.error());
      over.reason = kNoExecutor;
      return over;
    }
    if (!end) return end.error();
    if (end->kind == WorkEnd::Kind::lost) return worker_lost(end->sentence);
    if (end->kind == WorkEnd::Kind::out_of_time)
      return AttemptEnd{AttemptOutcome::interrupted, "time", "the time of the night was over"};
    auto read = read_patiently(folder, sent.sha256);
    if (read) return take_result(std::move(*read));
    if (read.error().code() == ErrorCode::input_invalid || read.error().code() == ErrorCode::file_not_found)
      return worker_lost(read.error().message());
    if (read.error().code() != ErrorCode::io_error) return std::move(read).error();
    return std::move(read).error().hint(
        "see why this machine can't read [executor] shared; `guard nightly resume` makes the attempt again");
  }

  // A network file system fails for a moment, which is not its worker's doing.
  Result<WorkResult> read_patiently(const fs::path& folder, const std::string& sha256) const {
    const ExecutorPlan& plan = context_.plan->executor;
    const Deadline deadline = Deadline::after(shown_within(folder));
    for (;;) {
      auto read = read_result(folder, sha256, {plan.signers, plan.trust_workers}, cancel_);
      if (read || read.error().code() != ErrorCode::io_error || deadline.passed() || cancel_.cancelled()) return read;
      std::this_thread::sleep_for(kReadAgain);
    }
  }

  fs::path sent_file() const { return sent_place(context_, attempt_); }
  // In our own folder: workers write to the other.
  Result<void> note_sent(const Sent& sent) const {
    GUARD_TRY(make_folders(sent_file().parent_path(), 0700));
    return write_file_atomically(sent_file(), fmt::format("{} {} {}\n", sent.sha256, sent.start, sent.job), 0600);
  }

  Result<Sent> read_or_send() const {
    GUARD_TRY_ASSIGN(const bool sent_before, is_sent(context_, attempt_));
    if (sent_before) {
      if (auto noted = read_sent(sent_file())) return *std::move(noted);
      return Error(ErrorCode::io_error, fmt::format("{} can't be read", printable(sent_file().native())));
    }
    TaskFile task = context_.for_workers;
    task.order = order_;
    const fs::path folder = context_.task_folders / stem_;
    GUARD_TRY(make_night_folder(context_.task_folders, NightFolder::may_be_there));
    GUARD_TRY_ASSIGN(const fs::path pack, context_.repository->pack(order_.start, context_.task_folders));
    Sent sent;
    sent.start = order_.start;
    GUARD_TRY_ASSIGN(sent.sha256, write_task(folder, task, pack, context_.rules_folder));
    GUARD_TRY(note_sent(sent));
    return sent;
  }

  // Foreign words: masked before they are kept. Of an accepted change only what it is counts; all else is found again.
  StepEnd take_result(WorkResult result) {
    Attempt& theirs = result.attempt;
    const auto mask = [this](std::string& text) { text = cut_text(masked(text), kDiffBytesMax, ""); };
    kAttempts.for_each_text(theirs, mask);
    for_each_list([&](const auto& table) {
      for (auto& row : theirs.*table.list) table.for_each_text(row, mask);
    });
    attempt_.generator = theirs.generator;
    attempt_.generator_said = theirs.generator_said;
    const auto night_ms = std::chrono::milliseconds(context_.plan->budget.time).count();
    std::erase_if(theirs.timings_ms, [&](const auto& one) { return one.second < 0 || one.second > night_ms; });
    attempt_.timings_ms = theirs.timings_ms;
    if (!result.log.empty()) {
      const std::string log = masked(result.log);
      GUARD_TRY_ASSIGN(attempt_.output, place_for("outputs", ".txt"));
      GUARD_TRY(write_file_atomically(context_.state->path() / attempt_.output, log, 0600));
      if (theirs.outcome == AttemptOutcome::failed) said_ = log;
    }
    if (theirs.outcome == AttemptOutcome::accepted) {
      change_ = std::move(result.change);
      if (result.is_trusted) offered_ = std::move(result);
      return std::nullopt;
    }
    // Nobody is harmed by a worker that refuses without a reason, but the task.
    const auto record = parse_evidence(result.evidence);
    if (record && shape_faults(*record).empty() && may_be_kept(result.evidence)) {
      GUARD_TRY_ASSIGN(attempt_.evidence, place_for("evidence", ".json"));
      GUARD_TRY(write_file_atomically(context_.state->path() / attempt_.evidence, result.evidence, 0600));
      attempt_.evidence_sha256 = sha256_hex(result.evidence);
    }
    for (const auto list : {&Attempt::files, &Attempt::flaky}) attempt_.*list = std::move(theirs.*list);
    attempt_.findings = std::move(theirs.findings);
    attempt_.diff = std::move(theirs.diff);
    attempt_.tests_passed = theirs.tests_passed;
    attempt_.tests_failed = theirs.tests_failed;
    attempt_.tests_skipped = theirs.tests_skipped;
    take_measures(theirs);
    // What the loop counts by these is told by itself alone.
    constexpr std::string_view kOurs[] = {"accepted", "conflict", kWorkerLost, kNoExecutor};
    const bool is_ours = std::find(std::begin(kOurs), std::end(kOurs), theirs.reason) != std::end(kOurs);
    return AttemptEnd{
        theirs.outcome, is_ours ? "error" : theirs.reason, cut_text(theirs.detail, kWorkerDetailBytesMax, " ...")};
  }

  void take_measures(const Attempt& theirs) {
    for (const auto number : {&Attempt::secrets_masked, &Attempt::mutants, &Attempt::mutants_killed,
             &Attempt::lines_covered, &Attempt::lines_newly_covered})
      attempt_.*number = theirs.*number;
  }

  // Laid where a generator would have written, and read from there.
  StepEnd lay_result() {
    if (auto laid = clone_->apply(change_); !laid) {
      if (laid.error().code() != ErrorCode::input_invalid) return std::move(laid).error();
      return worker_lost(laid.error().message());
    }
    return std::nullopt;
  }

  StepEnd make_clone() {
    GUARD_TRY(remove_tree(folder_));
    GUARD_TRY(make_folders(folder_.parent_path(), 0700));
    GUARD_TRY(make_folders(folder_, 0700));
    GUARD_TRY_ASSIGN(clone_, Clone::create(*context_.repository, folder_ / "clone", attempt_.start));
    return std::nullopt;
  }

  StepEnd generate() {
    GeneratorRequest request;
    request.argv = order_.task.generator;
    const std::string brief = brief_text({clone_->folder() / order_.task.project, &config_, context_.rules});
    request.prompt = prompt_with(brief, order_.task.prompt, order_.feedback);
    request.folder = clone_->folder();
    for (const auto& name : context_.plan->generator_env) {
      if (const auto value = context_.environment.find(name); value != context_.environment.end())
        request.variables[name] = value->second;
    }
    request.variables["GUARD_NIGHTLY_TASK"] = order_.task.id;
    request.variables["GUARD_NIGHTLY_ATTEMPT"] = std::to_string(order_.number);
    request.timeout = std::min(order_.task.generator_timeout, order_.time_left);
    request.keep_bytes = config_.limits.output_keep_bytes;
    request.flood_bytes = config_.limits.output_flood_bytes;
    request.free_bytes_min = config_.nightly.min_free_bytes / 2;
    request.supervisor = context_.supervisor;
    GUARD_TRY_ASSIGN(GeneratorResult result, run_generator(request, *context_.secrets, cancel_));
    attempt_.generator = masked(result.sentence);
    GUARD_TRY_ASSIGN(attempt_.output, place_for("outputs", ".txt"));
    GUARD_TRY(write_file_atomically(context_.state->path() / attempt_.output, result.output, 0600));
    auto over = end_of(result, order_, context_.plan->allow_left_processes);
    if (over && over->outcome == AttemptOutcome::failed) {
      said_ = std::move(result.output);
      attempt_.generator_said = said_;
      if (said_.size() > kSaidKept) attempt_.generator_said.erase(0, said_.find('\n', said_.size() - kSaidKept) + 1);
      if (const std::string last = last_line(said_); !last.empty())
        over->detail += fmt::format("; its last line: {}", last);
    }
    return over;
  }

  StepEnd read() {
    auto read = clone_->read_change(config_.check.max_file_bytes, cancel_);
    if (!read) {
      // Nothing of ours makes a file that we cannot read.
      if (read.error().sys_errno() != EACCES && read.error().sys_errno() != EPERM) return std::move(read).error();
      return refused("unreadable", read.error().message());
    }
    change_ = std::move(*read);
    for (const auto& file : change_.files) attempt_.files.push_back(masked(file.path));
    if (change_.files.empty() && change_.findings.empty()) return refused("no_change", "the generator changed nothing");
    return std::nullopt;
  }

  // From here to the commit one attempt is at work: the tree that was tested is the tree that is committed.
  StepEnd wait_for_turn() {
    if (context_.journal == nullptr) {
      tip_ = attempt_.start;
      GUARD_TRY_ASSIGN(tree_, context_.repository->listing(tip_));
      return std::nullopt;
    }
    judging_ = std::unique_lock(*context_.judging);
    GUARD_TRY_ASSIGN(const auto tip, context_.repository->tip(context_.branch));
    if (!tip || *tip != *context_.branch_tip) {
      fatal_ = Error(ErrorCode::input_invalid,
          fmt::format("somebody else moved or removed {} during the night", printable(context_.branch)))
                   .hint("leave the branch of a night alone until the night is over");
      return Error(*fatal_);
    }
    tip_ = *tip;
    GUARD_TRY_ASSIGN(const auto start, context_.repository->listing(attempt_.start));
    GUARD_TRY_ASSIGN(tree_, context_.repository->listing(tip_));
    if (tip_ != attempt_.start && !fits_on(*start, *tree_, change_)) {
      return AttemptEnd{
          AttemptOutcome::requeued, "conflict", "another task of this night changed one of these files first"};
    }
    return std::nullopt;
  }

  StepEnd gate() {
    // Names that stand beside the change where it will be committed: another task may have brought one that differs in
    // case alone.
    std::set<std::string_view> changed;
    for (const auto& file : change_.files) changed.insert(file.path);
    change_.unchanged.clear();
    for (const auto& [path, entry] : *tree_) {
      if (changed.count(path) == 0) change_.unchanged.push_back(path);
    }
    // Nothing stands between code and machine on the host: there all that was changed is judged by all tiers, src/ too.
    Config wider = config_;
    if (backend_.backend == Backend::host) wider.check.paths = {"**"};
    GateRequest request;
    request.rules = context_.rules;
    request.matcher = context_.matcher;
    request.config = &wider;
    request.secrets = [this]() -> Result<const SecretSource*> { return context_.secrets; };
    request.project = context_.repository->top();
    request.files_expected = false;
    CheckRecord record = gate_change(request, change_, policy_options(config_, order_.task.kind), attempt_.backend);
    for (Finding& finding : findings_of_night(change_, order_.task.kind, *context_.secrets))
      record.report.findings.push_back(std::move(finding));
    if (record.verdict.kind() == VerdictKind::allowed && record.report.rejected())
      record.verdict = verdict_of(record.report, false);
    attempt_.diff = masked(added_text(change_, kDiffBytesMax));
    take(record.report.findings, *context_.secrets, attempt_);
    if (record.verdict.kind() == VerdictKind::allowed) return std::nullopt;
    return end_of(record.verdict, record.error);
  }

  StepEnd lay_out() {
    GUARD_TRY_ASSIGN(judged_, Clone::create(*context_.repository, folder_ / "judged", tip_));
    GUARD_TRY(judged_->apply(change_));
    tests_ = choose_tests(order_.task, *tree_, change_);
    if (!tests_.refusal.empty()) return refused(tests_.refusal, tests_.detail);
    return std::nullopt;
  }

  // Whatever speaks against the record of a worker's run: then the tests run here, as those of any other worker.
  StepEnd take_evidence() {
    const ExpectedRun expected{judged_->folder() / order_.task.project, attempt_.backend, tests_.run,
        context_.config->entries, context_.rules->digest(), context_.guard_version};
    const auto tests = tests_of_worker(offered_->evidence, expected, cancel_);
    if (!tests || !may_be_kept(offered_->evidence)) return std::nullopt;
    const std::string document = with_relaxation(offered_->evidence, fmt::format("trust_workers: {}", kTrusted));
    GUARD_TRY_ASSIGN(attempt_.evidence, place_for("evidence", ".json"));
    GUARD_TRY(write_file_atomically(context_.state->path() / attempt_.evidence, document, 0600));
    attempt_.evidence_sha256 = sha256_hex(document);
    attempt_.tests_passed = tests->passed;
    attempt_.tests_failed = tests->failures;
    attempt_.tests_skipped = tests->skipped;
    take_measures(offered_->attempt);
    takes_offer_ = true;
    return std::nullopt;
  }

  StepEnd run() {
    RunRequest request = run_request(context_, order_, *judged_, tests_.run);
    RunFacts facts = new_run_facts();
    facts.project = order_.task.project.empty() ? "." : order_.task.project;
    facts.files = tests_.run;
    facts.config = context_.config->entries;
    facts.rules_digest = context_.rules->digest();
    request.facts = std::move(facts);
    GUARD_TRY_ASSIGN(const std::string name, place_for("evidence", ".json"));
    const fs::path file = context_.state->path() / name;
    StringSink output;
    RunRecord record = run_tests(request, output, output, cancel_);
    keep_evidence(EvidencePlace{file, false}, context_.guard_version, record.verdict.exit_status(), record);
    auto document = read_file(file, 64u << 20, FollowLinks::no);
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
    for (const auto& [kind, count] : record.redactions) attempt_.secrets_masked += count;
    if (record.check) take(record.check->report.findings, *context_.secrets, attempt_);
    if (record.verdict.reason == Reason::tests_failed) take_failures(record, *context_.secrets, attempt_);
    said_ = std::move(output.text);
    summary_ = std::move(record.tests);
    if (record.verdict.kind() != VerdictKind::allowed) return end_of(record.verdict, record.error);
    // Without evidence there is no commit: its trailer would name nothing.
    if (!document) return std::move(document).error();
    return std::nullopt;
  }

  // What passed before has to pass afterwards. What that is, a run of the files as they were says, and no report that
  // the change had a hand in.
  StepEnd compare() {
    GUARD_TRY_ASSIGN(const Clone before, Clone::create(*context_.repository, folder_ / "before", tip_));
    StringSink output;
    const RunRecord record = run_tests(run_request(context_, order_, before, tests_.before), output, output, cancel_);
    const VerdictKind kind = record.verdict.kind();
    const bool is_known = record.tests && record.tests->whole &&
        (kind == VerdictKind::allowed || kind == VerdictKind::rejected || record.verdict.reason == Reason::no_tests);
    if (!is_known || !summary_) {
      AttemptEnd over = end_of(record.verdict, record.error);
      if (is_known) over.outcome = AttemptOutcome::requeued;
      over.detail = fmt::format(
          "which tests passed before the change is not known ({}); add tests in new files, and leave the files of "
          "sandbox/ as they are",
          over.detail);
      return over;
    }
    std::string lost = lost_tests(*record.tests, *summary_);
    if (lost.empty()) return std::nullopt;
    said_.clear();  // all passed, which is not the point
    return refused(kTestsWeakened, std::move(lost));
  }

  StepEnd weigh() {
    WorthRequest request;
    request.run = run_request(context_, order_, *judged_, tests_.fresh);
    request.old_tests = tests_.old;
    request.runs = config_.nightly.worth_runs;
    request.mutants = config_.nightly.worth_mutants;
    request.scratch = folder_ / "worth";
    GUARD_TRY(make_folders(request.scratch, 0700));
    const fs::path before = folder_ / "before" / order_.task.project;
    for (const auto& file : tests_.fresh) {
      if (std::find(tests_.before.begin(), tests_.before.end(), file) == tests_.before.end()) continue;
      GUARD_TRY_ASSIGN(request.before[file], read_file(before / file, kStagedBytesMax, FollowLinks::no));
    }
    GUARD_TRY_ASSIGN(Worth worth, weigh_tests(request, cancel_));
    attempt_.mutants = worth.mutants.size();
    attempt_.mutants_killed = static_cast<std::uint64_t>(
        std::count_if(worth.mutants.begin(), worth.mutants.end(), [](const Mutant& mutant) { return mutant.killed; }));
    attempt_.lines_covered = worth.lines_covered;
    attempt_.lines_newly_covered = worth.lines_newly_covered;
    for (const auto& test : worth.flaky) attempt_.flaky.push_back(masked(test));
    switch (worth.kind) {
      case WorthKind::worth: break;
      case WorthKind::weaker: return refused(kTestsWeakened, std::move(worth.detail));
      case WorthKind::worthless: return refused("worthless", std::move(worth.detail));
      case WorthKind::flaky: return refused("flaky", std::move(worth.detail));
      case WorthKind::undecided:
        return AttemptEnd{AttemptOutcome::requeued, "worth_undecided", std::move(worth.detail)};
    }
    return std::nullopt;
  }

  StepEnd commit() {
    NewCommit what;
    what.tip = tip_;
    what.time_s = unix_ms() / 1000;
    // git's trailers: one line each, the last paragraph.
    what.message = fmt::format("{}: {}\n\nGuard-Night: {}\nGuard-Task: {}\nGuard-Evidence: sha256:{} {}\n",
        order_.task.kind == TaskKind::test ? "Add tests" : "Change", order_.task.id, context_.night, order_.task.id,
        attempt_.evidence_sha256, attempt_.evidence);
    const std::string pending = pending_reference(context_.night, order_.task.id);
    GUARD_TRY_ASSIGN(attempt_.commit, context_.repository->make_commit(what, change_, pending));
    attempt_.tip = tip_;
    GUARD_TRY_ASSIGN(const std::string diff, context_.repository->diff(attempt_.commit, kDiffBytesMax));
    attempt_.diff = masked(diff);
    GUARD_TRY(enter(AttemptStep::committing));
    if (auto moved = context_.repository->move_branch(context_.branch, tip_, attempt_.commit); !moved) {
      // It may have moved all the same: what can't be told apart stays in the journal as it is, for `resume`.
      auto there = finish_commit(context_, attempt_);
      if (!there) fatal_ = there.error();
      if (!there || !*there) return std::move(moved).error();
    }
    *context_.branch_tip = attempt_.commit;
    return std::nullopt;
  }

  Attempt finish(AttemptEnd over) {
    if (judging_) judging_.unlock();
    attempt_.outcome = over.outcome;
    attempt_.reason = std::move(over.reason);
    attempt_.detail = masked(over.detail);
    attempt_.ended_ms = unix_ms();
    attempt_.step = AttemptStep::done;
    const bool came_to_nothing = over.outcome == AttemptOutcome::refused || over.outcome == AttemptOutcome::failed;
    if (came_to_nothing && attempt_.feedback.empty())
      attempt_.feedback =
          feedback_of(attempt_, attempt_.findings.empty() ? std::string_view(said_) : std::string_view());
    const KeepClones keep = config_.nightly.keep_clones;
    if (keep == KeepClones::always || (keep == KeepClones::refused && came_to_nothing)) keep_clone();
    // What is left here is found and removed when the next night begins.
    (void)remove_tree(folder_);
    forget_sent(context_, attempt_);
    return std::move(attempt_);
  }

  void keep_clone() {
    const auto kept = place_for("kept", "");
    if (!kept) return;
    (void)remove_tree(context_.state->path() / *kept);
    // Whoever looks at it must not run what its .git was made to run.
    (void)remove_tree(folder_ / "clone" / ".git");
    std::error_code failure;
    if (fs::exists(fs::symlink_status(folder_ / "clone" / ".git", failure))) return;
    fs::rename(folder_ / "clone", context_.state->path() / *kept, failure);
    if (!failure) attempt_.kept = *kept;
  }

  const NightContext& context_;
  const Config& config_;
  const AttemptOrder& order_;
  const std::function<void(AttemptStep)>& progress_;
  const CancelToken& cancel_;
  const std::string stem_;  // of the names of its files: "add-negative-2"
  const fs::path folder_;
  Attempt attempt_;
  std::optional<Error> fatal_;
  // What the steps hand on.
  BackendChoice backend_;
  std::optional<Clone> clone_;
  ChangeSet change_;
  std::optional<WorkResult> offered_;  // of a trusted worker, less its change
  bool takes_offer_ = false;
  std::unique_lock<std::mutex> judging_;
  std::string tip_;
  std::shared_ptr<const TreeEntries> tree_;  // of the tip
  std::optional<Clone> judged_;
  ChosenTests tests_;
  std::optional<TestSummary> summary_;  // of the change
  std::string said_;
};

}  // namespace

std::string pending_reference(const std::string& night, const std::string& task) {
  return fmt::format("refs/guard/pending/{}/{}", night, sha256_hex(task).substr(0, 16));
}

Result<Attempt> run_attempt(const NightContext& context, const AttemptOrder& order,
    const std::function<void(AttemptStep)>& progress, const CancelToken& cancel) {
  return AttemptRun(context, order, progress, cancel).execute();
}

Result<WorkResult> work_attempt(const NightContext& context, const AttemptOrder& order, const CancelToken& cancel) {
  AttemptRun run(context, order, nullptr, cancel);
  WorkResult result;
  GUARD_TRY_ASSIGN(result.attempt, run.execute());
  if (result.attempt.outcome == AttemptOutcome::interrupted) {
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, result.attempt.detail);
    result.attempt.outcome = AttemptOutcome::requeued;  // its time was over: the night's own clock decides
  }
  result.change = run.change();
  const auto kept = [&](const std::string& name, std::uint64_t bytes_max) {
    return name.empty() ? std::string()
                        : read_file(context.state->path() / name, bytes_max, FollowLinks::no).value_or("");
  };
  result.log = cut_text(kept(result.attempt.output, 64u << 20), kLogBytesMax, "");
  result.evidence = kept(result.attempt.evidence, kEvidenceBytesMax);
  return result;
}

WorkResult put_back(const Error& error) {
  AttemptEnd over = end_of(error);
  WorkResult result;
  result.attempt.outcome = over.outcome;
  result.attempt.reason = std::move(over.reason);
  result.attempt.detail = std::move(over.detail);
  return result;
}

Result<bool> is_sent(const NightContext& context, const Attempt& attempt) {
  if (context.executor == nullptr) return false;
  for (const fs::path& file :
      {sent_place(context, attempt), context.task_folders / attempt_name(attempt.task, attempt.number) / "task.json"}) {
    std::error_code failure;
    if (fs::exists(file, failure)) continue;
    if (!failure) return false;
    return Error(ErrorCode::io_error, fmt::format("{}: {}", printable(file.native()), failure.message()))
        .hint(
            "a worker may have this attempt: go on when this can be read, or remove it to have the attempt made again");
  }
  return true;
}

void forget_sent(const NightContext& context, const Attempt& attempt) {
  if (context.executor == nullptr) return;
  (void)remove_tree(sent_place(context, attempt));
  (void)remove_tree(context.task_folders / attempt_name(attempt.task, attempt.number));
}

std::vector<std::string> submitted_jobs(const NightContext& context) {
  std::vector<std::string> jobs;
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(context.state->path() / "sent" / context.night, failure)) {
    const auto sent = read_sent(entry.path());
    if (sent && !sent->job.empty()) jobs.push_back(sent->job);
  }
  return jobs;
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
