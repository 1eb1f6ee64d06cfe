#include "sessions/session_task.h"

#include <fmt/format.h>

#include <csignal>

namespace guard::sessions {
namespace {

constexpr milliseconds kKillMax{2'000};

}  // namespace

std::string outcome_text(const TaskEnd& end) {
  return fmt::format("{} {}", to_string(end.outcome.kind), end.outcome.value);
}

void Outcomes::add(std::string_view outcome) {
  const std::lock_guard lock(mutex_);
  ++counts_[std::string(outcome)];
}

std::map<std::string, std::uint64_t> Outcomes::counts() const {
  const std::lock_guard lock(mutex_);
  return {counts_.begin(), counts_.end()};
}

bool Live::ended() const {
  const std::lock_guard lock(mutex_);
  return over_ || (task_ != nullptr && task_->ended());
}

void Live::has(const Task& task) {
  const std::lock_guard lock(mutex_);
  task_ = &task;
}

void Live::end() {
  const std::lock_guard lock(mutex_);
  over_ = true;
}

SessionTask::SessionTask(std::unique_ptr<Task> task, std::shared_ptr<Live> live, std::shared_ptr<Outcomes> outcomes,
    std::unique_ptr<Trace::Step> step)
    : task_(std::move(task)), live_(std::move(live)), outcomes_(std::move(outcomes)), step_(std::move(step)) {
  live_->has(*task_);
}

Result<std::optional<Task::Piece>> SessionTask::read(Deadline deadline) {
  auto piece = task_->read(deadline);
  if (!step_ || !piece) return piece;
  if (*piece) {
    step_->push((*piece)->stream, (*piece)->bytes);
  } else {
    finish_step(false);  // before anybody hears of the end
  }
  return piece;
}

// What could not be started is no step.
void SessionTask::finish_step(bool given_up) {
  const auto end = given_up ? Result<TaskEnd>(Error(ErrorCode::cancelled, "given up")) : task_->end();
  if (end) {
    step_->finish(Trace::end_of(*end));
  } else if (const ErrorCode code = end.error().code();
             code != ErrorCode::file_not_found && code != ErrorCode::execution_failed) {
    step_->finish({given_up ? "abandoned" : std::string(end.error().wire_name()), std::nullopt,
        std::chrono::duration_cast<milliseconds>(SteadyClock::now() - begun_)});
  }
  step_.reset();
}

SessionTask::~SessionTask() {
  live_->end();
  if (step_) {
    const bool given_up = !task_->ended();
    // What it still does is its own: the step's files are looked at once it is dead.
    if (given_up && task_->signal(SIGKILL)) {
      const Deadline deadline = Deadline::after(kKillMax);
      while (!task_->ended()) {
        if (const auto piece = task_->read(deadline); !piece || !*piece) break;
      }
    }
    finish_step(given_up);
  }
  if (!task_->ended()) {
    outcomes_->add("abandoned");
  } else if (const auto end = task_->end(); end) {
    outcomes_->add(to_string(end->outcome.kind));
  } else {
    outcomes_->add(end.error().wire_name());
  }
}

}  // namespace guard::sessions
