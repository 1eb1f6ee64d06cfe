#include "runner/docker_sweep.h"

#include <fmt/format.h>

#include <charconv>
#include <chrono>

#include "common/file_io.h"
#include "common/hash.h"
#include "docker/engine_client.h"

namespace guard {
namespace {

constexpr std::size_t kLabelHexDigits = 16;
constexpr std::chrono::seconds kLongOver = std::chrono::hours(24);
// An engine that is busy removing a large container needs some seconds, a hung one must not hold up the start of a run.
constexpr milliseconds kListLimit{5'000};
constexpr milliseconds kRemoveLimit{10'000};

std::string value_of(const std::map<std::string, std::string>& labels, const char* name) {
  const auto found = labels.find(name);
  return found == labels.end() ? std::string() : found->second;
}

bool is_long_over(const std::string& deadline) {
  std::int64_t seconds = 0;
  const char* end = deadline.data() + deadline.size();
  const auto parsed = std::from_chars(deadline.data(), end, seconds);
  if (parsed.ec != std::errc() || parsed.ptr != end) return false;
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return now > std::chrono::seconds(seconds) && now - std::chrono::seconds(seconds) > kLongOver;
}

}  // namespace

std::string docker_container_name(const std::string& run_id) {
  return "guard-" + run_id;
}

Result<std::string> docker_cache_label() {
  GUARD_TRY_ASSIGN(const auto folder, cache_folder());
  return sha256_hex(folder.lexically_normal().string()).substr(0, kLabelHexDigits);
}

Result<SweepResult> docker_sweep(const std::string& socket, const CancelToken& cancel) {
  GUARD_TRY_ASSIGN(const std::string cache, docker_cache_label());
  docker::EngineClient engine(socket, cancel);
  GUARD_TRY_ASSIGN(const auto containers, engine.list_containers(fmt::format("{}={}", docker_label::kCache, cache),
                                                                 Deadline::after(kListLimit)));
  SweepResult result;
  for (const auto& container : containers) {
    const std::string run_id = value_of(container.labels, docker_label::kRun);
    if (run_is_alive(run_id) && !is_long_over(value_of(container.labels, docker_label::kDeadline))) continue;
    auto removed = engine.remove_container(container.id, Deadline::after(kRemoveLimit));
    if (removed) {
      result.removed.push_back(run_id);
    } else {
      result.failed.push_back(
          fmt::format("container {} of run {}: {}", container.id, run_id, removed.error().message()));
    }
  }
  return result;
}

}  // namespace guard
