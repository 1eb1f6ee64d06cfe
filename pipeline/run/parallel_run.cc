#include "pipeline/run/parallel_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <map>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/text/text.h"
#include "pipeline/run/run_output.h"
#include "runner/process/run_folder.h"

namespace guard {
namespace {

// Below these a sandbox could not do its work, however many share.
constexpr std::uint64_t kMemoryMin = 64u << 20;
constexpr std::uint32_t kPidsMin = 32;
constexpr double kCpusMin = 0.1;

struct Part {
  std::optional<Error> error;
  ExecResult exec;
  RunOutput::Told told;
  std::map<std::string, std::uint64_t> redactions;
  std::uint64_t kept_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  StringSink out;
  StringSink err;
  bool ended = false;  // under the mutex of Parts
};

class Parts {
 public:
  Parts(const ParallelRunRequest& request, const CancelToken& cancel)
      : request_(request), cancel_(cancel), parts_(request.files.size()) {}

  Result<void> run(ByteSink& out, ByteSink& err) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < request_.jobs; ++i) threads.emplace_back([this] { work(); });
    auto passed_on = pass_on(out, err);
    for (std::thread& thread : threads) thread.join();
    return passed_on;
  }

  std::vector<Part> take() { return std::move(parts_); }

 private:
  void work() {
    for (;;) {
      std::size_t index = 0;
      {
        const std::lock_guard lock(mutex_);
        if (next_ == parts_.size() || given_up_) return;
        index = next_++;
      }
      Part part;
      if (auto ran = run_part(index, part); !ran)
        part.error = std::move(ran).context(fmt::format("running {}", printable(request_.files[index]))).error();
      {
        const std::lock_guard lock(mutex_);
        parts_[index] = std::move(part);
        parts_[index].ended = true;
      }
      ended_.notify_one();
    }
  }

  Result<void> run_part(std::size_t index, Part& part) const {
    // A folder of its own for its lock: by that and its name others know whose container this is.
    GUARD_TRY_ASSIGN(const RunFolder folder, RunFolder::create());
    SandboxSpec spec = *request_.spec;
    spec.run_id = folder.run_id();
    spec.limits = share_of(spec.limits, request_.jobs);
    spec.argv.resize(spec.argv.size() - request_.files.size());
    spec.argv.push_back("./" + request_.files[index]);
    GUARD_TRY_ASSIGN(const auto sandbox, request_.make_sandbox());
    const std::uint64_t share =
        request_.keep_bytes == 0 ? 0 : std::max<std::uint64_t>(1, request_.keep_bytes / request_.files.size());
    GUARD_TRY_ASSIGN(const auto output, RunOutput::create(*request_.secrets, share, part.out, part.err));
    GUARD_TRY_ASSIGN(part.exec, sandbox->run(spec, output->out(), output->err(), cancel_));
    const bool whole = part.exec.outcome.kind == OutcomeKind::exited;
    GUARD_TRY(output->finish(whole ? RunOutput::Ending::whole : RunOutput::Ending::cut));
    part.told = output->take_told();
    part.redactions = output->redactions();
    part.kept_bytes = output->kept_bytes();
    part.dropped_bytes = output->dropped_bytes();
    return ok();
  }

  // In the order of the files, each as soon as it and all before it have ended.
  Result<void> pass_on(ByteSink& out, ByteSink& err) {
    Result<void> passed = ok();
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [&] { return parts_[i].ended; });
      Part& part = parts_[i];
      lock.unlock();
      if (passed) passed = out.push(std::exchange(part.out.text, {}));
      if (passed) passed = err.push(std::exchange(part.err.text, {}));
      if (request_.progress) request_.progress(i + 1);
      if (passed) continue;
      // Those that run come to their end; no more are started, and nobody waits for them.
      const std::lock_guard again(mutex_);
      given_up_ = true;
      return passed;
    }
    return passed;
  }

  const ParallelRunRequest& request_;
  const CancelToken& cancel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Part> parts_;
  std::size_t next_ = 0;
  bool given_up_ = false;
};

// What is left of the run for the files that are left.
struct Left {
  std::vector<std::string> files;
  milliseconds timeout{0};
  std::uint64_t keep_bytes = 0;
  std::size_t done = 0;  // files of earlier sandboxes
};

// Whether the file that ended it so is to blame alone: what it used up is given back with its sandbox.
bool spent_its_sandbox(OutcomeKind kind) {
  return kind == OutcomeKind::out_of_memory || kind == OutcomeKind::pids_limit;
}

// Where an earlier file used up what there is, the one that ran when all was ended is as if it had not begun.
void leave_out_the_bystander(std::vector<Part>& parts) {
  const OutcomeKind kind = parts.back().exec.outcome.kind;
  const bool blamed = spent_its_sandbox(kind) &&
      std::any_of(parts.begin(), parts.end() - 1, [&](const Part& part) { return part.exec.outcome.kind == kind; });
  if (!blamed) return;
  Part last = std::move(parts.back());
  parts.pop_back();
  Part& carrier = parts.back();
  carrier.exec.memory_peak_bytes = std::max(carrier.exec.memory_peak_bytes, last.exec.memory_peak_bytes);
  carrier.exec.enforced_by = std::move(last.exec.enforced_by);
  if (carrier.exec.touched.empty()) carrier.exec.touched = std::move(last.exec.touched);
  std::move(last.exec.notes.begin(), last.exec.notes.end(), std::back_inserter(carrier.exec.notes));
  carrier.redactions = std::move(last.redactions);
  carrier.kept_bytes = last.kept_bytes;
  carrier.dropped_bytes = last.dropped_bytes;
}

// The files that are left, in one sandbox: output streams as it comes. A file that ends the sandbox leaves those behind
// it out.
Result<std::vector<Part>> run_in_one(const ParallelRunRequest& request, const Left& left, const std::string& run_id,
    ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  SandboxSpec spec = *request.spec;
  spec.run_id = run_id;
  spec.timeout = left.timeout;
  spec.argv.resize(spec.argv.size() - request.files.size());
  std::vector<std::string> words;
  for (const std::string& file : left.files) words.push_back("./" + file);
  GUARD_TRY_ASSIGN(const auto output, RunOutput::create(*request.secrets, left.keep_bytes, out, err));
  if (request.progress) request.progress(left.done);
  std::vector<RunOutput::Told> told;
  if (request.isolation == Isolation::file && words.size() > 1) {
    spec.each = std::move(words);
    spec.program_ended = [&] {
      told.push_back(output->take_told());
      if (request.progress) request.progress(left.done + told.size());
    };
  } else {
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  }
  GUARD_TRY_ASSIGN(const auto sandbox, request.make_sandbox());
  GUARD_TRY_ASSIGN(ExecResult exec, sandbox->run(spec, output->out(), output->err(), cancel));
  GUARD_TRY(output->finish(exec.outcome.kind == OutcomeKind::exited ? RunOutput::Ending::whole : RunOutput::Ending::cut)
                .context("masking the last of the output"));
  told.push_back(output->take_told());

  std::vector<ExecResult> earlier = std::exchange(exec.earlier, {});
  earlier.push_back(std::move(exec));
  std::vector<Part> parts(earlier.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].exec = std::move(earlier[i]);
    if (i < told.size()) parts[i].told = told[i];
  }
  Part& last = parts.back();
  for (Part& part : parts) part.exec.seen_inside = last.exec.seen_inside;
  last.redactions = output->redactions();
  last.kept_bytes = output->kept_bytes();
  last.dropped_bytes = output->dropped_bytes();
  leave_out_the_bystander(parts);
  return parts;
}

// All files one after another, in one sandbox and, behind each file that used up what there is, in another one.
Result<std::vector<Part>> run_in_turn(
    const ParallelRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  const Deadline deadline = Deadline::after(request.spec->timeout);
  Left left{request.files, request.spec->timeout, request.keep_bytes};
  GUARD_TRY_ASSIGN(std::vector<Part> parts, run_in_one(request, left, request.spec->run_id, out, err, cancel));
  const auto spent = [&] {
    return std::any_of(parts.begin() + static_cast<std::ptrdiff_t>(left.done), parts.end(),
        [](const Part& part) { return spent_its_sandbox(part.exec.outcome.kind); });
  };
  while (request.isolation == Isolation::file && parts.size() < request.files.size() && spent()) {
    left.files.assign(request.files.begin() + static_cast<std::ptrdiff_t>(parts.size()), request.files.end());
    left.done = parts.size();
    left.timeout = deadline.remaining();
    if (left.timeout <= milliseconds(0)) break;
    // 0 would be no cap at all.
    if (request.keep_bytes != 0) left.keep_bytes -= std::min(parts.back().kept_bytes, left.keep_bytes - 1);
    // A folder of its own for its lock, as for sandboxes side by side.
    GUARD_TRY_ASSIGN(const RunFolder folder, RunFolder::create());
    GUARD_TRY_ASSIGN(std::vector<Part> more, run_in_one(request, left, folder.run_id(), out, err, cancel));
    std::move(more.begin(), more.end(), std::back_inserter(parts));
  }
  return parts;
}

void add(Attested& sum, Attested&& part) {
  for (const auto& [word, count] : part.counts) sum.counts[word] += count;
  std::move(part.titles.begin(), part.titles.end(), std::back_inserter(sum.titles));
  sum.redirected = sum.redirected || part.redirected;
  sum.debugged = sum.debugged || part.debugged;
  sum.ended_elsewhere = sum.ended_elsewhere || part.ended_elsewhere;
}

void add(ExecResult& sum, ExecResult&& part, bool first) {
  if (first) {
    sum = std::move(part);
    return;
  }
  const bool went_on = sum.outcome.kind == OutcomeKind::exited && sum.outcome.value == 0;
  if (went_on) sum.outcome = std::move(part.outcome);
  sum.wall = std::max(sum.wall, part.wall);
  sum.cpu += part.cpu;
  sum.memory_peak_bytes = std::max(sum.memory_peak_bytes, part.memory_peak_bytes);
  sum.stdout_bytes += part.stdout_bytes;
  sum.stderr_bytes += part.stderr_bytes;
  sum.report_truncated = sum.report_truncated || part.report_truncated;
  sum.attestation_forged = sum.attestation_forged || part.attestation_forged;
  if (sum.touched.empty()) sum.touched = std::move(part.touched);
  if (sum.enforced_by.empty()) sum.enforced_by = std::move(part.enforced_by);
  std::move(part.notes.begin(), part.notes.end(), std::back_inserter(sum.notes));
  // What one of them lacks, the whole lacks.
  if (sum.report && part.report) {
    *sum.report += *part.report;
  } else {
    sum.report.reset();
  }
  if (sum.attested && part.attested) {
    add(*sum.attested, std::move(*part.attested));
  } else {
    sum.attested.reset();
  }
}

void add(TestSummary& sum, TestSummary&& part) {
  sum.tests += part.tests;
  sum.passed += part.passed;
  sum.failures += part.failures;
  sum.skipped += part.skipped;
  sum.assertions += part.assertions;
  std::move(part.files.begin(), part.files.end(), std::back_inserter(sum.files));
  std::move(part.cases.begin(), part.cases.end(), std::back_inserter(sum.cases));
}

// A refusal says more than a doubt, and either is more than a pass.
int weight(VerdictKind kind) { return kind == VerdictKind::rejected ? 2 : kind == VerdictKind::allowed ? 0 : 1; }

class Sum {
 public:
  explicit Sum(const ParallelRunRequest& request) : request_(request) {}

  void take(const std::vector<std::string>& files, Part&& part) {
    RunObservations evidence;
    evidence.files = files;
    evidence.assertions = request_.assertions;
    evidence.text = part.told.summary;
    evidence.failures_told = part.told.failures;
    evidence.sandboxed = request_.sandboxed;
    evidence.filtered = request_.filtered;
    std::optional<Collection> written = std::exchange(part.exec.collected, std::nullopt);
    evidence.written = written ? &*written : nullptr;
    evidence.exec = std::move(part.exec);
    RunJudgement judgement = judge_test_run(evidence);
    add_results(files, judgement, part.told);
    // As if it had not been named; its tests are among the skipped.
    if (judgement.none_selected) evidence.exec.outcome.value = 0;
    if (judgement.none_selected && !judged_) sum_.verdict = judgement.verdict;
    if (!judgement.none_selected) take(files, judgement.verdict);
    whole_ = whole_ && judgement.tests;
    if (judgement.tests && sum_.tests) {
      add(*sum_.tests, std::move(*judgement.tests));
    } else if (judgement.tests) {
      sum_.tests = std::move(judgement.tests);
    }
    take(std::move(written));
    add(sum_.exec, std::move(evidence.exec), first_);
    sum_.kept_bytes += part.kept_bytes;
    sum_.dropped_bytes += part.dropped_bytes;
    for (const auto& [kind, count] : part.redactions) sum_.redactions[kind] += count;
    first_ = false;
  }

  // A run that was stopped has no parts of the files behind.
  ParallelRun release(std::size_t parts, std::size_t expected) {
    if (parts < expected) {
      if (sum_.verdict.kind() == VerdictKind::allowed)
        sum_.verdict = {Reason::report_missing, fmt::format("{} of {} files were not run", expected - parts, expected)};
      whole_ = false;
      sum_.exec.report.reset();
      sum_.exec.attested.reset();
    }
    if (sum_.verdict.kind() == VerdictKind::allowed && sum_.tests && expected > 1) {
      const auto passed = std::count_if(
          sum_.files.begin(), sum_.files.end(), [](const FileResult& file) { return file.state == FileState::passed; });
      sum_.verdict.detail = fmt::format(
          "{} passed in {}", plural(sum_.tests->passed, "test"), plural(static_cast<std::uint64_t>(passed), "file"));
    }
    if (sum_.tests) sum_.tests->whole = whole_;
    for (std::size_t i = sum_.files.size(); i < request_.files.size(); ++i) sum_.files.push_back({request_.files[i]});
    name_others();
    return std::move(sum_);
  }

 private:
  void take(const std::vector<std::string>& files, Verdict& verdict) {
    if (files.size() == 1 && verdict.kind() != VerdictKind::allowed)
      not_allowed_[verdict.reason].push_back(files.front());
    if (!judged_ || weight(verdict.kind()) > weight(sum_.verdict.kind())) {
      sum_.verdict = std::move(verdict);
      if (request_.files.size() > 1 && files.size() == 1) {
        sum_.verdict.detail = fmt::format("{}: {}", files.front(),
            sum_.verdict.detail.empty() ? std::string(info(sum_.verdict.reason).sentence) : sum_.verdict.detail);
      }
    }
    judged_ = true;
  }

  void add_results(const std::vector<std::string>& files, const RunJudgement& judgement, const RunOutput::Told& told) {
    for (const std::string& file : files) {
      std::optional<LoadError> load_error;
      // An error outside of all tests is also one that comes later; then the report holds tests of the file.
      if (files.size() == 1 && !judgement.tests && !told.error_outside.empty())
        load_error = parse_load_error(told.error_outside, file);
      Verdict verdict = judgement.verdict;
      if (files.size() > 1 && judgement.tests &&
          verdict.reason == Reason::tests_failed) {  // they share a process, and a verdict
        const auto row = std::find_if(judgement.tests->files.begin(), judgement.tests->files.end(),
            [&](const TestFileSummary& summary) { return summary.file == file; });
        if (row != judgement.tests->files.end() && row->failures == 0) verdict = {Reason::tests_passed, {}};
      }
      sum_.files.push_back(file_result(file, verdict, std::move(load_error), told.last_test));
      if (judgement.none_selected) sum_.files.back().state = FileState::not_selected;
    }
  }

  // The verdict tells of one file; whoever fixes it wants to know of all.
  void name_others() {
    constexpr std::size_t kShownMax = 20;
    for (auto& [reason, files] : not_allowed_) {
      if (reason == sum_.verdict.reason) files.erase(files.begin());
      if (files.empty()) continue;
      sum_.verdict.detail += fmt::format("; {}{}: {}", reason == sum_.verdict.reason ? "also " : "", info(reason).name,
          printable(fmt::format("{}",
              fmt::join(files.begin(), files.begin() + static_cast<std::ptrdiff_t>(std::min(files.size(), kShownMax)),
                  ", "))));
      if (files.size() > kShownMax) sum_.verdict.detail += fmt::format(" and {} more", files.size() - kShownMax);
    }
  }

  void take(std::optional<Collection> written) {
    if (first_) sum_.written.emplace();
    if (!written || !sum_.written) {
      sum_.written.reset();  // of one of them nobody knows
      return;
    }
    for (CollectedFile& file : written->files) {
      const auto same = std::find_if(sum_.written->files.begin(), sum_.written->files.end(),
          [&](const CollectedFile& other) { return other.path == file.path; });
      if (same != sum_.written->files.end() && same->bytes == file.bytes) continue;
      collected_bytes_ += file.bytes.size();
      const bool too_many =
          sum_.written->files.size() >= CollectRequest::kFilesMax || collected_bytes_ > CollectRequest::kBytesMax;
      if (same == sum_.written->files.end() && !too_many) {
        sum_.written->files.push_back(std::move(file));
        continue;
      }
      sum_.written->left_behind.push_back(
          {printable(file.path), too_many ? LeftBehindReason::too_many : LeftBehindReason::exists});
      ++sum_.written->left_behind_count;
    }
    std::move(written->left_behind.begin(), written->left_behind.end(), std::back_inserter(sum_.written->left_behind));
    sum_.written->left_behind_count += written->left_behind_count;
    sum_.written->complete = sum_.written->complete && written->complete;
  }

  const ParallelRunRequest& request_;
  ParallelRun sum_;
  std::map<Reason, std::vector<std::string>> not_allowed_;  // files
  std::uint64_t collected_bytes_ = 0;
  bool first_ = true;
  bool judged_ = false;  // sum_.verdict is that of a file that says something
  bool whole_ = true;
};

}  // namespace

Limits share_of(const Limits& limits, std::size_t jobs) {
  Limits share = limits;
  const auto divided = [jobs](std::uint64_t whole, std::uint64_t least) {
    return std::min(whole, std::max(whole / jobs, least));
  };
  share.memory_bytes = divided(limits.memory_bytes, kMemoryMin);
  share.pids = static_cast<std::uint32_t>(divided(limits.pids, kPidsMin));
  share.cpus = std::min(limits.cpus, std::max(limits.cpus / static_cast<double>(jobs), kCpusMin));
  return share;
}

Result<ParallelRun> run_parallel(
    const ParallelRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  std::vector<Part> parts;
  if (request.jobs > 1) {
    Parts running(request, cancel);
    GUARD_TRY(running.run(out, err));
    parts = running.take();
    for (Part& part : parts) {
      if (part.error) return *std::move(part.error);
    }
  } else {
    GUARD_TRY_ASSIGN(parts, run_in_turn(request, out, err, cancel));
  }
  const bool together = request.jobs == 1 && request.isolation == Isolation::run;
  Sum sum(request);
  for (std::size_t i = 0; i < parts.size(); ++i)
    sum.take(together ? request.files : std::vector{request.files[i]}, std::move(parts[i]));
  return sum.release(parts.size(), together ? 1 : request.files.size());
}

}  // namespace guard
