#include "nightly/workers/slurm.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <optional>
#include <set>
#include <thread>
#include <utility>

#include "common/text/text.h"
#include "common/time.h"
#include "runner/process/subprocess.h"

// Every attempt that is under way waits in a thread of its own, and asks nobody. One more thread does what is due for
// all of them: gives what waits to sbatch, and asks squeue. squeue and not sacct: that one needs a database that many
// clusters of a few machines do not have. What squeue no longer knows is over. No lock is held while anybody is called.
//
// Whatever sbatch says when it fails, it may have submitted: so nothing is given before squeue has told which jobs of
// this night there are, at the beginning as well (the loop may have been killed in between), and those that no attempt
// knows of are cancelled.

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

constexpr milliseconds kAsk{2'000};   // squeue is a burden for the controller
constexpr milliseconds kGather{500};  // the attempts of a night begin at once
constexpr milliseconds kBackOffMax{60'000};
constexpr milliseconds kDeadline{60'000};     // a controller that is started again answers late
constexpr milliseconds kEndDeadline{10'000};  // somebody waits for the night to end
constexpr milliseconds kGrace{500};           // for programs that have nothing to clean up
constexpr int kElements = 2;  // that an attempt may be part of: one that is killed takes its batch along
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
  SlurmExecutor(const ExecutorPlan& plan, NightPlace place, milliseconds shown)
      : plan_(plan),
        name_("guard-" + place.night),
        program_(std::move(place.program)),
        environment_(handed_over(plan.pass, place.environment)),
        warn_(std::move(place.warn)),
        shown_(shown),
        refused_for_(place.refused_for) {
    for (const auto& job : place.jobs) known_.insert(job_of(job));
    ticker_ = std::thread([this] {
      try {
        tick();
      } catch (const std::exception& thrown) {
        give_up(fmt::format("nothing can be given to Slurm: {}", thrown.what()));
      }
    });
  }

  ~SlurmExecutor() override {
    end_.cancel();  // also of an sbatch that hangs
    changed_.notify_all();
    ticker_.join();
    if (numbers_ == 0) return;
    const CancelToken never;
    if (auto ended =
            call({"scancel", fmt::format("--user={}", ::geteuid()), "--name=" + name_}, {}, kEndDeadline, never);
        !ended)
      warn_(fmt::format("{}; jobs named {} may be left", ended.error().message(), name_));
  }

  Result<WorkEnd> work(const WorkOrder& order, const CancelToken& cancel) override {
    std::uint64_t number = 0;
    const auto leave = [this](const std::uint64_t* entered) {
      const std::lock_guard lock(mutex_);
      works_.erase(*entered);
    };
    std::unique_ptr<const std::uint64_t, decltype(leave)> entry(nullptr, leave);  // however this is left
    {
      const std::lock_guard lock(mutex_);
      const auto gathered = SteadyClock::now() + kGather;  // counted from the first: others may come without end
      if (works_.empty()) ask_at_ = std::max(ask_at_, gathered);
      if (waiting().empty()) give_at_ = std::max(give_at_, gathered);
      number = ++numbers_;
      works_[number] = Work{order.folder, order.job, {}, {}, 0, {}};
      entry.reset(&number);
    }
    std::string noted = order.job;
    return await_result(order, cancel, [&]() -> std::optional<Result<WorkEnd>> {
      std::string job;
      {
        const std::lock_guard lock(mutex_);
        if (given_up_) return Result<WorkEnd>(*given_up_);
        const Work& work = works_.at(number);
        if (!work.lost.empty()) return Result<WorkEnd>(WorkEnd{WorkEnd::Kind::lost, work.lost});
        job = work.job;
      }
      if (job.empty() || job == noted) return std::nullopt;
      if (auto done = order.submitted(job); !done) return Result<WorkEnd>(std::move(done).error());
      noted = std::move(job);
      return std::nullopt;
    });
  }

 private:
  struct Work {
    fs::path folder;
    std::string job;  // "17_3"; empty: waits
    std::string state;
    std::optional<SteadyClock::time_point> over;  // since when its element is known to be
    int elements = 0;                             // that ended without a result
    std::string lost;                             // why it is not given again
  };

  static std::string job_of(const std::string& element) { return element.substr(0, element.find('_')); }

  void tick() {
    std::unique_lock lock(mutex_);
    while (!end_.cancelled()) {
      const auto now = SteadyClock::now();
      const bool asks = now >= ask_at_ && !works_.empty();
      const bool gives = now >= give_at_ && !given_up_;
      lock.unlock();
      if (asks) ask();
      if (gives && knows_all_jobs_) give();
      lock.lock();
      changed_.wait_for(lock, kGather);
    }
  }

  void give_up(std::string sentence) {
    const std::lock_guard lock(mutex_);
    given_up_ = Error(ErrorCode::environment_unavailable, std::move(sentence))
                    .hint("fix it ([executor] of the plan) and begin a new night: one that is resumed keeps its plan");
  }

  std::vector<std::uint64_t> waiting() const {
    std::vector<std::uint64_t> found;
    for (const auto& [number, work] : works_) {
      if (work.job.empty() && work.lost.empty()) found.push_back(number);
    }
    return found;
  }

  // Full batches, unless less is at work than waits: then nobody is served by that.
  void give() {
    std::vector<std::uint64_t> numbers;
    std::vector<std::vector<fs::path>> batches;
    {
      const std::lock_guard lock(mutex_);
      numbers = waiting();
      if (numbers.empty() || (numbers.size() < plan_.batch && works_.size() > 2 * numbers.size())) return;
      for (const auto number : numbers) {
        if (batches.empty() || batches.back().size() >= plan_.batch) batches.emplace_back();
        batches.back().push_back(works_[number].folder);
      }
    }
    const auto id = submit(batches);
    if (!id) {
      knows_all_jobs_ = false;
      // Slurm answers squeue, and has never taken a job of this night: what it has refused for so long it won't take.
      const bool is_refused = known_.empty() && id.error().code() != ErrorCode::execution_timeout;
      if (!is_refused) {
        refused_since_.reset();
      } else if (!refused_since_) {
        refused_since_ = SteadyClock::now();
      } else if (SteadyClock::now() - *refused_since_ >= refused_for_) {
        return give_up(id.error().message());
      }
      complain(id.error());
      const std::lock_guard lock(mutex_);
      back_off_ = std::clamp(2 * back_off_, kAsk, kBackOffMax);
      give_at_ = SteadyClock::now() + back_off_;
      return;
    }
    back_off_ = milliseconds(0);
    known_.insert(*id);
    const std::lock_guard lock(mutex_);
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const auto found = works_.find(numbers[i]);
      if (found != works_.end()) found->second.job = fmt::format("{}_{}", *id, i / plan_.batch);
    }
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
    GUARD_TRY_ASSIGN(const std::string answer,
        call(std::move(argv), array_script(plan_, program_, "SLURM_ARRAY_TASK_ID", batches), kDeadline, end_));
    // "17", or "17;cluster".
    const std::string id = answer.substr(0, answer.find_first_of(";\n"));
    if (id.empty() || id.find_first_not_of("0123456789") != std::string::npos)
      return Error(ErrorCode::protocol_error, fmt::format("sbatch answered {}", printable(cut_text(answer, 200, ""))));
    return id;
  }

  // Where nobody answers, nothing is known, and nothing is lost by that.
  void ask() {
    const auto answer =
        call({"squeue", "--me", "--noheader", "--array", "--states=all", "--name=" + name_, "--format=%F_%K|%T"}, {},
            kDeadline, end_);
    const auto states = slurm_states(answer ? *answer : "");
    {
      const std::lock_guard lock(mutex_);
      ask_at_ = SteadyClock::now() + kAsk;
      if (answer) {
        for (auto& [number, work] : works_) look(states, work);
      }
    }
    if (!answer) {
      refused_since_.reset();  // whatever sbatch said, the controller was away
      return complain(answer.error());
    }
    if (knows_all_jobs_) return;
    std::vector<std::string> cancel = {"scancel"};
    for (const auto& [element, state] : states) {
      if (slurm_works(state) && known_.count(job_of(element)) == 0 && cancel.back() != job_of(element))
        cancel.push_back(job_of(element));
    }
    const auto cancelled = cancel.size() == 1 ? std::string() : call(std::move(cancel), {}, kDeadline, end_);
    if (!cancelled) return complain(cancelled.error());
    knows_all_jobs_ = true;
  }

  void look(const std::map<std::string, std::string>& states, Work& work) const {
    if (work.job.empty()) return;
    const auto found = states.find(work.job);
    if (found != states.end()) work.state = found->second;
    if (found != states.end() && slurm_works(found->second)) {
      work.over.reset();
    } else if (!work.over) {
      work.over = SteadyClock::now();
    } else if (SteadyClock::now() - *work.over >= shown_) {
      work.over.reset();
      if (++work.elements >= kElements) {
        work.lost =
            fmt::format("the job {} ended without a result ({})", work.job, work.state.empty() ? "gone" : work.state);
      }
      work.job.clear();
    }
  }

  // Once: who looks can mend it meanwhile.
  void complain(const Error& error) {
    if (end_.cancelled() || error.message() == warned_) return;
    warned_ = error.message();
    warn_(warned_ + "; it is tried again");
  }

  Result<std::string> call(
      std::vector<std::string> argv, std::string stdin_text, milliseconds limit, const CancelToken& cancel) const {
    ProcessSpec spec;
    spec.argv = std::move(argv);
    spec.env = environment_;
    spec.stdin_text = std::move(stdin_text);
    spec.deadline = Deadline::after(limit);
    spec.grace = kGrace;
    GUARD_TRY_ASSIGN(const CollectedProcess ran, collect_process(spec, kAnswerBytesMax, cancel));
    const Outcome& outcome = ran.result.outcome;
    if (outcome.kind == OutcomeKind::exited && outcome.value == 0 && !ran.truncated) return ran.out;
    const std::string said = replaced(ran.err.substr(0, ran.err.find_last_not_of('\n') + 1), "\n", "; ");
    const bool timed_out = outcome.kind == OutcomeKind::timed_out;
    return Error(timed_out ? ErrorCode::execution_timeout : ErrorCode::execution_failed,
        fmt::format("{}: {}", spec.argv.front(), timed_out ? "no answer" : printable(cut_text(said, 500, " ..."))));
  }

  const ExecutorPlan plan_;
  const std::string name_;
  const fs::path program_;
  const Environment environment_;
  const std::function<void(const std::string&)> warn_;
  const milliseconds shown_;
  const milliseconds refused_for_;
  CancelToken end_;
  // The ticker's own.
  std::string warned_;
  std::set<std::string> known_;  // jobs
  bool knows_all_jobs_ = false;  // no other is at work under our name
  std::optional<SteadyClock::time_point> refused_since_;
  milliseconds back_off_{0};
  std::mutex mutex_;  // all below
  std::condition_variable changed_;
  std::map<std::uint64_t, Work> works_;
  std::uint64_t numbers_ = 0;
  std::optional<Error> given_up_;
  SteadyClock::time_point give_at_{};
  SteadyClock::time_point ask_at_{};
  std::thread ticker_;  // last: it uses the others
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
  // What is requeued is shown as PENDING, or by a flag of its own, and by none of these.
  constexpr std::string_view kOver[] = {"BOOT_FAIL", "CANCELLED", "COMPLETED", "DEADLINE", "FAILED", "NODE_FAIL",
      "OUT_OF_MEMORY", "PREEMPTED", "REVOKED", "TIMEOUT"};
  return std::find(std::begin(kOver), std::end(kOver), state) == std::end(kOver);
}

std::unique_ptr<Executor> make_slurm_executor(const ExecutorPlan& plan, NightPlace place, milliseconds shown) {
  return std::make_unique<SlurmExecutor>(plan, std::move(place), shown);
}

}  // namespace guard::nightly
