#include "runner/process/exec_result.h"

namespace guard {

std::string_view to_string(OutcomeKind kind) noexcept {
  switch (kind) {
    case OutcomeKind::exited: return "exited";
    case OutcomeKind::signaled: return "signaled";
    case OutcomeKind::timed_out: return "timed_out";
    case OutcomeKind::out_of_memory: return "out_of_memory";
    case OutcomeKind::pids_limit: return "pids_limit";
    case OutcomeKind::output_flood: return "output_flood";
    case OutcomeKind::violation: return "violation";
    case OutcomeKind::cancelled: return "cancelled";
  }
  return "unknown";
}

}  // namespace guard
