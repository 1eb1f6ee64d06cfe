// A plan as a queue across nights: what earlier nights and the person who reviews them have decided about a task is not
// run again. Pure; the rows come from Journal::latest().
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "nightly/loop/night_values.h"
#include "nightly/plan/plan.h"
#include "pipeline/config/config.h"

namespace guard::nightly {

enum class Standing : std::uint8_t {
  open,       // runs in the next night
  taken,      // the person has its commit
  dropped,    // the person does not want it
  to_review,  // accepted, and nobody has looked at it
  given_up,   // refused after all its attempts
};

// `newest`: the newest row of the task that was not skipped. A generator that failed, and a refusal by the plan's own
// words, decide nothing.
Standing standing_of(const Task& newest) noexcept;

enum class Again : bool { no, yes };  // whether to run decided tasks, too

// Night `night`'s tasks in the order of the plan. One that is decided is skipped, with its standing as the reason; one
// whose prompt is another now is a new task. Task::note of one that was sent back is the person's. Rollout is left to
// the caller.
std::vector<Task> queue_tasks(const Plan& plan, const std::vector<Task>& newest, const std::string& night, Again again);

// Which tasks run in the sandbox. A stable choice: the same task id falls the same way in every night, and a larger
// percentage never takes a task out. Rollout::host for a task that is not chosen where the configuration allows the
// host, Rollout::none where it does not.
Rollout rollout_of(const Config& config, std::string_view task_id);

// 0 to 99, from the SHA-256 of the id.
unsigned rollout_bucket(std::string_view task_id);

}  // namespace guard::nightly

template <>
inline constexpr std::array<std::string_view, 5> guard::kNamesOf<guard::nightly::Standing> = {
    "open", "taken", "dropped", "to_review", "given_up"};
