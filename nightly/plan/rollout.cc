#include "nightly/plan/rollout.h"

#include <algorithm>
#include <charconv>
#include <string>

#include "common/hash.h"

namespace guard::nightly {

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
  const bool host_allowed = config.backend == Backend::host || config.fallback == Backend::host;
  return host_allowed ? Rollout::host : Rollout::none;
}

}  // namespace guard::nightly
