#include "sessions/session_task.h"

#include <fmt/format.h>

namespace guard::sessions {

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

SessionTask::SessionTask(std::unique_ptr<Task> task, std::shared_ptr<Live> live, std::shared_ptr<Outcomes> outcomes)
    : task_(std::move(task)), live_(std::move(live)), outcomes_(std::move(outcomes)) {
  live_->has(*task_);
}

SessionTask::~SessionTask() {
  live_->end();
  if (!task_->ended()) {
    outcomes_->add("abandoned");
  } else if (const auto end = task_->end(); end) {
    outcomes_->add(to_string(end->outcome.kind));
  } else {
    outcomes_->add(end.error().wire_name());
  }
}

}  // namespace guard::sessions
