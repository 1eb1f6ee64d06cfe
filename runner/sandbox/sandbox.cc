#include "runner/sandbox/sandbox.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "runner/files/plain_path.h"
#include "runner/tasks/open_sandbox.h"

namespace guard {
namespace {

constexpr std::size_t kRunIdBytesMax = 64;
constexpr milliseconds kTimeMax{std::chrono::hours(24 * 7)};
// A tmpfs is as large as was asked for, rounded up to whole pages.
constexpr std::uint64_t kPageBytesMax = 65536;
// execve(2): of one argument or variable with its end.
constexpr std::size_t kWordBytesMax = 128ul * 1024;
constexpr std::size_t kWordsBytesMax = 6ul << 20;

Error refuse(std::string sentence) { return Error(ErrorCode::input_invalid, std::move(sentence)); }

bool has_nul(std::string_view text) { return text.find('\0') != std::string_view::npos; }

// The name in `path` that is_never_mounted(); empty: there is none.
std::string_view forbidden_part(std::string_view path) {
  std::string_view found;
  any_path_part(path, [&found](std::string_view part) {
    if (is_never_mounted(part)) found = part;
    return !found.empty();
  });
  return found;
}

// Not from the user database: a static program that asks for it loads foreign libraries, and may crash of it.
std::vector<std::string> home_folders() {
  std::vector<std::string> homes = {"/root", "/home"};
  if (const char* home = std::getenv("HOME"); home != nullptr && *home == '/') homes.emplace_back(home);
  return homes;
}

Result<void> check_source(const std::string& source, const std::vector<std::string>& homes) {
  if (!is_plain_absolute(source))
    return refuse(fmt::format("mount source \"{}\" is not a plain absolute path", source));
  if (const auto part = forbidden_part(source); !part.empty()) {
    return refuse(fmt::format("mount source {} holds \"{}\", which is never mounted", source, part));
  }
  // A home folder and everything above it; what lies below is judged by its name and kind.
  for (const std::string& home : homes) {
    if (is_same_or_below(home, source))
      return refuse(fmt::format("{} is or holds a home folder; it is never mounted", source));
  }
  for (const char* live : {"/proc", "/sys", "/dev", "/run", "/var/run"}) {
    if (is_same_or_below(source, live))
      return refuse(fmt::format("{} lies below {}, which is never mounted", source, live));
  }
  struct stat found {};
  if (::lstat(source.c_str(), &found) != 0) {
    return Error::from_errno(ErrorCode::input_invalid, fmt::format("mount source {}", source), errno);
  }
  if (!S_ISREG(found.st_mode) && !S_ISDIR(found.st_mode)) {
    return refuse(fmt::format("mount source {} is neither a file nor a folder", source));
  }
  return ok();
}

Result<void> check_target(const std::string& target) {
  if (!is_plain_absolute(target) || target == "/") {
    return refuse(fmt::format("target \"{}\" is not a plain absolute path below /", target));
  }
  for (const char* special : {"/proc", "/sys", "/dev"}) {
    if (is_same_or_below(target, special)) return refuse(fmt::format("target {} lies below {}", target, special));
  }
  if (const auto part = forbidden_part(target); !part.empty()) {
    return refuse(fmt::format("target {} holds \"{}\", which is never mounted", target, part));
  }
  return ok();
}

Result<void> check_targets(const SandboxSpec& spec) {
  std::vector<std::string> earlier;
  const auto add = [&earlier](const std::string& target) -> Result<void> {
    GUARD_TRY(check_target(target));
    for (const std::string& other : earlier) {
      if (is_same_or_below(other, target)) return refuse(fmt::format("target {} would hide {}", target, other));
    }
    earlier.push_back(target);
    return ok();
  };
  const std::vector<std::string> homes = home_folders();
  for (const Mount& mount : spec.mounts) {
    GUARD_TRY(check_source(mount.source.string(), homes));
    GUARD_TRY(add(mount.target));
  }
  for (const SharedFolder& folder : spec.shared) {
    GUARD_TRY(check_source(folder.source.string(), homes));
    GUARD_TRY(add(folder.target));
  }
  bool filled = false;
  for (const ScratchFolder& scratch : spec.scratch) {
    GUARD_TRY(add(scratch.target));
    if (scratch.bytes_max == 0 || scratch.files_max == 0) {
      return refuse(fmt::format("scratch folder {} has a limit of 0", scratch.target));
    }
    if (scratch.filled_from.empty()) continue;
    const bool mounted = std::any_of(spec.mounts.begin(), spec.mounts.end(),
        [&](const Mount& mount) { return mount.target == scratch.filled_from; });
    if (!mounted || std::exchange(filled, true))
      return refuse(fmt::format("scratch folder {} can't be filled from {}", scratch.target, scratch.filled_from));
  }
  return ok();
}

// execve(2): of all arguments and variables together, with a pointer each.
std::size_t words_bytes_max() {
  struct rlimit stack {};
  if (::getrlimit(RLIMIT_STACK, &stack) != 0) return kWordsBytesMax;
  return static_cast<std::size_t>(std::min<rlim_t>(stack.rlim_cur / 4, kWordsBytesMax));
}

// What is too large would fail in the middle of the start, in words that name nothing.
Result<void> check_words(const SandboxSpec& spec) {
  std::size_t all = 0;
  const auto fits = [&all](std::size_t bytes) {
    all += bytes + 1 + sizeof(char*);
    return bytes + 1 <= kWordBytesMax;
  };
  const auto too_long = [](std::string_view what, std::size_t bytes) {
    return refuse(fmt::format(
        "{} has {} bytes; the system starts no program with more than {} in one", what, bytes, kWordBytesMax - 1));
  };
  for (const auto* arguments : {&spec.argv, &spec.each}) {
    for (const std::string& argument : *arguments) {
      if (!fits(argument.size())) return too_long("an argument", argument.size());
    }
  }
  for (const auto& [name, value] : spec.env) {
    const std::size_t bytes = name.size() + 1 + value.size();
    if (!fits(bytes)) return too_long(fmt::format("environment variable {} with its value", name), bytes);
  }
  if (all <= words_bytes_max()) return ok();
  return refuse(
      fmt::format("arguments and environment have {} bytes together; the system starts no program with more "
                  "than {}",
          all, words_bytes_max()));
}

Result<void> check_collect(const SandboxSpec& spec) {
  if (!spec.collect) return ok();
  const auto has_target = [&spec](const ScratchFolder& scratch) { return scratch.target == spec.collect->folder; };
  if (std::any_of(spec.scratch.begin(), spec.scratch.end(), has_target)) return ok();
  return refuse(fmt::format("files can't be collected from {}, which is no scratch folder", spec.collect->folder));
}

Result<void> check_limits(const SandboxSpec& spec) {
  const Limits& limits = spec.limits;
  const std::pair<const char*, std::uint64_t> numbers[] = {
      {"memory", limits.memory_bytes},
      {"pids", limits.pids},
      {"tmp_size", limits.tmp_bytes},
      {"tmp_files", limits.tmp_files},
      {"sandbox_size", limits.sandbox_bytes},
      {"sandbox_files", limits.sandbox_files},
      {"output_flood", limits.output_flood_bytes},
      {"open_files", limits.open_files},
      {"file_size", limits.file_bytes},
  };
  for (const auto& [name, value] : numbers) {
    if (value == 0) return refuse(fmt::format("limit {} is 0", name));
    // Kernel interfaces take signed numbers; a limit that wraps is no limit.
    if (value > (1ull << 62)) return refuse(fmt::format("limit {} is out of range", name));
  }
  if (!std::isfinite(limits.cpus) || limits.cpus < 0.01 || limits.cpus > 4096) {
    return refuse("limit cpus is not between 0.01 and 4096");
  }
  if (spec.timeout <= milliseconds(0) || spec.timeout > kTimeMax)
    return refuse("timeout is not between 1 ms and a week");
  if (spec.grace < milliseconds(0) || spec.grace > kTimeMax) return refuse("grace is not between 0 and a week");
  return ok();
}

}  // namespace

std::vector<MemoryFolder> memory_folders(const SandboxSpec& spec) {
  const Limits& limits = spec.limits;
  std::vector<MemoryFolder> folders = {
      {"/tmp", limits.tmp_bytes, limits.tmp_files, true}, {"/dev/shm", limits.tmp_bytes, limits.tmp_files, true}};
  for (const ScratchFolder& scratch : spec.scratch)
    folders.push_back({scratch.target, scratch.bytes_max, scratch.files_max});
  return folders;
}

std::map<std::string, std::string> limits_of_init() {
  return {{"open_files", "rlimit"}, {"file_size", "rlimit"}, {"output", "guard"}, {"time", "guard"}};
}

void add_missing_limits(ExecResult& result) {
  for (const char* limit : {"memory", "swap", "pids", "cpus", "tmp_size", "tmp_files", "tmp_noexec", "sandbox_size",
           "sandbox_files", "files", "syscalls"}) {
    result.enforced_by.emplace(limit, "none");
  }
  result.enforced_by.emplace("network", kOpenNetwork);
}

void add_folder_limits(const Limits& limits, ExecResult& result) {
  const auto seen = [&result](const char* key) {
    const auto found = result.seen_inside.find(key);
    return found == result.seen_inside.end() ? 0 : std::strtoull(found->second.c_str(), nullptr, 10);
  };
  const auto by_tmpfs = [](bool held) { return held ? "tmpfs" : "none"; };
  const std::uint64_t bytes = seen("tmp_bytes");
  const std::uint64_t files = seen("tmp_files");
  const char* sized = by_tmpfs(bytes > 0 && bytes < limits.tmp_bytes + kPageBytesMax);
  const char* counted = by_tmpfs(files > 0 && files <= limits.tmp_files);
  result.enforced_by["tmp_size"] = result.enforced_by["sandbox_size"] = sized;
  result.enforced_by["tmp_files"] = result.enforced_by["sandbox_files"] = counted;
  result.enforced_by["tmp_noexec"] = by_tmpfs(seen("tmp_noexec") == 1);
}

Result<void> validate(const SandboxSpec& spec, Serves serves) {
  const auto is_id_byte = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-'; };
  if (spec.run_id.empty() || spec.run_id.size() > kRunIdBytesMax ||
      !std::all_of(spec.run_id.begin(), spec.run_id.end(), is_id_byte)) {
    return refuse(fmt::format("run id \"{}\" is not 1 to {} of [a-z0-9-]", spec.run_id, kRunIdBytesMax));
  }
  if (serves == Serves::one_program && (spec.argv.empty() || spec.argv.front().empty()))
    return refuse("no program to run was given");
  for (const auto* arguments : {&spec.argv, &spec.each}) {
    if (std::any_of(
            arguments->begin(), arguments->end(), [](const std::string& argument) { return has_nul(argument); })) {
      return refuse("an argument holds a NUL byte");
    }
  }
  if (!is_plain_absolute(spec.working_dir)) {
    return refuse(fmt::format("working folder \"{}\" is not a plain absolute path", spec.working_dir));
  }
  for (const auto& [name, value] : spec.env) {
    if (name.empty() || name.find('=') != std::string::npos || has_nul(name) || has_nul(value)) {
      return refuse(fmt::format("environment variable \"{}\" can't be passed on", name));
    }
  }
  if ((spec.network == Network::allowlist) != static_cast<bool>(spec.egress))
    return refuse("a network by allowlist needs somebody who takes its connections");
  GUARD_TRY(check_words(spec));
  GUARD_TRY(check_targets(spec));
  GUARD_TRY(check_collect(spec));
  return check_limits(spec);
}

Result<std::unique_ptr<OpenSandbox>> Sandbox::open(const SandboxSpec&, const CancelToken&) {
  return Error(ErrorCode::input_invalid, fmt::format("the backend {} has no sandboxes that stay", name()))
      .hint("use --backend namespace or docker");
}

Result<void> refuse_shared(const SandboxSpec& spec, std::string_view who) {
  if (spec.shared.empty()) return ok();
  return Error(ErrorCode::input_invalid, fmt::format("{} can't write to a folder of this machine (--write)", who))
      .hint("use a container engine on this machine, or --backend namespace");
}

Result<void> validate_host_folder(const SandboxSpec& spec, std::string_view who) {
  if (spec.collect) return refuse(fmt::format("{} has no folder of its own to collect files from", who));
  struct stat found {};
  if (!spec.host_folder.empty() && ::stat(spec.host_folder.c_str(), &found) == 0 && S_ISDIR(found.st_mode)) return ok();
  return refuse(fmt::format("{} needs a folder to run in; \"{}\" is none", who, spec.host_folder.string()));
}

std::string_view to_string(Network network) noexcept {
  static constexpr std::string_view kNames[] = {"none", "bridge", "host", "allowlist"};
  return kNames[static_cast<std::size_t>(network)];
}

std::string_view to_string(ProbeState state) noexcept {
  static constexpr std::string_view kNames[] = {"available", "absent", "unknown"};
  return kNames[static_cast<std::size_t>(state)];
}

}  // namespace guard
