#include "pipeline/parted_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <thread>
#include <utility>

#include "common/text.h"
#include "pipeline/run_output.h"
#include "runner/run_folder.h"

namespace guard {
namespace {

// Below these a sandbox could not do its work, however many share.
constexpr std::uint64_t kMemoryMin = 64u << 20;
constexpr std::uint32_t kPidsMin = 32;
constexpr double kCpusMin = 0.1;

struct Part {
  std::optional<Error> error;
  ExecResult exec;
  std::optional<TextSummary> text;
  std::uint64_t failures_told = 0;
  std::map<std::string, std::uint64_t> redactions;
  std::uint64_t kept_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  StringSink out;
  StringSink err;
  bool ended = false;  // under the mutex of Parts
};

class Parts {
 public:
  Parts(const PartedRunRequest& request, const CancelToken& cancel) : request_(request), cancel_(cancel), parts_(request.files.size()) {}

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
      if (auto ran = run_part(index, part); !ran) part.error = std::move(ran).context(fmt::format("running {}", printable(request_.files[index]))).error();
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
    const std::uint64_t share = request_.keep_bytes == 0 ? 0 : std::max<std::uint64_t>(1, request_.keep_bytes / request_.files.size());
    GUARD_TRY_ASSIGN(const auto output, RunOutput::create(*request_.secrets, share, part.out, part.err));
    GUARD_TRY_ASSIGN(part.exec, sandbox->run(spec, output->out(), output->err(), cancel_));
    const bool whole = part.exec.outcome.kind == OutcomeKind::exited;
    GUARD_TRY(output->finish(whole ? RunOutput::Ending::whole : RunOutput::Ending::cut));
    part.text = output->text_summary();
    part.failures_told = output->failures_told();
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

  const PartedRunRequest& request_;
  const CancelToken& cancel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Part> parts_;
  std::size_t next_ = 0;
  bool given_up_ = false;
};

void add(ExecResult& sum, ExecResult&& part, bool first) {
  const bool went_on = sum.outcome.kind == OutcomeKind::exited && sum.outcome.value == 0;
  if (first || went_on) sum.outcome = std::move(part.outcome);
  sum.wall = std::max(sum.wall, part.wall);
  sum.cpu += part.cpu;
  sum.memory_peak_bytes = std::max(sum.memory_peak_bytes, part.memory_peak_bytes);
  sum.stdout_bytes += part.stdout_bytes;
  sum.stderr_bytes += part.stderr_bytes;
  sum.report_truncated = sum.report_truncated || part.report_truncated;
  sum.attestation_forged = sum.attestation_forged || part.attestation_forged;
  if (first) {
    sum.report = std::move(part.report);
    sum.attested = part.attested;
    sum.seen_inside = std::move(part.seen_inside);
    sum.enforced_by = std::move(part.enforced_by);
    return;
  }
  // What one of them lacks, the whole lacks.
  if (sum.report && part.report) {
    *sum.report += *part.report;
  } else {
    sum.report.reset();
  }
  if (sum.attested && part.attested) {
    sum.attested->ran += part.attested->ran;
    sum.attested->expected_failures += part.attested->expected_failures;
    sum.attested->redirected = sum.attested->redirected || part.attested->redirected;
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
  std::move(part.failed.begin(), part.failed.end(), std::back_inserter(sum.failed));
}

// A refusal says more than a doubt, and either is more than a pass.
int weight(VerdictKind kind) { return kind == VerdictKind::rejected ? 2 : kind == VerdictKind::allowed ? 0 : 1; }

class Sum {
 public:
  explicit Sum(const PartedRunRequest& request) : request_(request) { sum_.tests.emplace(); }

  void take(const std::string& file, Part&& part) {
    RunEvidence evidence;
    evidence.files = {file};
    evidence.text = part.text;
    evidence.failures_told = part.failures_told;
    evidence.sandboxed = request_.sandboxed;
    std::optional<Collection> written = std::exchange(part.exec.collected, std::nullopt);
    evidence.exec = part.exec;
    RunJudgement judgement = judge_test_run(evidence);
    if (first_ || weight(judgement.verdict.kind()) > weight(sum_.verdict.kind())) {
      sum_.verdict = std::move(judgement.verdict);
      sum_.verdict.detail = fmt::format("{}: {}", file, sum_.verdict.detail.empty() ? std::string(info(sum_.verdict.reason).sentence) : sum_.verdict.detail);
    }
    if (judgement.tests && sum_.tests) {
      add(*sum_.tests, std::move(*judgement.tests));
    } else {
      sum_.tests.reset();
    }
    add(sum_.exec, std::move(part.exec), first_);
    take(std::move(written));
    sum_.kept_bytes += part.kept_bytes;
    sum_.dropped_bytes += part.dropped_bytes;
    for (const auto& [kind, count] : part.redactions) sum_.redactions[kind] += count;
    first_ = false;
  }

  PartedRun release() {
    if (sum_.verdict.kind() == VerdictKind::allowed && sum_.tests) {
      sum_.verdict.detail = fmt::format("{} tests passed in {} files, each in a sandbox of its own", sum_.tests->passed, sum_.tests->files.size());
    }
    return std::move(sum_);
  }

 private:
  void take(std::optional<Collection> written) {
    if (first_) sum_.written.emplace();
    if (!written || !sum_.written) {
      sum_.written.reset();  // of one of them nobody knows
      return;
    }
    std::move(written->left_behind.begin(), written->left_behind.end(), std::back_inserter(sum_.written->left_behind));
    sum_.written->left_behind_count += written->left_behind_count;
    sum_.written->complete = sum_.written->complete && written->complete;
  }

  const PartedRunRequest& request_;
  PartedRun sum_;
  bool first_ = true;
};

}  // namespace

Limits share_of(const Limits& limits, std::size_t jobs) {
  Limits share = limits;
  const auto divided = [jobs](std::uint64_t whole, std::uint64_t least) { return std::min(whole, std::max(whole / jobs, least)); };
  share.memory_bytes = divided(limits.memory_bytes, kMemoryMin);
  share.pids = static_cast<std::uint32_t>(divided(limits.pids, kPidsMin));
  share.cpus = std::min(limits.cpus, std::max(limits.cpus / static_cast<double>(jobs), kCpusMin));
  return share;
}

Result<PartedRun> run_parted(const PartedRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  Parts running(request, cancel);
  GUARD_TRY(running.run(out, err));
  std::vector<Part> parts = running.take();
  for (Part& part : parts) {
    if (part.error) return *std::move(part.error);
  }
  Sum sum(request);
  for (std::size_t i = 0; i < parts.size(); ++i) sum.take(request.files[i], std::move(parts[i]));
  return sum.release();
}

}  // namespace guard
