#include "nightly/plan/queue.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <map>

#include "common/hash.h"

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

// By Standing; {} is the night.
constexpr std::string_view kSentences[] = {"", "taken from night {}", "dropped after night {}",
    "accepted in night {} and not reviewed yet: guard nightly review",
    "refused in night {} after all its attempts: `guard nightly retry` runs it again"};

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
        task.detail = fmt::format(fmt::runtime(kSentences[static_cast<std::size_t>(standing)]), before.night);
      } else if (before.review == Review::sent_back) {
        task.note = before.note;
      }
    }
    tasks.push_back(std::move(task));
  }
  return tasks;
}

unsigned rollout_bucket(std::string_view task_id) {
  const std::string digest = sha256_hex(task_id);
  unsigned value = 0;
  std::from_chars(digest.data(), digest.data() + 7, value, 16);
  return value % 100;
}

Rollout rollout_of(const Config& config, std::string_view task_id) {
  const auto& rollout = config.rollout;
  const bool forced = std::find(rollout.force.begin(), rollout.force.end(), task_id) != rollout.force.end();
  if (forced || (rollout.enabled && rollout_bucket(task_id) < rollout.percent)) return Rollout::sandbox;
  return config.allows(Backend::host) ? Rollout::host : Rollout::none;
}

}  // namespace guard::nightly
