// podman takes the same request but turns it into options of its command line, so some of it has to be said otherwise
// to mean the same: the profile as a file, masked paths as a security option, tmpfs without options that it does not
// know. It makes /run and /var/tmp writable in a container whose root is not, unless they are asked for.
#include "docker/container_config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "common/text/text.h"

namespace guard::docker {
namespace {

// Ordered as written, so that the golden file reads like this source.
using json = nlohmann::ordered_json;

// Naming any replaces Docker's own list, so Docker's stands here first. Behind it: what tells about the host (hardware
// serials, boot parameters, interrupts as a clock between containers) and nothing that an honest test reads.
constexpr std::array kMaskedPaths = {
    "/proc/acpi",
    "/proc/asound",
    "/proc/interrupts",
    "/proc/kcore",
    "/proc/keys",
    "/proc/latency_stats",
    "/proc/sched_debug",
    "/proc/scsi",
    "/proc/timer_list",
    "/proc/timer_stats",
    "/sys/devices/virtual/powercap",
    "/sys/firmware",
    "/proc/cmdline",
    "/proc/config.gz",
    "/proc/diskstats",
    "/proc/driver",
    "/proc/fs",
    "/proc/iomem",
    "/proc/ioports",
    "/proc/kallsyms",
    "/proc/key-users",
    "/proc/kmsg",
    "/proc/modules",
    "/proc/mtrr",
    "/proc/partitions",
    "/proc/pressure",
    "/proc/schedstat",
    "/proc/slabinfo",
    "/proc/softirqs",
    "/proc/swaps",
    "/proc/tty",
    "/proc/vmallocinfo",
    "/proc/vmstat",
    "/sys/block",
    "/sys/bus",
    "/sys/dev",
    "/sys/devices/virtual/dmi",
    "/sys/fs/bpf",
    "/sys/fs/pstore",
    "/sys/hypervisor",
    "/sys/kernel",
    "/sys/module",
    "/sys/power",
};
constexpr std::array kReadonlyPaths = {"/proc/bus", "/proc/irq", "/proc/sys", "/proc/sysrq-trigger"};

// The smallest that engines take. With IpcMode "none" there is no /dev/shm but the one among `scratch`.
constexpr std::uint64_t kShmBytes = 64ul * 1024;

// When the host itself runs short of memory the kernel should take the untrusted program before anything else.
constexpr int kOomScoreAdj = 500;

// podman always sets a limit of processes per user, as high as the kernel's, which an engine without CAP_SYS_RESOURCE
// may not do. This one is out of reach of any honest machine's processes of that user; PidsLimit is what holds.
constexpr std::uint64_t kPodmanUserProcesses = 32768;

// Empty, and nothing can be written there.
constexpr std::string_view kPodmanClosedFolder = "ro,noexec,nosuid,nodev,size=4096,mode=0555,notmpcopyup";

std::string tmpfs_options(const ContainerConfig& config, const TmpfsMount& mount) {
  if (config.podman) {
    // "U": the program's user owns it. There is no limit of files here; what they cost is memory, which is limited.
    return fmt::format("rw,noexec,nosuid,nodev,size={},mode=0755,notmpcopyup,U", mount.bytes_max);
  }
  // Without nr_inodes a tmpfs takes millions of empty files, which no byte limit counts.
  return fmt::format("rw,noexec,nosuid,nodev,size={},nr_inodes={},uid={},gid={},mode={}", mount.bytes_max,
      mount.files_max, config.user, config.user, mount.shared ? "1777" : "0755");
}

json environment(const ContainerConfig& config) {
  json list = json::array();
  for (const auto& [name, value] : config.env) list.push_back(fmt::format("{}={}", name, value));
  if (config.podman) return list;  // which is told to unset everything else; a name without '=' copies the engine's own
  std::vector<std::string> unwanted = config.image_env_names;
  // The engine adds these two by itself.
  unwanted.emplace_back("HOSTNAME");
  unwanted.emplace_back("PATH");
  for (const std::string& name : unwanted) {
    if (!config.env.contains(name)) list.push_back(name);
  }
  return list;
}

json bind_mount(const BindMount& mount) {
  return {{"Type", "bind"}, {"Source", mount.source}, {"Target", mount.target}, {"ReadOnly", !mount.writable},
      // Read-only does not reach mounts below the source on older engines, so those are left out.
      {"BindOptions", {{"Propagation", "rprivate"}, {"NonRecursive", true}}}};
}

json ulimit(std::string_view name, std::uint64_t value) { return {{"Name", name}, {"Soft", value}, {"Hard", value}}; }

}  // namespace

std::span<const char* const> masked_paths() noexcept { return kMaskedPaths; }

std::string container_config(const ContainerConfig& config) {
  json tmpfs = json::object();
  // Owned by the program's user, /tmp too: runtimes give the mount the mode that the image's own folder has, whatever
  // is asked for.
  for (const TmpfsMount& mount : config.scratch) tmpfs[mount.target] = tmpfs_options(config, mount);
  if (config.podman) {
    for (const char* folder : {"/run", "/var/tmp"}) tmpfs.emplace(folder, kPodmanClosedFolder);
  }
  json mounts = json::array();
  for (const BindMount& mount : config.mounts) mounts.push_back(bind_mount(mount));

  json security = {"no-new-privileges",
      fmt::format("seccomp={}", config.podman ? std::string_view(config.seccomp_file) : config.seccomp_profile)};
  if (!config.apparmor_profile.empty()) security.push_back("apparmor=" + config.apparmor_profile);
  if (config.podman) security.push_back(fmt::format("mask={}", fmt::join(kMaskedPaths, ":")));

  json host = {
      {"AutoRemove", false},  // the engine's last word (OOMKilled) is read before guard removes the container
      {"RestartPolicy", {{"Name", "no"}}}, {"NetworkMode", config.network_mode}, {"Memory", config.memory_bytes},
      {"MemorySwap", config.memory_bytes},  // memory and swap together: no swap
      {"OomKillDisable", false}, {"OomScoreAdj", kOomScoreAdj}, {"NanoCpus", std::llround(config.cpus * 1e9)},
      {"PidsLimit", config.pids}, {"CapAdd", json::array()}, {"CapDrop", {"ALL"}}, {"Privileged", false},
      {"SecurityOpt", security}, {"ReadonlyRootfs", true}, {"Tmpfs", tmpfs}, {"Mounts", mounts},
      {"MaskedPaths", kMaskedPaths}, {"ReadonlyPaths", kReadonlyPaths}, {"IpcMode", "none"},
      {"CgroupnsMode", "private"}, {"ShmSize", kShmBytes},
      // No limit of processes per user: it would count the host's own processes of the same number. PidsLimit holds.
      {"Ulimits", {ulimit("core", 0), ulimit("fsize", config.file_bytes), ulimit("nofile", config.open_files)}},
      {"LogConfig", {{"Type", "none"}, {"Config", json::object()}}},  // output must not grow on the host's disk
      {"Devices", json::array()}, {"Init", false},                    // ours is PID 1
  };
  if (config.podman) {
    host.erase("ShmSize");  // not beside IpcMode "none"
    host["Ulimits"].push_back(ulimit("nproc", kPodmanUserProcesses));
  }
  if (!config.runtime.empty()) host["Runtime"] = config.runtime;
  // Engines switch it off where there is no network, and ::1 with it.
  if (config.ipv6_loopback) host["Sysctls"] = {{"net.ipv6.conf.lo.disable_ipv6", "0"}};
  if (config.network_mode == "none") {
    // Engines copy the host's resolv.conf even where no packet can leave; the addresses in it are nobody's business.
    host["Dns"] = json::array({"127.0.0.1"});
    host["DnsSearch"] = json::array({"."});
    host["DnsOptions"] = json::array();
  }

  const auto program = config.command.empty() ? json::array() : json::array({config.command.front()});
  json body = {
      {"Image", config.image},
      {"Entrypoint", program},
      {"Cmd",
          config.command.empty() ? json::array() : json(std::vector(config.command.begin() + 1, config.command.end()))},
      {"User", fmt::format("{}:{}", config.user, config.user)},
      {"WorkingDir", config.working_dir},
      {"Env", environment(config)},
      {"Hostname", "sandbox"},
      {"Domainname", ""},
      {"Labels", config.labels},
      {"Healthcheck", {{"Test", {"NONE"}}}},
      {"Tty", false},
      // The life line: standard input ends when guard's connection does, however guard ended.
      {"OpenStdin", true},
      {"StdinOnce", true},
      {"AttachStdin", true},
      {"AttachStdout", true},
      {"AttachStderr", true},
      {"HostConfig", host},
  };
  if (config.podman) body["UnsetEnvAll"] = true;
  // Others than UTF-8 would throw; check_is_text() refuses them.
  return body.dump(2, ' ', false, json::error_handler_t::replace);
}

Result<void> check_is_text(const ContainerConfig& config) {
  const auto refuse = [](std::string_view what) {
    return Error(ErrorCode::input_invalid,
        fmt::format("{} is not UTF-8, and a container engine takes nothing else", printable(what)))
        .hint("use UTF-8 there, or the embedded sandbox (--backend namespace)");
  };
  for (const BindMount& mount : config.mounts) {
    if (!is_utf8(mount.source) || !is_utf8(mount.target)) return refuse(mount.source);
  }
  for (const TmpfsMount& mount : config.scratch) {
    if (!is_utf8(mount.target)) return refuse(mount.target);
  }
  if (!std::ranges::all_of(config.command, is_utf8)) return refuse("an argument of the command");
  if (!is_utf8(config.working_dir)) return refuse(config.working_dir);
  for (const auto& [name, value] : config.env) {
    if (!is_utf8(name) || !is_utf8(value)) return refuse(fmt::format("the variable {}", name));
  }
  return ok();
}

Result<void> check_names_for_podman(const ContainerConfig& config) {
  const auto misread = [](const std::string& path) {
    return std::ranges::any_of(path, [](char c) {
      const auto byte = static_cast<unsigned char>(c);
      return byte < 0x20 || byte == 0x7f || std::string_view(",:=\"\\").find(c) != std::string_view::npos;
    });
  };
  std::vector<std::string> paths = {config.seccomp_file};
  for (const BindMount& mount : config.mounts) paths.insert(paths.end(), {mount.source, mount.target});
  for (const TmpfsMount& mount : config.scratch) paths.push_back(mount.target);
  const auto found = std::ranges::find_if(paths, misread);
  if (found == paths.end()) return ok();
  return Error(ErrorCode::input_invalid,
      fmt::format("podman cannot be shown {}: it would take a part of the name for an option", printable(*found)))
      .hint("rename the file without , : = \" and backslash, or use docker or the embedded sandbox");
}

}  // namespace guard::docker
