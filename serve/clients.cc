#include "serve/clients.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace guard::serve {
namespace {

struct Held {
  std::uint64_t Load::*count;
  const char* name;
  const char* what;
  const char* hint;
};
constexpr Held kHeld[] = {
    {&Load::bytes, "bytes", "bytes of requests on their way",
        "wait until a request with a large body has been answered, then ask again"},
    {&Load::tasks, "tasks", "tasks on streams", "wait until one has ended, or end it; then ask again"},
    {&Load::connections, "connections", "requests that are not answered yet",
        "wait until one has been answered; on a stream many commands run side by side"},
    {&Load::streams, "streams", "streams", "close one, or start more on it: a stream carries many tasks"},
};

}  // namespace

Result<std::shared_ptr<void>> Clients::admit(const std::string& name, const Load& load, SteadyClock::time_point now) {
  if (stopping_) return Error(ErrorCode::environment_unavailable, "guard serve is stopping").hint("ask again");
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
  return hold_locked(name, client, load);
}

Result<std::shared_ptr<void>> Clients::hold(const std::string& name, const Load& load) {
  const std::lock_guard lock(mutex_);
  return hold_locked(name, clients_[name], load);
}

Result<std::shared_ptr<void>> Clients::hold_locked(const std::string& name, Client& client, const Load& load) {
  for (const Held& row : kHeld) {
    const std::uint64_t more = load.*row.count;
    if (more == 0 || client.held.*row.count + more <= limits_.held.*row.count) continue;
    return Error(ErrorCode::execution_failed,
        fmt::format("{} has {} {}, and {} more would be over {}", name, client.held.*row.count, row.what, more,
            limits_.held.*row.count))
        .detail("limit", row.name)
        .hint(row.hint);
  }
  for (const Held& row : kHeld) client.held.*row.count += load.*row.count;
  return std::shared_ptr<void>(&client, [this, load](void* held) {
    const std::lock_guard lock(mutex_);
    for (const Held& row : kHeld) static_cast<Client*>(held)->held.*row.count -= load.*row.count;
  });
}

Result<std::shared_ptr<void>> Clients::use(
    const std::string& name, const std::string& session, const OpenOnes& open_ones) {
  if (name.empty()) return std::shared_ptr<void>();
  std::unique_lock lock(mutex_);
  Client& client = clients_[name];
  auto& its = client.sessions;
  if (!its.contains(session)) {
    const std::uint64_t before = client.uses;
    lock.unlock();
    const std::set<std::string> open = open_ones();
    lock.lock();
    std::erase_if(its,
        [&](const auto& one) { return one.second.now == 0 && one.second.last <= before && !open.contains(one.first); });
    if (its.size() >= limits_.sessions && !its.contains(session)) {
      return Error(
          ErrorCode::execution_failed, fmt::format("{} has {} open sessions, and may have no more", name, its.size()))
          .detail("limit", "sessions")
          .hint("close one: guard session close SESSION");
    }
  }
  Use& used = its[session];
  ++used.now;
  used.last = ++client.uses;
  return std::shared_ptr<void>(&client, [this, session](void* user) {
    const std::lock_guard again(mutex_);
    auto& ended = *static_cast<Client*>(user);
    --ended.sessions[session].now;
    ended.sessions[session].last = ++ended.uses;
  });
}

}  // namespace guard::serve
