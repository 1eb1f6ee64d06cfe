#include "nightly/workers/slurm.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <utility>

#include "common/text/text.h"
#include "common/time.h"
#include "nightly/workers/task_folder.h"
#include "runner/process/subprocess.h"

// Every attempt that is under way waits here in a thread of its own. Whoever wakes first does what is due for all:
// gives what waits to sbatch, or asks squeue. squeue and not sacct: that one needs a database that many clusters of a
// few machines do not have. What squeue no longer knows is over.

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kLook{200};
constexpr milliseconds kAsk{2'000};        // squeue is a burden for the controller
constexpr milliseconds kGather{500};       // the attempts of a night begin at once
constexpr milliseconds kDeadline{60'000};  // a controller that is started again answers late
constexpr int kElements = 2;               // that an attempt may be part of: one that is killed takes its batch along
constexpr int kMissing = 2;                // answers in a row without it; a network file system shows a result late
constexpr std::uint64_t kAnswerBytesMax = 8u << 20;

// sbatch hands its own environment on whole: given names instead, it would have each node read the profile of a login.
Environment handed_over(std::vector<std::string> names, const Environment& environment) {
  names.insert(names.end(), {"PATH", "SLURM_CONF"});  // what sbatch itself needs
  Environment handed;
  for (const auto& name : names) {
    if (const auto value = environment.find(name); value != environment.end()) handed.insert(*value);
  }
  return handed;
}

class SlurmExecutor final : public Executor {
 public:
  SlurmExecutor(const Plan& plan, const std::string& night, fs::path program, Environment environment)
      : plan_(plan.executor),
        name_("guard-" + night),
        program_(std::move(program)),
        environment_(handed_over(plan.executor.pass, environment)) {}

  Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) override {
    Work work{&order, order.job, {}, {}};
    const Deadline deadline = Deadline::after(order.time_left);
    std::unique_lock lock(mutex_);
    if (work.job.empty()) waiting_.push_back(&work);
    auto came = Clock::now();
    given_ += work.job.empty() ? 0 : 1;
    const auto end = [&](Result<WorkEnd> what) {
      std::erase(waiting_, &work);
      if (!work.job.empty()) --given_;
      return what;
    };
    for (;;) {
      if (has_result(order.folder)) return end(WorkEnd{});
      if (cancel.cancelled() || deadline.passed() || work.failed) {
        // Others of the same element are stopped as well; for them it is lost.
        if (!work.job.empty()) (void)call({"scancel", work.job}, {});
        if (work.failed) return end(std::move(*work.failed));
        if (cancel.cancelled()) return end(Error(ErrorCode::cancelled, "stopped"));
        return end(WorkEnd{WorkEnd::Kind::out_of_time, {}});
      }
      if (work.job.empty()) {
        if (is_time_to_give(Clock::now() - came)) give();
        if (work.failed) continue;
      } else if (work.missing >= kMissing && ++work.ended < kElements) {
        --given_;
        work.job.clear();
        work.missing = 0;
        waiting_.push_back(&work);
        came = Clock::now();
      } else if (work.missing >= kMissing) {
        return end(WorkEnd{WorkEnd::Kind::lost,
            fmt::format("the job {} ended without a result ({})", work.job, work.state.empty() ? "gone" : work.state)});
      } else {
        if (Clock::now() >= ask_at_) ask();
        look(work);
      }
      changed_.wait_for(lock, kLook);
    }
  }

 private:
  struct Work {
    const WorkOrder* order;
    std::string job;  // "17_3"
    std::string state;
    std::optional<Error> failed;
    int missing = 0;
    int ended = 0;           // elements, without a result
    std::uint64_t seen = 0;  // the answer that was looked at last
  };

  // Full batches, unless less is at work than waits and nothing more came for a moment: then nobody is served by it.
  bool is_time_to_give(Clock::duration waited) const {
    return waited >= kGather && (waiting_.size() >= plan_.batch || given_ <= waiting_.size());
  }

  void give() {
    std::vector<std::vector<fs::path>> batches;
    for (const Work* work : waiting_) {
      if (batches.empty() || batches.back().size() >= plan_.batch) batches.emplace_back();
      batches.back().push_back(work->order->folder);
    }
    const auto id = submit(batches);
    for (std::size_t i = 0; i < waiting_.size(); ++i) {
      Work& work = *waiting_[i];
      if (!id) {
        work.failed = id.error();
        continue;
      }
      work.job = fmt::format("{}_{}", *id, i / plan_.batch);
      ++given_;
      if (auto noted = work.order->submitted(work.job); !noted) work.failed = std::move(noted).error();
    }
    waiting_.clear();
    ask_at_ = Clock::now() + kAsk;
    changed_.notify_all();
  }

  Result<std::string> submit(const std::vector<std::vector<fs::path>>& batches) const {
    // No file of the job's own: results are in their folders, whatever becomes of a node.
    std::vector<std::string> argv = {"sbatch", "--parsable", "--requeue", "--job-name=" + name_,
        fmt::format("--array=0-{}", batches.size() - 1), "--output=/dev/null", "--error=/dev/null", "--chdir=/",
        "--export=ALL"};
    if (!plan_.partition.empty()) argv.push_back("--partition=" + plan_.partition);
    if (!plan_.account.empty()) argv.push_back("--account=" + plan_.account);
    if (!plan_.memory.empty()) argv.push_back("--mem=" + plan_.memory);
    if (plan_.cpus != 0) argv.push_back(fmt::format("--cpus-per-task={}", plan_.cpus));
    if (plan_.time.count() != 0) argv.push_back(fmt::format("--time={}", (plan_.time.count() + 59) / 60));
    GUARD_TRY_ASSIGN(
        const std::string answer, call(std::move(argv), array_script(plan_, program_, "SLURM_ARRAY_TASK_ID", batches)));
    // "17", or "17;cluster".
    const std::string id = answer.substr(0, answer.find_first_of(";\n"));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
      return Error(ErrorCode::protocol_error, fmt::format("sbatch answered {}", printable(cut_text(answer, 200, ""))));
    return id;
  }

  // Where nobody answers, nothing is known, and nothing is lost by that.
  void ask() {
    ask_at_ = Clock::now() + kAsk;
    auto answer = call({"squeue", "--noheader", "--array", "--states=all", "--name=" + name_, "--format=%F_%K|%T"}, {});
    if (!answer) return;
    states_ = slurm_states(*answer);
    ++answers_;
  }

  void look(Work& work) const {
    if (work.seen == answers_) return;
    work.seen = answers_;
    const auto found = states_.find(work.job);
    if (found != states_.end()) work.state = found->second;
    work.missing = found != states_.end() && slurm_works(found->second) ? 0 : work.missing + 1;
  }

  Result<std::string> call(std::vector<std::string> argv, std::string stdin_text) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.env = environment_;
    spec.stdin_text = std::move(stdin_text);
    spec.deadline = Deadline::after(kDeadline);
    const CancelToken never;  // of something that is to be stopped, too
    GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, kAnswerBytesMax, never));
    if (ran.result.outcome.kind == OutcomeKind::exited && ran.result.outcome.value == 0 && !ran.truncated)
      return ran.out;
    return Error(ErrorCode::execution_failed,
        fmt::format("{}: {}", spec.argv.front(), printable(cut_text(ran.err, 500, " ..."))))
        .hint("see `sinfo`, and [executor] of the plan");
  }

  const ExecutorPlan plan_;
  const std::string name_;
  const fs::path program_;
  const Environment environment_;
  std::mutex mutex_;  // all below
  std::condition_variable changed_;
  std::vector<Work*> waiting_;  // no job yet
  std::size_t given_ = 0;       // with a job
  std::map<std::string, std::string> states_;
  std::uint64_t answers_ = 0;
  Clock::time_point ask_at_{};
};

}  // namespace

std::map<std::string, std::string> slurm_states(std::string_view text) {
  std::map<std::string, std::string> states;
  for (const auto line : pieces_of(text, '\n')) {
    const std::size_t bar = line.find('|');
    if (bar != std::string_view::npos) states[std::string(line.substr(0, bar))] = line.substr(bar + 1);
  }
  return states;
}

bool slurm_works(std::string_view state) noexcept {
  constexpr std::string_view kOver[] = {
      "BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL", "OUT_OF_MEMORY", "REVOKED", "TIMEOUT"};
  return std::find(std::begin(kOver), std::end(kOver), state) == std::end(kOver);
}

Result<std::unique_ptr<Executor>> make_slurm_executor(
    const Plan& plan, const std::string& night, const fs::path& program, const Environment& environment) {
  return std::unique_ptr<Executor>(std::make_unique<SlurmExecutor>(plan, night, program, environment));
}

}  // namespace guard::nightly
