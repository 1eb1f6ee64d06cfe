#include "runner/sandbox/cgroup.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cmath>
#include <optional>
#include <set>
#include <thread>

#include "common/file_io.h"

namespace guard {
namespace {

constexpr std::array<std::string_view, 3> kControllers = {"memory", "pids", "cpu"};
constexpr std::uint64_t kControlFileBytesMax = 1u << 20;
// A killed process leaves its group when the kernel gets round to it; a group can't be removed before.
constexpr int kRemoveAttempts = 400;
constexpr milliseconds kRemovePause{5};
constexpr std::uint64_t kCpuPeriodUs = 100'000;
constexpr std::size_t kEntriesMax = 1'000'000;  // of a hierarchy; each group has some thirty files

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> parts;
  std::size_t begin = 0;
  while (begin <= text.size()) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

bool contains(const std::vector<std::string_view>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

// Where our own group lies below a mount that may show only a part of the hierarchy (in a container).
std::filesystem::path below_mount(std::string_view mount_point, std::string_view mount_root, std::string_view own) {
  if (mount_root != "/") {
    if (!own.starts_with(mount_root)) return std::string(mount_point);
    own.remove_prefix(mount_root.size());
  }
  std::filesystem::path path(mount_point);
  if (own.size() > 1) path /= own.substr(1);
  return path;
}

bool write_control(const std::filesystem::path& path, std::string_view value) {
  const UniqueFd fd(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
  return fd && ::write(fd.get(), value.data(), value.size()) == static_cast<ssize_t>(value.size());
}

bool write_control(const std::filesystem::path& path, std::uint64_t value) {
  return write_control(path, fmt::format("{}", value));
}

// Control files have no size; read_file() would take them for empty.
std::optional<std::string> read_control(const std::filesystem::path& path) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW));
  if (!fd) return std::nullopt;
  auto text = read_all(fd.get(), kControlFileBytesMax, path.string());
  if (!text) return std::nullopt;
  return std::move(*text);
}

// "oom_kill 1" in a list of such lines.
std::uint64_t counter(const std::optional<std::string>& text, std::string_view name) {
  if (!text) return 0;
  for (const std::string_view line : split(*text, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    if (words.size() != 2 || words[0] != name) continue;
    std::uint64_t value = 0;
    std::from_chars(words[1].data(), words[1].data() + words[1].size(), value);
    return value;
  }
  return 0;
}

bool set_limits(std::string_view controller, CgroupVersion version, const std::filesystem::path& path,
    const Limits& limits, bool& limits_swap) {
  const auto quota = static_cast<std::uint64_t>(std::llround(limits.cpus * static_cast<double>(kCpuPeriodUs)));
  if (controller == "pids") return write_control(path / "pids.max", limits.pids);
  if (version == CgroupVersion::v1) {
    if (controller == "cpu") {
      return write_control(path / "cpu.cfs_period_us", kCpuPeriodUs) && write_control(path / "cpu.cfs_quota_us", quota);
    }
    if (!write_control(path / "memory.limit_in_bytes", limits.memory_bytes)) return false;
    // Memory and swap together. Not there where the kernel does not account for swap.
    limits_swap = write_control(path / "memory.memsw.limit_in_bytes", limits.memory_bytes);
    return true;
  }
  if (controller == "cpu") return write_control(path / "cpu.max", fmt::format("{} {}", quota, kCpuPeriodUs));
  if (!write_control(path / "memory.max", limits.memory_bytes)) return false;
  limits_swap = write_control(path / "memory.swap.max", 0);
  return true;
}

void kill_inside(const std::filesystem::path& path) {
  // No new ones while the old ones die.
  static_cast<void>(write_control(path / "pids.max", 0));
  if (write_control(path / "cgroup.kill", 1)) return;
  const auto text = read_control(path / "cgroup.procs");
  if (!text) return;
  for (const std::string_view line : split(*text, '\n')) {
    pid_t pid = 0;
    std::from_chars(line.data(), line.data() + line.size(), pid);
    if (pid > 1 && pid != ::getpid()) ::kill(pid, SIGKILL);
  }
}

bool remove_group(const std::filesystem::path& path) {
  for (int attempt = 0; attempt < kRemoveAttempts; ++attempt) {
    if (::rmdir(path.c_str()) == 0 || errno == ENOENT) return true;
    if (errno != EBUSY) return false;
    kill_inside(path);
    std::this_thread::sleep_for(kRemovePause);
  }
  return false;
}

std::string group_name(const std::string& run_id) { return "guard-" + run_id; }

// The dead guard need not have lived in the group that we live in, so the whole hierarchy is searched.
std::vector<std::filesystem::path> groups_named(const std::filesystem::path& mount, const std::string& name) {
  std::vector<std::filesystem::path> found;
  std::error_code error;
  std::filesystem::recursive_directory_iterator entry(
      mount, std::filesystem::directory_options::skip_permission_denied, error);
  for (std::size_t looked = 0;
       !error && entry != std::filesystem::recursive_directory_iterator() && looked < kEntriesMax;
       entry.increment(error), ++looked) {
    std::error_code gone;
    if (entry->path().filename() != name || !entry->is_directory(gone)) continue;
    found.push_back(entry->path());
    entry.disable_recursion_pending();
  }
  return found;
}

}  // namespace

std::map<std::string, CgroupPlace> cgroup_places(std::string_view self_cgroup, std::string_view mountinfo) {
  // "4:memory:/path", "0::/path" for version 2.
  std::map<std::string, std::string, std::less<>> own;
  for (const std::string_view line : split(self_cgroup, '\n')) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string_view::npos ? first : line.find(':', first + 1);
    if (second == std::string_view::npos) continue;
    for (const std::string_view name : split(line.substr(first + 1, second - first - 1), ',')) {
      own.emplace(name, line.substr(second + 1));
    }
  }
  std::map<std::string, CgroupPlace> places;
  std::optional<CgroupPlace> unified;
  for (const std::string_view line : split(mountinfo, '\n')) {
    const std::vector<std::string_view> words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (words.size() < 6 || words.end() - dash < 4) continue;
    const std::string_view root = words[3];
    const std::string_view mount_point = words[4];
    const std::string_view type = *(dash + 1);
    if (type == "cgroup") {
      const std::vector<std::string_view> options = split(*(dash + 3), ',');
      for (const std::string_view controller : kControllers) {
        const auto path = own.find(controller);
        if (path == own.end() || !contains(options, controller)) continue;
        const std::filesystem::path mine = below_mount(mount_point, root, path->second);
        CgroupPlace& place = places[std::string(controller)];
        place.parents = {mine};
        if (mine != mount_point) place.parents.emplace_back(mount_point);
      }
    } else if (type == "cgroup2" && own.contains("") && !unified) {
      // A group with processes can't hold limited children, so beside our own comes its parent, where a user's session
      // manager is delegated to, and the root of the hierarchy, where root may do it.
      const std::filesystem::path mine = below_mount(mount_point, root, own.find("")->second);
      unified.emplace();
      unified->version = CgroupVersion::v2;
      unified->parents = {mine};
      if (mine != mount_point) {
        if (mine.parent_path() != mount_point) unified->parents.push_back(mine.parent_path());
        unified->parents.emplace_back(mount_point);
      }
    }
  }
  for (const std::string_view controller : kControllers) {
    // A controller that a version 1 hierarchy has taken is not in version 2's.
    if (unified && !own.contains(controller)) places.emplace(controller, *unified);
  }
  return places;
}

std::map<std::string, CgroupPlace> cgroup_places_here() {
  const auto self_cgroup = read_control("/proc/thread-self/cgroup");
  const auto mountinfo = read_control("/proc/thread-self/mountinfo");
  if (!self_cgroup || !mountinfo) return {};
  return cgroup_places(*self_cgroup, *mountinfo);
}

RunCgroup RunCgroup::create(
    const std::string& run_id, const Limits& limits, const std::map<std::string, CgroupPlace>& places) {
  RunCgroup run;
  for (const auto& [controller, place] : places) {
    for (const std::filesystem::path& parent : place.parents) {
      const std::filesystem::path path = parent / group_name(run_id);
      errno = 0;
      const bool made = ::mkdir(path.c_str(), 0755) == 0;
      // There already: ours, made for another controller of version 2.
      const bool ours = std::any_of(
          run.groups_.begin(), run.groups_.end(), [&path](const auto& group) { return group.second.path == path; });
      // Somebody else's of the same name: a leftover, or a run that lives. Not elsewhere either, then.
      if (!made && !ours && errno == EEXIST) break;
      if (!made && !ours) continue;
      // A thread that moves itself through `tasks` needs no lock of the whole machine, a process through cgroup.procs
      // does, and waits 5 to 30 ms for it. Who enters has just been forked: it is one thread, and version 1 knows
      // threads.
      const char* door = place.version == CgroupVersion::v1 ? "tasks" : "cgroup.procs";
      UniqueFd procs(::open((path / door).c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
      if (procs && set_limits(controller, place.version, path, limits, run.limits_swap_)) {
        run.groups_.emplace(controller, Group{place.version, path, std::move(procs)});
        break;
      }
      if (made) ::rmdir(path.c_str());
    }
  }
  return run;
}

RunCgroup::~RunCgroup() {
  kill_all();
  for (const auto& [controller, group] : groups_) static_cast<void>(remove_group(group.path));
}

std::vector<int> RunCgroup::join_descriptors() const {
  std::vector<int> descriptors;
  std::set<std::filesystem::path> seen;
  for (const auto& [controller, group] : groups_) {
    if (seen.insert(group.path).second) descriptors.push_back(group.procs.get());
  }
  return descriptors;
}

bool RunCgroup::killed_for_memory() const {
  const auto group = groups_.find("memory");
  if (group == groups_.end()) return false;
  const char* file = group->second.version == CgroupVersion::v1 ? "memory.oom_control" : "memory.events";
  return counter(read_control(group->second.path / file), "oom_kill") > 0;
}

bool RunCgroup::hit_pids_limit() const {
  const auto group = groups_.find("pids");
  return group != groups_.end() && counter(read_control(group->second.path / "pids.events"), "max") > 0;
}

std::uint64_t RunCgroup::memory_peak_bytes() const {
  const auto group = groups_.find("memory");
  if (group == groups_.end()) return 0;
  const char* file = group->second.version == CgroupVersion::v1 ? "memory.max_usage_in_bytes" : "memory.peak";
  const auto text = read_control(group->second.path / file);
  std::uint64_t value = 0;
  if (text) std::from_chars(text->data(), text->data() + text->size(), value);
  return value;
}

void RunCgroup::add_enforced(std::map<std::string, std::string>& enforced_by) const {
  enforced_by["memory"] = holds("memory") ? "cgroup" : "watched";
  enforced_by["swap"] = limits_swap() ? "cgroup" : "none";
  enforced_by["pids"] = holds("pids") ? "cgroup" : "watched";
  enforced_by["cpus"] = holds("cpu") ? "cgroup" : "none";
}

void RunCgroup::kill_all() const {
  for (const auto& [controller, group] : groups_) kill_inside(group.path);
}

Result<void> remove_cgroups_of(const std::string& run_id, const std::map<std::string, CgroupPlace>& places) {
  std::set<std::filesystem::path> mounts;
  for (const auto& [controller, place] : places) {
    if (!place.parents.empty()) mounts.insert(place.parents.back());
  }
  for (const std::filesystem::path& mount : mounts) {
    for (const std::filesystem::path& path : groups_named(mount, group_name(run_id))) {
      kill_inside(path);
      if (!remove_group(path)) {
        return Error::from_errno(
            ErrorCode::io_error, fmt::format("cannot remove the control group {}", path.string()), errno);
      }
    }
  }
  return ok();
}

}  // namespace guard
