#include "runner/tasks/watch_events.h"

#include <climits>

namespace guard {
namespace {

constexpr std::string_view kBytes = "bcwrma!";  // in the order of WatchKind

}  // namespace

Result<std::vector<WatchEvent>> WatchReader::push(std::string_view bytes) {
  pending_ += bytes;
  std::vector<WatchEvent> events;
  std::string_view rest = pending_;
  const auto broken = [] {
    return Error(ErrorCode::protocol_error, "the sandbox's init spoke nonsense: an event of a watch that is none");
  };
  while (!rest.empty()) {
    const std::size_t kind = kBytes.find(rest[0]);
    if (kind == std::string_view::npos || (rest.size() > 1 && rest[1] != '\0')) return broken();
    const std::size_t end = rest.find('\0', 2);
    if (end == std::string_view::npos) break;
    events.push_back({static_cast<WatchKind>(kind), std::string(rest.substr(2, end - 2))});
    rest.remove_prefix(end + 1);
  }
  if (rest.size() > PATH_MAX + 2) return broken();
  pending_.erase(0, pending_.size() - rest.size());
  return events;
}

}  // namespace guard
