#include "runner/process/process_tree.h"

#include <dirent.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <memory>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "common/unique_fd.h"

namespace guard {
namespace {

struct Process {
  pid_t pid = 0;
  pid_t parent = 0;
  uid_t user = 0;
  bool alive = false;  // no zombie
  std::uint64_t memory_bytes = 0;
  std::uint32_t threads = 0;
};

std::string_view field(std::string_view status, std::string_view label) {
  const std::size_t at = status.find(label);
  if (at == std::string_view::npos) return {};
  std::string_view rest = status.substr(at + label.size());
  while (!rest.empty() && (rest.front() == '\t' || rest.front() == ' ')) rest.remove_prefix(1);
  return rest;
}

std::uint64_t number(std::string_view status, std::string_view label) {
  const std::string_view text = field(status, label);
  std::uint64_t value = 0;
  std::from_chars(text.data(), text.data() + text.size(), value);
  return value;
}

// The labels begin with a newline, so that a process can't fake them in its own name, the first line.
// This process or the machine has no descriptor or memory left; all else means that there is no such process any more.
bool out_of_descriptors() { return errno == EMFILE || errno == ENFILE || errno == ENOMEM; }

Process read_process(pid_t pid, bool& complete) {
  const UniqueFd fd(::open(fmt::format("/proc/{}/status", pid).c_str(), O_RDONLY | O_CLOEXEC));
  if (!fd && out_of_descriptors()) complete = false;
  std::array<char, 8192> buffer;
  const ssize_t size = fd ? ::read(fd.get(), buffer.data(), buffer.size()) : 0;
  if (size <= 0) return {};
  const std::string_view status(buffer.data(), static_cast<std::size_t>(size));
  const std::string_view state = field(status, "\nState:");
  Process process;
  process.pid = pid;
  process.parent = static_cast<pid_t>(number(status, "\nPPid:"));
  process.user = static_cast<uid_t>(number(status, "\nUid:"));
  process.alive = !state.empty() && state.front() != 'Z' && state.front() != 'X';
  process.memory_bytes = (number(status, "\nRssAnon:") + number(status, "\nRssShmem:")) * 1024;
  process.threads = static_cast<std::uint32_t>(number(status, "\nThreads:"));
  return process;
}

std::vector<Process> all_processes(bool& complete) {
  std::vector<Process> processes;
  const std::unique_ptr<DIR, int (*)(DIR*)> proc(::opendir("/proc"), ::closedir);
  if (!proc) complete = !out_of_descriptors();
  if (!proc) return processes;
  while (const dirent* entry = ::readdir(proc.get())) {
    const std::string_view name = entry->d_name;
    pid_t pid = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc() || end != name.data() + name.size()) continue;
    const Process process = read_process(pid, complete);
    if (process.pid != 0) processes.push_back(process);
  }
  return processes;
}

std::vector<Process> descendants(pid_t root, bool& complete) {
  const std::vector<Process> processes = all_processes(complete);
  std::unordered_map<pid_t, std::vector<const Process*>> children;
  for (const Process& process : processes) children[process.parent].push_back(&process);
  std::vector<Process> found;
  std::vector<pid_t> open = {root};
  std::unordered_set<pid_t> seen = {root};  // pids are reused while we look: a cycle is possible
  while (!open.empty()) {
    const auto below = children.find(open.back());
    open.pop_back();
    if (below == children.end()) continue;
    for (const Process* process : below->second) {
      if (!seen.insert(process->pid).second) continue;
      found.push_back(*process);
      open.push_back(process->pid);
    }
  }
  return found;
}

}  // namespace

TreeUsage measure_tree(pid_t root) {
  TreeUsage usage;
  for (const Process& process : descendants(root, usage.complete)) {
    usage.memory_bytes += process.memory_bytes;
    usage.tasks += process.threads;
  }
  return usage;
}

std::uint32_t living_descendants(pid_t root) {
  bool complete = true;
  std::uint32_t living = 0;
  for (const Process& process : descendants(root, complete)) living += process.alive ? 1 : 0;
  return complete ? living : std::max(living, 1u);
}

void kill_tree(pid_t root, Deadline deadline) {
  for (bool alive = true; alive && !deadline.passed();) {
    alive = false;
    for (const int signal_number : {SIGSTOP, SIGKILL}) {
      bool complete = true;
      const std::vector<Process> found = descendants(root, complete);
      alive = alive || !complete;
      for (const Process& process : found) {
        if (!process.alive) continue;
        alive = true;
        ::kill(process.pid, signal_number);
      }
    }
    if (alive) std::this_thread::sleep_for(milliseconds(5));
  }
}

std::uint32_t tasks_of_user(uid_t user) {
  bool complete = true;
  std::uint32_t tasks = 0;
  for (const Process& process : all_processes(complete)) {
    if (process.user == user) tasks += process.threads;
  }
  return tasks;
}

}  // namespace guard
