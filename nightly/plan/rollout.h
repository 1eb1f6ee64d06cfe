// Which tasks run in the sandbox. A stable choice: the same task id falls the same way in every night, and a larger
// percentage never takes a task out. Pure.
#pragma once

#include <string_view>

#include "nightly/loop/night_values.h"
#include "pipeline/config/config.h"

namespace guard::nightly {

// Rollout::host for a task that is not chosen where the configuration allows the host, Rollout::none where it does not.
Rollout rollout_of(const Config& config, std::string_view task_id);

// 0 to 99, from the SHA-256 of the id.
unsigned rollout_bucket(std::string_view task_id);

}  // namespace guard::nightly
