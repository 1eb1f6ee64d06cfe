#include "serve/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace guard::serve {

Result<std::shared_ptr<void>> Clients::admit(
    const std::string& name, std::uint64_t body_bytes, SteadyClock::time_point now) {
  const std::lock_guard lock(mutex_);
  const auto [place, is_new] = clients_.try_emplace(name);
  Client& client = place->second;
  const double seconds = std::chrono::duration<double>(now - client.counted_at).count();
  client.allowance = is_new
      ? limits_.requests_at_once
      : std::min(limits_.requests_at_once, client.allowance + std::max(seconds, 0.0) * limits_.requests_per_second);
  client.counted_at = now;
  if (client.allowance < 1) {
    return Error(ErrorCode::execution_failed,
        fmt::format("{} asks for more than {} things a second", name, limits_.requests_per_second))
        .detail("limit", "requests")
        .hint("ask less often; wait a second, then ask again");
  }
  client.allowance -= 1;
  if (client.bytes + body_bytes > limits_.bytes_in_flight) {
    return Error(ErrorCode::execution_failed,
        fmt::format("{} sends {} bytes more while {} are on their way; {} may be", name, body_bytes, client.bytes,
            limits_.bytes_in_flight))
        .detail("limit", "bytes")
        .hint("wait until a request with a large body has been answered, then ask again");
  }
  client.bytes += body_bytes;
  return std::shared_ptr<void>(&client, [this, body_bytes](void* admitted) {
    const std::lock_guard lock_again(mutex_);
    static_cast<Client*>(admitted)->bytes -= body_bytes;
  });
}

Result<void> Clients::may_open(const std::string& name, const std::string& session, const OpenOnes& open_ones) {
  const std::lock_guard lock(mutex_);
  std::set<std::string>& its = clients_[name].sessions;
  if (its.size() >= limits_.sessions && !its.contains(session)) {
    const std::set<std::string> open = open_ones();
    std::erase_if(its, [&open](const std::string& one) { return !open.contains(one); });
    if (its.size() >= limits_.sessions) {
      return Error(
          ErrorCode::execution_failed, fmt::format("{} has {} open sessions, and may have no more", name, its.size()))
          .detail("limit", "sessions")
          .hint("close one: guard session close SESSION");
    }
  }
  its.insert(session);
  return ok();
}

}  // namespace guard::serve
