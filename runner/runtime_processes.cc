#include "runner/runtime_processes.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <filesystem>

#include "common/file_io.h"
#include "common/unique_fd.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::size_t kIdDigits = 64;
constexpr std::uint64_t kCommandLineBytesMax = 64 * 1024;

bool is_whole_id(std::string_view id) {
  return id.size() == kIdDigits && id.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

// "runsc", "runsc-sandbox", "runsc-gofer", with or without a folder before it.
bool is_runsc(std::string_view command_line) {
  const std::string_view program = command_line.substr(0, command_line.find('\0'));
  const std::size_t slash = program.rfind('/');
  return program.substr(slash == std::string_view::npos ? 0 : slash + 1).starts_with("runsc");
}

}  // namespace

int kill_runtime_processes(std::string_view container_id) {
  if (!is_whole_id(container_id)) return 0;
  int killed = 0;
  std::error_code error;
  for (fs::directory_iterator entry("/proc", error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    pid_t pid = 0;
    if (std::from_chars(name.data(), name.data() + name.size(), pid).ptr != name.data() + name.size() || pid <= 1) continue;
    // Opened before it is looked at: what is killed is what was read, whoever gets its number later.
    const UniqueFd process(static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)));
    if (!process) continue;
    const auto command_line = read_file(entry->path() / "cmdline", kCommandLineBytesMax);
    if (!command_line || !is_runsc(*command_line) || command_line->find(container_id) == std::string::npos) continue;
    if (::syscall(SYS_pidfd_send_signal, process.get(), SIGKILL, nullptr, 0) == 0) ++killed;
  }
  return killed;
}

}  // namespace guard
