#include "nightly/loop/night_values.h"

namespace guard::nightly {

std::string_view to_string(NightState state) noexcept {
  switch (state) {
    case NightState::running: return "running";
    case NightState::finished: return "finished";
    case NightState::ended: return "ended";
    case NightState::stopped: return "stopped";
    case NightState::killed: return "killed";
  }
  return "running";
}

std::string_view to_string(TaskState state) noexcept {
  switch (state) {
    case TaskState::waiting: return "waiting";
    case TaskState::running: return "running";
    case TaskState::accepted: return "accepted";
    case TaskState::refused: return "refused";
    case TaskState::failed: return "failed";
    case TaskState::skipped: return "skipped";
  }
  return "waiting";
}

std::string_view to_string(Review review) noexcept {
  switch (review) {
    case Review::none: return "none";
    case Review::taken: return "taken";
    case Review::dropped: return "dropped";
    case Review::sent_back: return "sent_back";
  }
  return "none";
}

std::string_view to_string(Rollout rollout) noexcept {
  switch (rollout) {
    case Rollout::sandbox: return "sandbox";
    case Rollout::host: return "host";
    case Rollout::none: return "none";
  }
  return "none";
}

std::string_view to_string(AttemptStep step) noexcept {
  switch (step) {
    case AttemptStep::cloning: return "cloning";
    case AttemptStep::generating: return "generating";
    case AttemptStep::reading: return "reading";
    case AttemptStep::gating: return "gating";
    case AttemptStep::testing: return "testing";
    case AttemptStep::weighing: return "weighing";
    case AttemptStep::committing: return "committing";
    case AttemptStep::done: return "done";
  }
  return "cloning";
}

std::string_view to_string(AttemptOutcome outcome) noexcept {
  switch (outcome) {
    case AttemptOutcome::none: return "none";
    case AttemptOutcome::accepted: return "accepted";
    case AttemptOutcome::refused: return "refused";
    case AttemptOutcome::failed: return "failed";
    case AttemptOutcome::put_back: return "put_back";
    case AttemptOutcome::interrupted: return "interrupted";
  }
  return "none";
}

}  // namespace guard::nightly
