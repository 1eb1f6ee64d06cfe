#include "nightly/loop/night_run.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <deque>
#include <optional>
#include <set>
#include <system_error>
#include <thread>

#include "common/file_io.h"
#include "common/text/text.h"
#include "nightly/loop/generator.h"
#include "nightly/loop/wall_clock.h"
#include "nightly/plan/queue.h"
#include "pipeline/change/git_objects.h"
#include "pipeline/verdict.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;
using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

constexpr milliseconds kBackOffMax{60'000};
// Whoever asks for a stop, or has it asked for by a signal, waits no longer than this for the loop to look.
constexpr milliseconds kLook{200};
// A task that is requeued this often in one night is left for `resume`: it must not use up a night that others could
// use.
constexpr std::uint64_t kRequeuedOfTask = 3;

constexpr std::string_view kPending = "refs/guard/pending/";

bool is_over(const Task& task) { return is_decided(task.state); }

std::string note_text(const std::string& note) {
  return fmt::format("A person looked at an earlier result of this task and sent it back:\n{}\n", note);
}

class Loop {
 public:
  Loop(const NightOptions& options, Night night, std::vector<Task> tasks, const CancelToken& cancel)
      : options_(options), context_(*options.context), cancel_(cancel), night_(std::move(night)), began_(Clock::now()) {
    for (auto& task : tasks) {
      Row row;
      row.planned = &*std::find_if(context_.plan->tasks.begin(), context_.plan->tasks.end(),
          [&](const PlannedTask& planned) { return planned.id == task.id; });
      if (!task.note.empty()) row.feedback = note_text(task.note);
      row.task = std::move(task);
      rows_.push_back(std::move(row));
    }
  }

  // What was said to generators before. The budget of a night that is resumed is a fresh one: somebody wants it to go
  // on.
  void remember(const Attempt& attempt) {
    Row& row = row_of(attempt.task);
    row.goes_on = row.goes_on || attempt.outcome == AttemptOutcome::none;
    row.number = std::max(row.number, attempt.outcome == AttemptOutcome::none ? attempt.number - 1 : attempt.number);
    if (!attempt.feedback.empty()) row.feedback = attempt.feedback;
    row.from_tip = row.from_tip || attempt.reason == "conflict";
  }

  Result<NightResult> run() {
    for (Row& row : rows_) {
      // What a worker has already first: it is at work whether or not there is a place.
      if (!is_over(row.task)) row.goes_on ? queue_.push_front(&row) : queue_.push_back(&row);
    }
    {
      const std::lock_guard lock(mutex_);
      GUARD_TRY(decide_what_never_runs());
    }
    std::vector<std::thread> workers;
    const std::size_t jobs = std::max<std::size_t>(1, std::min<std::size_t>(context_.plan->jobs, queue_.size()));
    workers.reserve(jobs);
    try {
      for (std::size_t i = 1; i < jobs; ++i) workers.emplace_back([this] { work(); });
    } catch (const std::exception&) {
      // Fewer do the same work.
    }
    work();
    for (auto& worker : workers) worker.join();

    const std::lock_guard lock(mutex_);
    if (fatal_) return std::move(*fatal_);
    if (broken_) return Error(ErrorCode::internal, "the night can't go on: there is no memory, or a fault of guard's");
    night_.ended_ms = unix_ms();
    std::vector<Task> tasks;
    for (const Row& row : rows_) tasks.push_back(row.task);
    if (!ending_ && std::all_of(tasks.begin(), tasks.end(), is_over)) {
      ending_ = Ending{NightState::finished, "", "every task was decided"};
    } else if (!ending_) {
      ending_ = Ending{NightState::ended, "undecided",
          fmt::format(
              "tasks that were requeued {} times are left: `guard nightly resume` tries them again", kRequeuedOfTask)};
    }
    night_.state = ending_->state;
    night_.reason = ending_->reason;
    night_.why = ending_->why;
    if (context_.executor != nullptr) (void)remove_tree(context_.task_folders);
    GUARD_TRY(save(nullptr, nullptr));
    return NightResult{night_, std::move(tasks)};
  }

 private:
  struct Pause {
    milliseconds length{0};
    Clock::time_point until{};
    void lengthen(milliseconds first) {
      length = std::min(kBackOffMax, length == milliseconds(0) ? first : length * 2);
      until = Clock::now() + length;
    }
  };
  struct Row {
    Task task;
    const PlannedTask* planned = nullptr;
    std::uint64_t number = 0;  // of its newest attempt
    std::string feedback;
    bool goes_on = false;   // its newest attempt is a worker's
    bool from_tip = false;  // another one overtook it, or comes before it: cloned from where the branch is
    std::uint64_t requeued = 0;
    bool at_work_before = false;  // so many were put back that the night ends
  };
  struct Ending {
    NightState state;
    std::string reason;
    std::string why;
  };

  Result<void> save(const Task* task, const Attempt* attempt) {
    night_.heartbeat_ms = unix_ms();
    context_.state->beat();
    return context_.journal->save(&night_, task, attempt);
  }

  void say(std::string_view task, std::string sentence, bool step) {
    if (!options_.say) return;
    const auto decided = std::count_if(rows_.begin(), rows_.end(), [](const Row& row) { return is_over(row.task); });
    options_.say({task, std::move(sentence), step, static_cast<std::size_t>(decided), rows_.size()});
  }

  Row& row_of(const std::string& id) {
    return *std::find_if(rows_.begin(), rows_.end(), [&](const Row& row) { return row.task.id == id; });
  }

  // Decides a task without an attempt, where that is all it takes: one that is never generated, that the roll-out did
  // not choose, or that comes after another one which came to nothing. A task comes after what is there: accepted in
  // this night, or taken by the person before it began.
  bool decide(Row& row) {
    const auto decided = [&task = row.task](TaskState state, const char* reason, std::string detail) {
      task.state = state;
      task.reason = reason;
      task.detail = std::move(detail);
      return true;
    };
    if (!row.planned->never_generated.empty())
      return decided(TaskState::refused, "never_generated", row.planned->never_generated);
    if (row.task.rollout == Rollout::none) {
      return decided(TaskState::skipped, "not_rolled_out",
          "the roll-out did not choose this task, and the configuration does not allow the host");
    }
    for (const auto& id : row.planned->after) {
      const Task& before = row_of(id).task;
      if (before.state == TaskState::accepted) row.from_tip = true;
      if (!is_over(before) || before.state == TaskState::accepted ||
          (before.state == TaskState::skipped && before.reason == to_string(Standing::taken)))
        continue;
      return decided(TaskState::skipped, "after",
          fmt::format("comes after {}, which is {}{}", id, to_string(before.state),
              before.detail.empty() ? "" : ": " + before.detail));
    }
    return false;
  }

  // Under the lock. One that is decided may decide others.
  Result<void> decide_what_never_runs() {
    for (auto it = queue_.begin(); it != queue_.end();) {
      Row& row = **it;
      if (!decide(row)) {
        ++it;
        continue;
      }
      GUARD_TRY(save(&row.task, nullptr));
      say(row.task.id, fmt::format("{}: {}", to_string(row.task.state), row.task.detail), false);
      queue_.erase(it);
      it = queue_.begin();
    }
    return ok();
  }

  std::size_t put_backs_max() const {
    return context_.plan->budget.requeued + (context_.executor == nullptr ? 0 : context_.plan->jobs);
  }

  // Why no further attempt may begin, if that is so. Under the lock.
  void look_for_an_end() {
    if (ending_ || fatal_) return;
    const auto& budget = context_.plan->budget;
    if (cancel_.cancelled()) {
      ending_ = Ending{NightState::stopped, "signal", "guard was told to stop; `guard nightly resume` goes on"};
      return;
    }
    auto asked = context_.journal->stop_requested(night_.id);
    if (!asked) {
      fatal_ = std::move(asked).error();
    } else if (*asked) {
      ending_ = Ending{NightState::stopped, "asked", "`guard nightly stop` was called; `guard nightly resume` goes on"};
    } else if (Clock::now() - began_ >= budget.time) {
      ending_ = Ending{NightState::ended, "time", "the time of the night was over"};
    } else if (attempts_ >= budget.attempts) {
      ending_ =
          Ending{NightState::ended, "attempts", fmt::format("all {} attempts of the night were used", budget.attempts)};
    } else if (failures_in_a_row_ >= budget.failures_in_a_row) {
      ending_ = Ending{NightState::ended, "failures_in_a_row",
          fmt::format("{} tasks in a row came to nothing: something is wrong for all of them", failures_in_a_row_)};
      // One machine that is broken or lost ends it only with all that were at work before that was seen.
    } else if (requeued_tasks_.size() >= put_backs_max() &&
        std::none_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.at_work_before; })) {
      ending_ = Ending{NightState::ended, "put_backs",
          fmt::format("{} tasks in a row could not be judged: {}", requeued_tasks_.size(), last_requeued_)};
    } else if (lost_in_a_row_ >= context_.plan->jobs + budget.requeued) {
      ending_ = Ending{NightState::ended, std::string(kWorkerLost),
          fmt::format("{} attempts in a row got no result from their workers: {}", lost_in_a_row_, last_requeued_)};
    } else if (free_bytes(context_.state->path()) < context_.config->config.nightly.min_free_bytes) {
      ending_ = Ending{NightState::ended, "no_space",
          fmt::format("less than {} bytes are free where the night keeps its clones",
              context_.config->config.nightly.min_free_bytes)};
    }
  }

  // Whether a task that this one comes after is not decided yet.
  bool waits(const Row& row) {
    const auto& after = row.planned->after;
    return std::any_of(after.begin(), after.end(), [&](const std::string& id) { return !is_over(row_of(id).task); });
  }

  // The next task, or none: then the worker ends.
  Row* take() {
    std::unique_lock lock(mutex_);
    for (;;) {
      look_for_an_end();
      if (ending_ || fatal_ || broken_) return nullptr;
      if (auto decided = decide_what_never_runs(); !decided) {
        fatal_ = std::move(decided).error();
        continue;
      }
      const auto now = Clock::now();
      if (running_ == 0 && std::all_of(queue_.begin(), queue_.end(), [&](const Row* row) { return waits(*row); }))
        return nullptr;
      const auto next = std::find_if(
          queue_.begin(), queue_.end(), [&](const Row* row) { return !waits(*row) && now >= pause_.until; });
      if (next != queue_.end()) {
        Row* const row = *next;
        queue_.erase(next);
        ++running_;
        return row;
      }
      changed_.wait_for(lock, kLook);
    }
  }

  // A thread of its own, as a rule: what is thrown here would end the process, and leave the night open.
  void work() noexcept {
    try {
      while (Row* const row = take()) attempt(*row);
    } catch (...) {
      broken_ = true;  // there may be no memory for words
    }
    changed_.notify_all();
  }

  // Under the lock.
  Result<AttemptOrder> begin(Row& row) {
    AttemptOrder order;
    order.task = *row.planned;
    order.rollout = row.task.rollout;
    order.number = ++row.number;
    order.start = context_.base;
    order.feedback = row.feedback;
    order.time_left = std::max(milliseconds(1),
        std::chrono::duration_cast<milliseconds>(context_.plan->budget.time - (Clock::now() - began_)));
    if (row.from_tip) {
      auto tip = context_.repository->tip(context_.branch);
      if (tip && *tip) order.start = **tip;
    }
    row.task.state = TaskState::running;
    GUARD_TRY(save(&row.task, nullptr));
    say(row.task.id, "begins", true);
    return order;
  }

  void attempt(Row& row) {
    std::unique_lock lock(mutex_);
    const auto order = begin(row);
    Result<void> done;
    if (!order) {
      done = order.error();
    } else {
      lock.unlock();
      const auto made = run_attempt(
          context_, *order,
          [&](AttemptStep step) {
            const std::lock_guard in_step(mutex_);
            say(row.task.id, std::string(to_string(step)), true);
          },
          cancel_);
      lock.lock();
      done = made ? conclude(row, *made) : Result<void>(made.error());
    }
    --running_;
    changed_.notify_all();
    if (!done) fatal_ = std::move(done).error();
  }

  // Under the lock.
  Result<void> conclude(Row& row, const Attempt& attempt) {
    Task& task = row.task;
    row.at_work_before = false;
    task.reason = attempt.reason;
    task.detail = attempt.detail;
    const bool counted = attempt.outcome == AttemptOutcome::accepted || attempt.outcome == AttemptOutcome::refused ||
        attempt.outcome == AttemptOutcome::failed;
    if (attempt.reason != kWorkerLost) lost_in_a_row_ = 0;
    if (counted) {
      ++task.attempts;
      ++attempts_;
      requeued_tasks_.clear();
      pause_ = Pause();
    }
    switch (attempt.outcome) {
      case AttemptOutcome::accepted:
        task.state = TaskState::accepted;
        task.commit = attempt.commit;
        failures_in_a_row_ = 0;
        break;
      case AttemptOutcome::refused:
      case AttemptOutcome::failed:
        row.feedback = attempt.feedback;
        if (task.attempts < row.planned->attempts) {
          task.state = TaskState::waiting;
          queue_.push_back(&row);
        } else {
          task.state = attempt.outcome == AttemptOutcome::refused ? TaskState::refused : TaskState::failed;
          ++failures_in_a_row_;
        }
        break;
      case AttemptOutcome::requeued:
        task.state = TaskState::waiting;
        if (++row.requeued < kRequeuedOfTask) queue_.push_back(&row);
        if (attempt.reason == "conflict") {
          // Another task's doing; the next clone is made of what that one left.
          row.from_tip = true;
          break;
        }
        if (attempt.reason == kNoExecutor) {
          if (!ending_) ending_ = Ending{NightState::ended, attempt.reason, attempt.detail};
          break;
        }
        last_requeued_ = fmt::format("{} ({})", printable(attempt.detail), attempt.reason);
        if (attempt.reason == kWorkerLost) {
          ++lost_in_a_row_;
          break;
        }
        ++task.requeued;
        ++night_.requeued;
        // Different tasks: one that can never be judged must not end the night for the others.
        if (requeued_tasks_.insert(task.id).second && requeued_tasks_.size() == put_backs_max()) {
          for (Row& other : rows_) other.at_work_before = other.task.state == TaskState::running;
        }
        pause_.lengthen(context_.plan->budget.back_off);
        break;
      case AttemptOutcome::interrupted:
      case AttemptOutcome::none:
        task.state = TaskState::waiting;
        queue_.push_back(&row);
        break;
    }
    GUARD_TRY(save(&task, &attempt));
    if (attempt.outcome == AttemptOutcome::accepted)
      GUARD_TRY(context_.repository->settle(pending_reference(night_.id, task.id)));
    const std::string_view again = task.state == TaskState::waiting && counted ? "; another attempt follows" : "";
    const std::string why = attempt.outcome == AttemptOutcome::accepted
        ? ""
        : fmt::format(
              " ({}){}", printable(attempt.reason), attempt.detail.empty() ? "" : ": " + printable(attempt.detail));
    say(task.id, fmt::format("{}{}{}", to_string(attempt.outcome), why, again), false);
    return ok();
  }

  const NightOptions& options_;
  const NightContext& context_;
  const CancelToken& cancel_;
  std::mutex mutex_;  // all below
  std::condition_variable changed_;
  Night night_;
  std::vector<Row> rows_;  // as many as there were at the beginning
  std::deque<Row*> queue_;
  std::size_t running_ = 0;
  std::uint64_t attempts_ = 0;
  std::uint64_t failures_in_a_row_ = 0;
  std::uint64_t lost_in_a_row_ = 0;
  std::set<std::string> requeued_tasks_;  // since the last attempt that was decided
  std::string last_requeued_;
  Pause pause_;  // of all tasks
  const Clock::time_point began_;
  std::optional<Ending> ending_;
  std::optional<Error> fatal_;
  std::atomic<bool> broken_ = false;
};

}  // namespace

Result<NightResult> begin_night(
    const NightOptions& options, Night night, std::vector<Task> tasks, const CancelToken& cancel) {
  const NightContext& context = *options.context;
  // The branch last: a night without one can be resumed, a branch without a night belongs to nobody.
  GUARD_TRY(context.journal->begin(night, tasks));
  if (auto made = context.repository->create_branch(night.branch, night.base); !made) {
    night.state = NightState::ended;
    night.reason = "branch";
    night.why = made.error().message();
    night.ended_ms = unix_ms();
    for (auto& task : tasks) {
      task.state = TaskState::skipped;
      task.reason = "branch";
      GUARD_TRY(context.journal->save(&night, &task, nullptr));
    }
    return std::move(made).error();
  }
  *context.branch_tip = night.base;
  Loop loop(options, std::move(night), std::move(tasks), cancel);
  return loop.run();
}

Result<NightResult> resume_night(const NightOptions& options, Night night, const CancelToken& cancel) {
  const NightContext& context = *options.context;
  GUARD_TRY_ASSIGN(auto tasks, context.journal->tasks(night.id));
  GUARD_TRY_ASSIGN(auto attempts, context.journal->attempts(night.id));
  GUARD_TRY_ASSIGN(const auto tip, context.repository->tip(night.branch));
  if (!tip) {
    // The last commit that was accepted stands on all others; where it is gone, too, nobody can say what was judged.
    std::pair<std::int64_t, std::string> last = {0, night.base};
    for (const auto& attempt : attempts) {
      if (attempt.outcome == AttemptOutcome::accepted && attempt.ended_ms >= last.first)
        last = {attempt.ended_ms, attempt.commit};
    }
    GUARD_TRY(context.repository->commit_id(last.second)
                  .context("looking for the last commit of the night, whose branch is gone"));
    GUARD_TRY(context.repository->create_branch(night.branch, last.second));
  }
  GUARD_TRY(context.journal->forget_stop(night.id));
  night.state = NightState::running;
  night.reason.clear();
  night.why.clear();
  night.ended_ms = 0;
  for (auto& attempt : attempts) {
    if (attempt.outcome != AttemptOutcome::none) continue;
    const auto task = std::find_if(tasks.begin(), tasks.end(), [&](const Task& row) { return row.id == attempt.task; });
    if (task == tasks.end()) continue;
    GUARD_TRY_ASSIGN(const bool committed, finish_commit(context, attempt));
    bool sent = false;
    if (!committed) {
      GUARD_TRY_ASSIGN(sent, is_sent(context, attempt));
    }
    attempt.ended_ms = unix_ms();
    if (committed) {
      attempt.outcome = AttemptOutcome::accepted;
      attempt.reason = "accepted";
      attempt.step = AttemptStep::done;
      task->state = TaskState::accepted;
      task->reason = "accepted";
      task->detail.clear();
      task->commit = attempt.commit;
      ++task->attempts;
    } else if (sent) {
      task->state = TaskState::waiting;  // a worker has it, or has made it: the same attempt goes on
    } else {
      attempt.outcome = AttemptOutcome::interrupted;
      attempt.reason = "interrupted";
      attempt.detail = "guard was killed";
      task->state = TaskState::waiting;
    }
    if (attempt.outcome != AttemptOutcome::none) forget_sent(context, attempt);
    GUARD_TRY(context.journal->save(&night, &*task, &attempt));
    GUARD_TRY(context.repository->settle(pending_reference(night.id, task->id)));
  }
  GUARD_TRY_ASSIGN(const auto branch_tip, context.repository->tip(night.branch));
  *context.branch_tip = branch_tip.value_or(night.base);
  for (auto& task : tasks) {
    if (task.state == TaskState::running) task.state = TaskState::waiting;
  }
  GUARD_TRY(context.journal->save(&night, nullptr, nullptr));
  Loop loop(options, std::move(night), std::move(tasks), cancel);
  for (const auto& attempt : attempts) loop.remember(attempt);
  return loop.run();
}

std::vector<std::string> clean_up(const NightContext& context) {
  std::vector<std::string> failed;
  end_stray_generators(context.state->clones());
  std::error_code failure;
  for (const auto& entry : fs::directory_iterator(context.state->clones(), failure)) {
    if (auto removed = remove_tree(entry.path()); !removed) failed.push_back(removed.error().message());
  }
  if (auto settled = settle_references(*context.repository, *context.journal); !settled)
    failed.push_back(settled.error().message());
  return failed;
}

Result<void> settle_references(const NightRepository& repository, const Journal& journal) {
  GUARD_TRY_ASSIGN(
      const std::string pending, repository.git().read({"for-each-ref", "--format=%(refname)", std::string(kPending)}));
  for (const auto line : pieces_of(pending, '\n')) {
    const std::string name(line);
    const std::string night = name.substr(kPending.size(), name.find('/', kPending.size()) - kPending.size());
    GUARD_TRY_ASSIGN(const auto attempts, journal.attempts(night));
    const bool open = std::any_of(attempts.begin(), attempts.end(), [&](const Attempt& attempt) {
      return attempt.outcome == AttemptOutcome::none && attempt.step == AttemptStep::committing &&
          pending_reference(night, attempt.task) == name;
    });
    if (!open) GUARD_TRY(repository.settle(name));
  }
  return ok();
}

int exit_status(const NightResult& result) {
  if (result.night.reason == "signal") return 130;
  bool undecided = false;
  bool refused = false;
  for (const auto& task : result.tasks) {
    if (!is_over(task)) undecided = true;
    if (task.state == TaskState::refused || task.state == TaskState::failed) refused = true;
  }
  if (undecided) {
    const bool no_environment = result.night.reason == kNoExecutor ||
        std::any_of(result.tasks.begin(), result.tasks.end(),
            [](const Task& task) { return !is_over(task) && task.reason == info(Reason::no_environment).name; });
    return no_environment ? 3 : 2;
  }
  return refused ? 1 : 0;
}

}  // namespace guard::nightly
