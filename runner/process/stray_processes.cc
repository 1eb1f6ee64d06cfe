#include "runner/process/stray_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <optional>
#include <vector>

#include "common/file_io.h"
#include "common/unique_fd.h"
#include "runner/files/plain_path.h"
#include "runner/sandbox/docker_sweep.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 64;
constexpr std::uint64_t kCommandLineBytesMax = 256ul * 1024;

using Arguments = std::vector<std::string_view>;

Arguments arguments_of(std::string_view command_line) {
  Arguments arguments;
  while (!command_line.empty()) {
    const std::size_t end = command_line.find('\0');
    arguments.push_back(command_line.substr(0, end));
    command_line.remove_prefix(end == std::string_view::npos ? command_line.size() : end + 1);
  }
  return arguments;
}

std::string_view name_of(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  return program.substr(slash == std::string_view::npos ? 0 : slash + 1);
}

bool kill_by(const UniqueFd& process) {
  return ::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0;
}

// Those of which `wanted` is true, opened: what is killed is what was read, whoever gets its number later. Most are
// none of ours, so each is looked at once before it is opened, and again afterwards.
void each_process(const std::function<bool(const Arguments& arguments)>& wanted,
    const std::function<void(const UniqueFd& process, const Arguments& arguments)>& body) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid <= 1)
      continue;
    const auto look = [&]() -> std::optional<std::string> {
      auto command_line = read_file(entry->path() / "cmdline", kCommandLineBytesMax);
      if (!command_line || command_line->empty() || !wanted(arguments_of(*command_line))) return std::nullopt;
      return std::move(*command_line);
    };
    if (!look()) continue;
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) continue;
    if (const auto command_line = look()) body(process, arguments_of(*command_line));
  }
}

// The value of --owner, before the "--" that begins what somebody else wrote; empty for all but guard's init.
std::string_view owner_in(const Arguments& arguments) {
  const std::string_view name = name_of(arguments.front());
  if (name != "guard-init" && name != ".guard-init") return {};
  for (std::size_t i = 1; i + 1 < arguments.size() && arguments[i] != "--"; ++i) {
    if (arguments[i] == "--owner") return arguments[i + 1];
  }
  return {};
}

}  // namespace

Result<std::string> run_owner(const std::string& run_id) {
  GUARD_TRY_ASSIGN(const std::string cache, docker_cache_label());
  return fmt::format("{}/{}", cache, run_id);
}

int kill_inits_of(const std::string& owner) {
  if (owner.empty()) return 0;
  int killed = 0;
  each_process([&](const Arguments& arguments) { return owner_in(arguments) == owner; },
      [&](const UniqueFd& process, const Arguments&) { killed += kill_by(process) ? 1 : 0; });
  return killed;
}

SweepResult sweep_stray_inits(SweepMode mode) {
  SweepResult result;
  const auto cache = docker_cache_label();
  if (!cache) {
    result.failed.push_back(cache.error().message());
    return result;
  }
  const std::string ours = *cache + "/";
  each_process([&](const Arguments& arguments) { return owner_in(arguments).starts_with(ours); },
      [&](const UniqueFd& process, const Arguments& arguments) {
        std::string run_id(owner_in(arguments).substr(ours.size()));
        // The command line is whatever its owner wrote there.
        if (!is_run_id(run_id) || run_is_alive(run_id)) return;
        if (mode == SweepMode::list || kill_by(process)) {
          result.removed.push_back(std::move(run_id));
        } else if (errno != ESRCH) {
          result.failed.push_back(
              fmt::format("the sandbox of run {} could not be ended: {}", run_id, std::strerror(errno)));
        }
      });
  return result;
}

int kill_runtime_processes(std::string_view container_id) {
  if (!is_hex(container_id, kIdDigits)) return 0;
  int killed = 0;
  const auto names_it = [&](const Arguments& arguments) {
    // "runsc", "runsc-sandbox", "runsc-gofer".
    return name_of(arguments.front()).starts_with("runsc") &&
        std::any_of(arguments.begin(), arguments.end(),
            [&](std::string_view argument) { return argument.find(container_id) != std::string_view::npos; });
  };
  each_process(names_it, [&](const UniqueFd& process, const Arguments&) { killed += kill_by(process) ? 1 : 0; });
  return killed;
}

}  // namespace guard
