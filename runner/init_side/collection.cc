#include "runner/init_side/collection.h"

namespace guard {

std::string_view to_string(LeftBehindReason reason) noexcept {
  switch (reason) {
    case LeftBehindReason::not_asked: return "not_asked";
    case LeftBehindReason::link: return "link";
    case LeftBehindReason::hard_link: return "hard_link";
    case LeftBehindReason::special_file: return "special_file";
    case LeftBehindReason::too_large: return "too_large";
    case LeftBehindReason::too_many: return "too_many";
    case LeftBehindReason::too_deep: return "too_deep";
    case LeftBehindReason::bad_name: return "bad_name";
    case LeftBehindReason::unreadable: return "unreadable";
    case LeftBehindReason::not_allowed: return "not_allowed";
    case LeftBehindReason::not_listed: return "not_listed";
    case LeftBehindReason::kept_out: return "kept_out";
    case LeftBehindReason::secret: return "secret";
    case LeftBehindReason::finding: return "finding";
    case LeftBehindReason::exists: return "exists";
    case LeftBehindReason::not_written: return "not_written";
  }
  return "unknown";
}

}  // namespace guard
