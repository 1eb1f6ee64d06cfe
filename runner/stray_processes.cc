#include "runner/stray_processes.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <functional>
#include <vector>

#include "common/file_io.h"
#include "common/unique_fd.h"
#include "runner/docker_sweep.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 64;
constexpr std::uint64_t kCommandLineBytesMax = 256 * 1024;

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

// Each process is opened before it is looked at: what is killed is what was read, whoever gets its number later.
void each_process(const std::function<void(const UniqueFd& process, const Arguments& arguments)>& body) {
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid <= 1) continue;
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) continue;
    const auto command_line = read_file(entry->path() / "cmdline", kCommandLineBytesMax);
    if (!command_line) continue;
    const Arguments arguments = arguments_of(*command_line);
    if (!arguments.empty()) body(process, arguments);
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
  int killed = 0;
  each_process([&](const UniqueFd& process, const Arguments& arguments) {
    if (!owner.empty() && owner_in(arguments) == owner && kill_by(process)) ++killed;
  });
  return killed;
}

SweepResult sweep_stray_inits() {
  SweepResult result;
  const auto cache = docker_cache_label();
  if (!cache) {
    result.failed.push_back(cache.error().message());
    return result;
  }
  const std::string ours = *cache + "/";
  each_process([&](const UniqueFd& process, const Arguments& arguments) {
    const std::string_view owner = owner_in(arguments);
    if (!owner.starts_with(ours)) return;
    std::string run_id(owner.substr(ours.size()));
    // The command line is whatever its owner wrote there.
    if (!is_run_id(run_id) || run_is_alive(run_id)) return;
    if (kill_by(process)) {
      result.removed.push_back(std::move(run_id));
    } else if (errno != ESRCH) {
      result.failed.push_back(fmt::format("the sandbox of run {} could not be ended: {}", run_id, std::strerror(errno)));
    }
  });
  return result;
}

int kill_runtime_processes(std::string_view container_id) {
  if (container_id.size() != kIdDigits || container_id.find_first_not_of("0123456789abcdef") != std::string_view::npos) return 0;
  int killed = 0;
  each_process([&](const UniqueFd& process, const Arguments& arguments) {
    // "runsc", "runsc-sandbox", "runsc-gofer".
    if (!name_of(arguments.front()).starts_with("runsc")) return;
    for (const std::string_view argument : arguments) {
      if (argument.find(container_id) == std::string_view::npos) continue;
      if (kill_by(process)) ++killed;
      return;
    }
  });
  return killed;
}

}  // namespace guard
