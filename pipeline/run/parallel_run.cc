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

// What one program, or the last one of a sandbox, came to. Output is counted by sandbox.
struct Part {
  ExecResult exec;
  RunOutput::Told told;
  std::map<std::string, std::uint64_t> redactions;
  std::uint64_t kept_bytes = 0;
  std::uint64_t dropped_bytes = 0;
  bool out_truncated = false;
  bool err_truncated = false;
};
using Parts = std::vector<Part>;

// What goes into one sandbox.
struct Order {
  std::vector<std::string> files;  // of the request; none: its command
  std::string run_id;
  Limits limits;
  milliseconds timeout{0};
  std::uint64_t keep_bytes = 0;
  std::function<void(std::size_t done)> progress = {};
};

// Whether the file that ended it so is to blame alone: what it used up is given back with its sandbox.
bool spent_its_sandbox(const Part& part) {
  return part.exec.outcome.kind == OutcomeKind::out_of_memory || part.exec.outcome.kind == OutcomeKind::pids_limit;
}

// Where an earlier file used up what there is, the one that ran when all was ended is as if it had not begun.
void leave_out_the_bystander(Parts& parts) {
  const OutcomeKind kind = parts.back().exec.outcome.kind;
  const bool blamed = spent_its_sandbox(parts.back()) &&
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

// One sandbox: output streams as it comes. A file that ends the sandbox leaves those behind it out.
Result<Parts> run_sandbox(
    const ParallelRunRequest& request, const Order& order, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  SandboxSpec spec = *request.spec;
  spec.run_id = order.run_id;
  spec.limits = order.limits;
  spec.timeout = order.timeout;
  // Sandboxes side by side have stages at once.
  if (request.plan->jobs() == 1) spec.timeline = request.plan->request.timeline;
  spec.argv.resize(spec.argv.size() - request.files().size());
  std::vector<std::string> words;
  for (const std::string& file : order.files) words.push_back("./" + file);
  GUARD_TRY_ASSIGN(const auto output, RunOutput::create(*request.secrets, order.keep_bytes, out, err));
  if (order.progress) order.progress(0);
  std::vector<RunOutput::Told> told;
  if (request.plan->isolation() == Isolation::file && words.size() > 1) {
    spec.each = std::move(words);
    spec.program_ended = [&] {
      told.push_back(output->take_told());
      if (order.progress) order.progress(told.size());
    };
  } else {
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
  }
  GUARD_TRY_ASSIGN(const auto sandbox, request.make_sandbox());
  ByteSink* const raw_out = request.plan->request.raw_out;
  ByteSink* const raw_err = request.plan->request.raw_err;
  // Where this fails, what is still held back stays held back: nobody can say how the stream would have gone on.
  GUARD_TRY_ASSIGN(ExecResult exec,
      sandbox->run(
          spec, raw_out != nullptr ? *raw_out : output->out(), raw_err != nullptr ? *raw_err : output->err(), cancel));
  for (ByteSink* raw : {raw_out, raw_err}) {
    if (raw != nullptr) GUARD_TRY(raw->finish());
  }
  GUARD_TRY(output->finish(exec.outcome.kind == OutcomeKind::exited ? RunOutput::Ending::whole : RunOutput::Ending::cut)
                .context("masking the last of the output"));
  told.push_back(output->take_told());

  std::vector<ExecResult> results = std::exchange(exec.earlier, {});
  results.push_back(std::move(exec));
  Parts parts(results.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    parts[i].exec = std::move(results[i]);
    if (i < told.size()) parts[i].told = told[i];
  }
  Part& last = parts.back();
  for (Part& part : parts) part.exec.seen_inside = last.exec.seen_inside;
  last.redactions = output->redactions();
  last.kept_bytes = output->kept_bytes();
  last.dropped_bytes = output->dropped_bytes();
  last.out_truncated = output->truncated(RunOutput::Stream::out);
  last.err_truncated = output->truncated(RunOutput::Stream::err);
  leave_out_the_bystander(parts);
  return parts;
}

// All files one after another, in one sandbox and, behind each file that used up what there is, in another one.
Result<Parts> run_in_turn(const ParallelRunRequest& request, ByteSink& out, ByteSink& err, const CancelToken& cancel) {
  const Deadline deadline = Deadline::after(request.spec->timeout);
  Order order{request.files(), request.spec->run_id, request.spec->limits, request.spec->timeout, request.keep_bytes()};
  Parts parts;
  for (;;) {
    order.progress = [&, done = parts.size()](std::size_t more) {
      if (request.progress) request.progress(done + more);
    };
    std::optional<RunFolder> folder;
    if (!parts.empty()) {
      // A folder of its own for its lock, as for sandboxes side by side.
      GUARD_TRY_ASSIGN(folder, RunFolder::create());
      order.run_id = folder->run_id();
    }
    GUARD_TRY_ASSIGN(Parts more, run_sandbox(request, order, out, err, cancel));
    const bool spent = std::any_of(more.begin(), more.end(), spent_its_sandbox);
    std::move(more.begin(), more.end(), std::back_inserter(parts));
    if (request.plan->isolation() != Isolation::file || parts.size() >= request.files().size() || !spent) return parts;
    order.files.assign(request.files().begin() + static_cast<std::ptrdiff_t>(parts.size()), request.files().end());
    order.timeout = deadline.remaining();
    if (order.timeout <= milliseconds(0)) return parts;
    // 0 would be no cap at all.
    if (order.keep_bytes != 0) order.keep_bytes -= std::min(parts.back().kept_bytes, order.keep_bytes - 1);
  }
}

// Each file in a sandbox of its own, some side by side.
class SideBySide {
 public:
  SideBySide(const ParallelRunRequest& request, const CancelToken& cancel)
      : request_(request), cancel_(cancel), places_(request.files().size()) {}

  // Output goes on in the order of the files, each as soon as it and all before it have ended.
  Result<Parts> run(ByteSink& out, ByteSink& err) {
    std::vector<std::thread> threads;
    for (std::size_t i = 0; i < request_.plan->jobs(); ++i) threads.emplace_back([this] { work(); });
    Result<void> passed = ok();
    for (std::size_t i = 0; i < places_.size() && passed; ++i) {
      Place& place = places_[i];
      std::unique_lock lock(mutex_);
      ended_.wait(lock, [&] { return place.part.has_value(); });
      lock.unlock();
      passed = out.push(std::exchange(place.out.text, {}));
      if (passed) passed = err.push(std::exchange(place.err.text, {}));
      if (request_.progress) request_.progress(i + 1);
    }
    if (!passed) {
      // Those that run come to their end; no more are started.
      const std::lock_guard lock(mutex_);
      next_ = places_.size();
    }
    for (std::thread& thread : threads) thread.join();
    GUARD_TRY(std::move(passed));
    Parts parts;
    for (Place& place : places_) {
      GUARD_TRY_ASSIGN(Part part, *std::move(place.part));
      parts.push_back(std::move(part));
    }
    return parts;
  }

 private:
  struct Place {
    StringSink out;
    StringSink err;
    std::optional<Result<Part>> part;  // under the mutex
  };

  void work() {
    for (;;) {
      std::unique_lock lock(mutex_);
      if (next_ >= places_.size()) return;
      const std::size_t index = next_++;
      lock.unlock();
      auto part = run_file(index).context(fmt::format("running {}", printable(request_.files()[index])));
      lock.lock();
      places_[index].part.emplace(std::move(part));
      ended_.notify_one();
    }
  }

  Result<Part> run_file(std::size_t index) {
    // A folder of its own for its lock: by that and its name others know whose container this is.
    GUARD_TRY_ASSIGN(const RunFolder folder, RunFolder::create());
    const std::uint64_t share =
        request_.keep_bytes() == 0 ? 0 : std::max<std::uint64_t>(1, request_.keep_bytes() / request_.files().size());
    const Order order{{request_.files()[index]}, folder.run_id(),
        share_of(request_.spec->limits, request_.plan->jobs()), request_.spec->timeout, share};
    GUARD_TRY_ASSIGN(Parts parts, run_sandbox(request_, order, places_[index].out, places_[index].err, cancel_));
    return std::move(parts.front());
  }

  const ParallelRunRequest& request_;
  const CancelToken& cancel_;
  std::mutex mutex_;
  std::condition_variable ended_;
  std::vector<Place> places_;
  std::size_t next_ = 0;
};

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
    evidence.assertions = request_.plan->config.run.require_assertions;
    evidence.text = part.told.summary;
    evidence.failures_told = part.told.failures;
    evidence.sandboxed = backend_row(request_.plan->choice.backend).isolates;
    evidence.filtered = !request_.plan->request.options.names.empty();
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
    add_output(part);
    first_ = false;
  }

  // `guard exec`: one program, and no report.
  ParallelRun of_command(Part&& part) {
    sum_.written = std::exchange(part.exec.collected, std::nullopt);
    sum_.verdict = judge_command(part.exec, backend_row(request_.plan->choice.backend).isolates);
    sum_.exec = std::move(part.exec);
    add_output(part);
    return std::move(sum_);
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
    for (std::size_t i = sum_.files.size(); i < request_.files().size(); ++i)
      sum_.files.push_back({request_.files()[i]});
    name_others();
    return std::move(sum_);
  }

 private:
  void add_output(const Part& part) {
    sum_.kept_bytes += part.kept_bytes;
    sum_.dropped_bytes += part.dropped_bytes;
    sum_.out_truncated = sum_.out_truncated || part.out_truncated;
    sum_.err_truncated = sum_.err_truncated || part.err_truncated;
    for (const auto& [kind, count] : part.redactions) sum_.redactions[kind] += count;
  }

  void take(const std::vector<std::string>& files, Verdict& verdict) {
    if (files.size() == 1 && verdict.kind() != VerdictKind::allowed)
      not_allowed_[verdict.reason].push_back(files.front());
    if (!judged_ || weight(verdict.kind()) > weight(sum_.verdict.kind())) {
      sum_.verdict = std::move(verdict);
      if (request_.files().size() > 1 && files.size() == 1) {
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
          printable(listed(files, kShownMax)));
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
  GUARD_TRY_ASSIGN(Parts parts,
      request.plan->jobs() > 1 ? SideBySide(request, cancel).run(out, err) : run_in_turn(request, out, err, cancel));
  Sum sum(request);
  if (request.files().empty()) return sum.of_command(std::move(parts.front()));
  const bool together = request.plan->jobs() == 1 && request.plan->isolation() == Isolation::run;
  for (std::size_t i = 0; i < parts.size(); ++i)
    sum.take(together ? request.files() : std::vector{request.files()[i]}, std::move(parts[i]));
  return sum.release(parts.size(), together ? 1 : request.files().size());
}

}  // namespace guard
