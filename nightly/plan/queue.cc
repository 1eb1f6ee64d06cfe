#include "nightly/plan/queue.h"

#include <fmt/format.h>

#include <map>

namespace guard::nightly {

Standing standing_of(const Task& newest) noexcept {
  switch (newest.review) {
    case Review::taken: return Standing::taken;
    case Review::dropped: return Standing::dropped;
    case Review::sent_back: return Standing::open;
    case Review::none: break;
  }
  if (newest.state == TaskState::accepted) return Standing::to_review;
  return newest.state == TaskState::refused && newest.reason != "never_generated" ? Standing::given_up : Standing::open;
}

namespace {

std::string sentence_of(Standing standing, const std::string& night) {
  switch (standing) {
    case Standing::open: break;
    case Standing::taken: return fmt::format("taken from night {}", night);
    case Standing::dropped: return fmt::format("dropped after night {}", night);
    case Standing::to_review:
      return fmt::format("accepted in night {} and not reviewed yet: guard nightly review", night);
    case Standing::given_up:
      return fmt::format("refused in night {} after all its attempts: `guard nightly retry` runs it again", night);
  }
  return {};
}

}  // namespace

std::vector<Task> queue_tasks(
    const Plan& plan, const std::vector<Task>& newest, const std::string& night, Again again) {
  std::map<std::string_view, const Task*> rows;
  for (const Task& row : newest) rows[row.id] = &row;
  std::vector<Task> tasks;
  for (const PlannedTask& planned : plan.tasks) {
    Task task;
    task.night = night;
    task.id = planned.id;
    task.position = tasks.size();
    task.kind = planned.kind;
    task.prompt = planned.prompt;
    if (const auto row = rows.find(planned.id); row != rows.end()) {
      const Task& before = *row->second;
      const Standing standing = before.prompt == planned.prompt ? standing_of(before) : Standing::open;
      if (standing != Standing::open && again == Again::no) {
        task.state = TaskState::skipped;
        task.reason = to_string(standing);
        task.detail = sentence_of(standing, before.night);
      } else if (before.review == Review::sent_back) {
        task.note = before.note;
      }
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

}  // namespace guard::nightly
