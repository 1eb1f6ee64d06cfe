#include "runner/sandbox/docker_sweep.h"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/own_entry.h"
#include "common/text/text.h"
#include "docker/engine_client.h"
#include "runner/files/plain_path.h"

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

std::string docker_container_name(const std::string& run_id) { return "guard-" + run_id; }

std::string docker_image_name(const std::string& run_id) { return "guard-run:" + run_id; }

// Not made from the path: that of root's cache is the same on every machine and in every container.
Result<std::string> docker_cache_label() {
  GUARD_TRY_ASSIGN(const auto folder, shared_cache_folder());
  const auto path = folder / "id";
  for (int attempt = 0; attempt < 2; ++attempt) {
    const auto known = read_file(path, kLabelHexDigits, FollowLinks::no);
    if (known && is_hex(*known, kLabelHexDigits)) return *known;
    if (known || known.error().code() != ErrorCode::file_not_found) break;
    GUARD_TRY_ASSIGN(const std::string drawn, new_run_id());
    const std::string label = sha256_hex(drawn).substr(0, kLabelHexDigits);
    // Whole or not at all, and the first one stays.
    const UniqueFd parent(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    if (!parent) return Error::from_errno(ErrorCode::io_error, path.string(), errno);
    GUARD_TRY_ASSIGN(
        const OwnEntry draft, make_own_file(parent.get()).context(fmt::format("writing {}", path.string())));
    const auto written = write_all(draft.fd.get(), label).context(fmt::format("writing {}", path.string()));
    const int linked = !written || ::fchmod(draft.fd.get(), 0644) != 0
        ? -1
        : ::linkat(parent.get(), draft.name.c_str(), parent.get(), "id", 0);
    const int number = errno;
    ::unlinkat(parent.get(), draft.name.c_str(), 0);
    GUARD_TRY(written);
    if (linked != 0 && number != EEXIST) return Error::from_errno(ErrorCode::io_error, path.string(), number);
  }
  return Error(ErrorCode::io_error, fmt::format("{} does not hold the cache's id", printable(path.native())))
      .hint("remove that file while no guard runs");
}

Result<SweepResult> docker_sweep(const docker::Endpoint& endpoint, const CancelToken& cancel, SweepMode mode) {
  GUARD_TRY_ASSIGN(const std::string cache, docker_cache_label());
  docker::EngineClient engine(endpoint, cancel);
  const std::string ours = fmt::format("{}={}", docker_label::kCache, cache);
  const auto is_over = [](const std::map<std::string, std::string>& labels) {
    return !run_is_alive(value_of(labels, docker_label::kRun)) ||
        is_long_over(value_of(labels, docker_label::kDeadline));
  };
  SweepResult result;
  const auto note = [&result](const std::string& run_id, const std::string& what, const Result<void>& removed) {
    if (!removed) {
      result.failed.push_back(fmt::format("{} of run {}: {}", what, run_id, removed.error().message()));
    } else if (std::ranges::find(result.removed, run_id) == result.removed.end()) {
      result.removed.push_back(run_id);
    }
  };
  GUARD_TRY_ASSIGN(const auto containers, engine.list_containers(ours, Deadline::after(kListLimit)));
  for (const auto& container : containers) {
    if (!is_over(container.labels)) continue;
    const auto removed =
        mode == SweepMode::list ? ok() : engine.remove_container(container.id, Deadline::after(kRemoveLimit));
    note(value_of(container.labels, docker_label::kRun), fmt::format("container {}", container.id), removed);
    if (!removed && removed.error().code() == ErrorCode::execution_timeout)
      return result;  // nor will it answer for the others
  }
  if (!endpoint.is_remote()) return result;  // elsewhere no run has an image of its own

  GUARD_TRY_ASSIGN(auto images, engine.list_images(ours, Deadline::after(kListLimit)));
  std::erase_if(images, [&](const auto& image) { return !is_over(image.labels); });
  // The steps of a build are children of one another, and a parent cannot go before its child: whatever the order, a
  // second round finds it gone or free.
  const auto remove = [&](const auto& image) {
    return mode == SweepMode::list ? ok() : engine.remove_image(image.id, Deadline::after(kRemoveLimit));
  };
  for (const auto& image : images) static_cast<void>(remove(image));
  for (const auto& image : images)
    note(value_of(image.labels, docker_label::kRun), fmt::format("image {}", image.id), remove(image));
  return result;
}

}  // namespace guard
