// Tries from inside a sandbox what must not be possible there, and says of each whether it held.
//
//   probe --secret TEXT --host-file PATH --host-path TEXT --port N --abstract NAME --shm-key N
//
// It refuses to run anywhere but under guard's init.
//
// One line each: "NUMBER held|open NAME: what was seen". The numbers are those of tests/probes/README.md. What the
// options name was put on the host by whoever started the sandbox, and must be out of reach.
#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <mqueue.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace {

void report(int number, bool held, const std::string& name, const std::string& seen) {
  std::printf("%d %s %s: %s\n", number, held ? "held" : "open", name.c_str(), seen.c_str());
  std::fflush(stdout);
}

std::string error_name(int number) {
  const char* name = ::strerrorname_np(number);
  return name == nullptr ? std::to_string(number) : name;
}

// Something that has to fail.
void must_fail(int number, const std::string& name, long result) {
  report(number, result < 0, name, result < 0 ? error_name(errno) : "it worked");
}

bool read_text(const char* path, std::string& text) {
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  text.clear();
  char buffer[65536];
  ssize_t size = 0;
  while ((size = ::read(fd, buffer, sizeof buffer)) > 0 && text.size() < (8u << 20)) {
    text.append(buffer, static_cast<std::size_t>(size));
  }
  ::close(fd);
  return true;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    if (end > begin) lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> entries(const char* folder) {
  std::vector<std::string> names;
  DIR* opened = ::opendir(folder);
  if (opened == nullptr) return names;
  while (const dirent* entry = ::readdir(opened)) {
    if (std::strcmp(entry->d_name, ".") != 0 && std::strcmp(entry->d_name, "..") != 0)
      names.emplace_back(entry->d_name);
  }
  ::closedir(opened);
  return names;
}

// What `act` returns, found out in a child that may die of it: its exit status, or 128 and the signal.
int in_child(const std::function<int()>& act) {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid < 0) return 255;
  if (pid == 0) ::_exit(act());
  int status = 0;
  ::waitpid(pid, &status, 0);
  return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

std::string status_field(const std::string& label) {
  std::string text;
  read_text("/proc/self/status", text);
  for (const std::string& line : lines_of(text)) {
    if (!line.starts_with(label + ":")) continue;
    const std::size_t at = line.find_first_not_of(" \t", label.size() + 1);
    return at == std::string::npos ? "" : line.substr(at);
  }
  return "missing";
}

// ---- files ----

void probe_writing() {
  for (const char* folder :
      {"/", "/etc", "/usr", "/app", "/app/src", "/root", "/run", "/var", "/bin", "/dev", "/proc/sys/kernel"}) {
    const std::string path = std::string(folder) + "/planted";
    const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    must_fail(1, std::string("write ") + folder, fd);
    if (fd >= 0) ::close(fd);
  }
  must_fail(1, "write a checked file", ::open("/app/scratch/given", O_WRONLY | O_CLOEXEC));
  must_fail(1, "remove a checked file", ::unlink("/staged/given"));
  must_fail(1, "replace a checked file", ::rename("/staged/given", "/app/scratch/other"));
  must_fail(1, "move the folder of a checked file", ::rename("/staged/nested", "/staged/moved"));
  must_fail(2, "remount /", ::mount("none", "/", nullptr, MS_REMOUNT, nullptr));
  must_fail(2, "remount a bind mount", ::mount("none", "/staged", nullptr, MS_REMOUNT | MS_BIND, nullptr));
}

// Fills `to` with a copy of ourselves, which says so when it runs; closes it, and runs what `path` names.
void probe_copy(int number, const std::string& name, int to, const std::string& path) {
  if (to < 0) {
    report(number, true, name, "nothing can be put there: " + error_name(errno));
    return;
  }
  const int from = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  char buffer[65536];
  ssize_t size = 0;
  while ((size = ::read(from, buffer, sizeof buffer)) > 0) {
    if (::write(to, buffer, static_cast<std::size_t>(size)) != size) break;
  }
  ::close(from);
  ::fchmod(to, 0755);
  ::fchmod(to, 04755);  // the filter refuses it
  // A program that somebody may still write to is not executed: opened anew, for reading alone.
  const int copy = ::open(("/proc/self/fd/" + std::to_string(to)).c_str(), O_RDONLY);
  ::close(to);
  const int status = in_child([&] {
    char* const argv[] = {const_cast<char*>("copy"), const_cast<char*>("--ran"), nullptr};
    char* const env[] = {nullptr};
    ::execv(path.empty() ? ("/proc/self/fd/" + std::to_string(copy)).c_str() : path.c_str(), argv);
    const int error = errno;
    ::syscall(SYS_execveat, copy, "", argv, env, AT_EMPTY_PATH);
    return error;
  });
  ::close(copy);
  report(number, status != 42, name, status == 42 ? "it ran" : error_name(status));
}

void probe_executing(int number, const std::string& folder) {
  const std::string path = folder + "/copy";
  probe_copy(
      number, "execute in " + folder, ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0755), path);
  ::unlink(path.c_str());
}

// With and without the flags that say whether it may be executed.
void probe_memory_file(int number) {
  constexpr unsigned kNoExecSeal = 0x8;
  constexpr unsigned kExec = 0x10;
  for (const unsigned flags : {0u, kExec, kNoExecSeal}) {
    probe_copy(number, "execute in a memory file, flags " + std::to_string(flags),
        static_cast<int>(::syscall(SYS_memfd_create, "copy", flags)), "");
  }
}

void probe_host_files(const std::string& host_file) {
  must_fail(5, "/etc/shadow", ::open("/etc/shadow", O_RDONLY | O_CLOEXEC));
  must_fail(5, "a file of the host", ::open(host_file.c_str(), O_RDONLY | O_CLOEXEC));
  must_fail(5, "/proc/1/root", ::open("/proc/1/root/", O_RDONLY | O_CLOEXEC));
  for (const char* path : {"/var/run/docker.sock", "/run/docker.sock", "/run/containerd/containerd.sock",
           "/run/podman/podman.sock", "/var/run/secrets"}) {
    struct stat found {};
    must_fail(6, path, ::stat(path, &found));
  }
  for (const char* path :
      {"/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/dev/vda", "/dev/sda", "/dev/port", "/dev/net/tun"}) {
    must_fail(7, path, ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  }
  must_fail(8, "mknod of a character device", ::mknod("/tmp/null", S_IFCHR | 0666, makedev(1, 3)));
  must_fail(8, "mknod of a block device", ::mknod("/tmp/block", S_IFBLK | 0666, makedev(8, 0)));
  struct statvfs folder {};
  const bool nosuid = ::statvfs("/app/scratch", &folder) == 0 && (folder.f_flag & ST_NOSUID) != 0;
  report(9, nosuid, "set-user-id in the writable folder", nosuid ? "mounted nosuid" : "not mounted nosuid");
  must_fail(10, "hard link to a checked file", ::link("/staged/given", "/app/scratch/linked"));
  must_fail(10, "hard link to a program", ::link("/bin/probe", "/app/scratch/linked"));
  std::string strange;
  for (const std::string& name : entries("/dev")) {
    static constexpr std::string_view kSafe[] = {"null", "zero", "full", "random", "urandom", "tty", "console", "ptmx",
        "pts", "fd", "stdin", "stdout", "stderr", "shm", "mqueue", "core"};
    bool safe = false;
    for (const std::string_view one : kSafe) safe = safe || one == name;
    if (!safe) strange += " " + name;
  }
  report(11, strange.empty(), "entries of /dev", strange.empty() ? "safe ones alone" : strange);
}

// ---- /proc and /sys ----

// Cannot be opened, or holds nothing.
void must_be_masked(int number, const char* path) {
  struct stat found {};
  if (::stat(path, &found) != 0) return report(number, true, path, error_name(errno));
  if (S_ISDIR(found.st_mode)) {
    const std::size_t count = entries(path).size();
    return report(number, count == 0, path, count == 0 ? "empty" : std::to_string(count) + " entries");
  }
  const int fd = ::open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return report(number, true, path, error_name(errno));
  char byte = 0;
  const ssize_t size = ::read(fd, &byte, 1);
  report(number, size <= 0, path, size <= 0 ? "empty" : "it can be read");
  ::close(fd);
}

void probe_proc(const std::string& host_path, const std::string& secret) {
  for (const char* path : {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/sys/net/ipv4/ip_forward",
           "/sys/kernel/uevent_helper", "/proc/sys/kernel/modprobe"}) {
    must_fail(13, path, ::open(path, O_WRONLY | O_CLOEXEC));
  }
  for (const char* path : {"/proc/kcore", "/proc/keys", "/proc/key-users", "/proc/timer_list", "/proc/sched_debug",
           "/proc/latency_stats", "/proc/acpi", "/proc/scsi", "/sys/firmware", "/proc/kmsg"}) {
    must_be_masked(14, path);
  }
  std::string text;
  const bool readable = read_text("/proc/kallsyms", text);
  bool zeros = true;
  for (const std::string& line : lines_of(text)) zeros = zeros && line.starts_with("0000000000000000 ");
  report(15, !readable || zeros, "/proc/kallsyms", !readable ? "unreadable" : zeros ? "no address" : "addresses");

  // The keeper of a session's earlier program may be on its way out: it's guard's own, and nobody else's is there.
  std::string others;
  for (const std::string& name : entries("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    if (read_text(("/proc/" + name + "/comm").c_str(), text) && text.ends_with("guard-init\n")) continue;
    others += " " + name + " (" + text.substr(0, text.find('\n')) + ")";
  }
  report(16, others.empty(), "processes in sight", others.empty() ? "guard's own" : others.substr(1));
  read_text("/proc/1/comm", text);
  report(16, text.find("guard-init") != std::string::npos, "process 1", text.substr(0, text.find('\n')));

  std::string writable;
  for (const std::string& name : entries("/sys/fs/cgroup")) {
    const std::string folder = "/sys/fs/cgroup/" + name;
    if (::mkdir((folder + "/planted").c_str(), 0755) == 0) writable += " mkdir:" + name;
    for (const char* file : {"/cgroup.procs", "/release_agent", "/notify_on_release", "/memory.limit_in_bytes"}) {
      const int fd = ::open((folder + file).c_str(), O_WRONLY | O_CLOEXEC);
      if (fd >= 0) writable += " " + name + file;
      if (fd >= 0) ::close(fd);
    }
  }
  if (::mkdir("/sys/fs/cgroup/planted", 0755) == 0) writable += " mkdir";
  report(17, writable.empty(), "writing to control groups", writable.empty() ? "nothing" : writable);

  read_text("/proc/self/mountinfo", text);
  const bool told = text.find(host_path) != std::string::npos;
  report(18, !told, "paths of the host in mountinfo", told ? host_path : "none");
  read_text("/proc/self/cgroup", text);
  std::string named;
  for (const std::string& line : lines_of(text)) {
    if (!line.ends_with(":/")) named = line;
  }
  report(18, named.empty(), "paths of the host in /proc/self/cgroup", named.empty() ? "none" : named);

  std::string kept;
  for (const std::string& name : entries("/proc/self/fd")) {
    const int fd = std::atoi(name.c_str());
    // One of them is the listing's own.
    if (fd > 2 && ::fcntl(fd, F_GETFD) >= 0) kept += " " + name;
  }
  report(19, kept.empty(), "descriptors that were handed down", kept.empty() ? "none" : kept);

  std::string leaking;
  for (const std::string& name : entries("/proc")) {
    if (name.find_first_not_of("0123456789") != std::string::npos) continue;
    for (const char* file : {"/environ", "/cmdline"}) {
      // Our own command line names it: we were told what to look for.
      if (std::string_view(file) == "/cmdline" && name == std::to_string(::getpid())) continue;
      if (read_text(("/proc/" + name + file).c_str(), text) &&
          text.find("GUARD_PROBE_PLANTED=" + secret) != std::string::npos)
        leaking += " " + name + file;
    }
  }
  report(20, leaking.empty(), "environments of processes", leaking.empty() ? "nothing of the host's" : leaking);
  // Whoever reaches these speaks with guard's voice.
  std::string reached;
  for (int fd = 0; fd < 64; ++fd) {
    const int opened = ::open(("/proc/1/fd/" + std::to_string(fd)).c_str(), O_WRONLY | O_CLOEXEC | O_NONBLOCK);
    if (opened >= 0) reached += " " + std::to_string(fd);
    if (opened >= 0) ::close(opened);
  }
  report(19, reached.empty(), "descriptors of process 1", reached.empty() ? "out of reach" : reached);
  must_fail(19, "memory of process 1", ::open("/proc/1/mem", O_RDWR | O_CLOEXEC));
  must_fail(
      20, "environment of process 1", ::open("/proc/1/environ", O_RDONLY | O_CLOEXEC) < 0 ? -1 : [] {
        std::string environment;
        if (!read_text("/proc/1/environ", environment) || environment.empty()) {
          errno = EACCES;
          return -1;
        }
        return 0;
      }());
}

// ---- identity ----

void probe_identity() {
  for (const char* set : {"CapEff", "CapPrm", "CapBnd", "CapInh"}) {
    const std::string value = status_field(set);
    report(21, value.find_first_not_of('0') == std::string::npos, set, value);
  }
  bool ambient = false;
  for (unsigned long one = 0; one < 64; ++one)
    ambient = ambient || ::prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, one, 0, 0) == 1;
  report(21, !ambient, "ambient capabilities", ambient ? "some" : "none");
  const int no_new_privs = ::prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0);
  report(22, no_new_privs == 1, "no_new_privs", std::to_string(no_new_privs));
  gid_t groups[64];
  const int count = ::getgroups(64, groups);
  bool ordinary = ::getuid() != 0 && ::geteuid() != 0 && ::getgid() != 0 && ::getegid() != 0;
  std::string shown = std::to_string(::getuid()) + ":" + std::to_string(::getgid());
  for (int i = 0; i < count; ++i) {
    ordinary = ordinary && groups[i] == ::getgid();
    shown += " +" + std::to_string(groups[i]);
  }
  report(23, ordinary, "user and groups", shown);
  must_fail(24, "setuid(0)", ::setuid(0));
  must_fail(24, "setgroups", ::setgroups(0, nullptr));
  const std::string seccomp = status_field("Seccomp");
  report(25, seccomp == "2", "seccomp", seccomp);
  must_fail(26, "chroot", ::chroot("/tmp"));
  must_fail(26, "setpriority upwards", ::setpriority(PRIO_PROCESS, 0, -5));
  rlimit more{1 << 22, 1 << 22};
  must_fail(26, "raise a limit", ::setrlimit(RLIMIT_NOFILE, &more));
  const struct {
    const char* name;
    int flags;
  } namespaces[] = {{"unshare user", CLONE_NEWUSER}, {"unshare user and mount", CLONE_NEWUSER | CLONE_NEWNS},
      {"unshare user and network", CLONE_NEWUSER | CLONE_NEWNET}, {"unshare mount", CLONE_NEWNS}};
  for (const auto& one : namespaces) {
    const int status = in_child([&one] { return ::unshare(one.flags) == 0 ? 0 : errno; });
    report(27, status != 0, one.name, status == 0 ? "it worked" : error_name(status));
  }
  const int cloned = in_child([] {
    const long pid = ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0);
    if (pid == 0) ::_exit(0);
    return pid > 0 ? 0 : errno;
  });
  report(27, cloned != 0, "clone with a user namespace", cloned == 0 ? "it worked" : error_name(cloned));
}

// ---- network ----

int connect_to(int family, const char* address, int port) {
  const int fd = ::socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (fd < 0) return -1;
  timeval limit{1, 0};
  ::setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
  int result = -1;
  if (family == AF_INET) {
    sockaddr_in to{};
    to.sin_family = AF_INET;
    to.sin_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET, address, &to.sin_addr);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  } else {
    sockaddr_in6 to{};
    to.sin6_family = AF_INET6;
    to.sin6_port = htons(static_cast<std::uint16_t>(port));
    ::inet_pton(AF_INET6, address, &to.sin6_addr);
    result = ::connect(fd, reinterpret_cast<const sockaddr*>(&to), sizeof to);
  }
  const int number = errno;
  ::close(fd);
  errno = number;
  return result;
}

void probe_network(int port, const std::string& abstract_name) {
  std::string text;
  std::string others;
  read_text("/proc/net/dev", text);
  for (const std::string& line : lines_of(text)) {
    const std::size_t colon = line.find(':');
    if (colon == std::string::npos) continue;
    const std::size_t begin = line.find_first_not_of(' ');
    const std::string name = line.substr(begin, colon - begin);
    // Devices for tunnels that every new namespace has, down and without an address, where their module is loaded.
    static constexpr std::string_view kIdle[] = {
        "lo", "tunl0", "gre0", "gretap0", "erspan0", "ip_vti0", "ip6_vti0", "sit0", "ip6tnl0", "ip6gre0"};
    bool idle = false;
    for (const std::string_view one : kIdle) idle = idle || one == name;
    if (!idle) others += " " + name;
  }
  report(28, others.empty(), "interfaces", others.empty() ? "lo alone" : others);
  read_text("/proc/net/route", text);
  const std::size_t routes = lines_of(text).size();
  report(28, routes <= 1, "routes", std::to_string(routes <= 1 ? 0 : routes - 1));
  must_fail(29, "the host's 127.0.0.1", connect_to(AF_INET, "127.0.0.1", port));
  const int udp = ::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  sockaddr_in to{};
  to.sin_family = AF_INET;
  to.sin_port = htons(53);
  ::inet_pton(AF_INET, "192.0.2.53", &to.sin_addr);
  must_fail(30, "UDP to a name server",
      udp < 0 ? -1 : ::sendto(udp, "x", 1, 0, reinterpret_cast<const sockaddr*>(&to), sizeof to));
  std::string foreign;
  if (read_text("/etc/resolv.conf", text)) {
    for (const std::string& line : lines_of(text)) {
      if (line.starts_with("nameserver") && line.find(" 127.") == std::string::npos) foreign += " " + line;
      if (line.starts_with("search") && line != "search .") foreign += " " + line;
    }
  }
  report(31, foreign.empty(), "resolv.conf", foreign.empty() ? "nothing of the host's" : foreign);
  foreign.clear();
  if (read_text("/etc/hosts", text)) {
    for (const std::string& line : lines_of(text)) {
      if (!line.starts_with("127.") && !line.starts_with("::1") && !line.starts_with("f") && line[0] != '#')
        foreign += " " + line;
    }
  }
  report(31, foreign.empty(), "hosts", foreign.empty() ? "nothing of the host's" : foreign);
  must_fail(32, "IPv6", connect_to(AF_INET6, "2001:db8::1", 80));
  must_fail(32, "metadata service", connect_to(AF_INET, "169.254.169.254", 80));
  must_fail(32, "a public address", connect_to(AF_INET, "192.0.2.1", 80));
  must_fail(32, "ICMP", ::socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP));
  const int local = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_un name{};
  name.sun_family = AF_UNIX;
  std::memcpy(name.sun_path + 1, abstract_name.data(), std::min(abstract_name.size(), sizeof name.sun_path - 1));
  must_fail(33, "an abstract socket of the host",
      ::connect(local, reinterpret_cast<const sockaddr*>(&name),
          static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + abstract_name.size())));
}

// ---- system calls ----

void probe_system_calls() {
  const struct {
    int number;
    const char* name;
    int family;
    int type;
    int protocol;
  } sockets[] = {{35, "AF_VSOCK", AF_VSOCK, SOCK_STREAM, 0}, {36, "AF_ALG", AF_ALG, SOCK_SEQPACKET, 0},
      {37, "AF_PACKET", AF_PACKET, SOCK_RAW, 0}, {37, "raw IP", AF_INET, SOCK_RAW, IPPROTO_RAW},
      {38, "AF_NETLINK", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC},
      {38, "audit by netlink", AF_NETLINK, SOCK_RAW, NETLINK_AUDIT},
      {38, "netfilter by netlink", AF_NETLINK, SOCK_RAW, NETLINK_NETFILTER}, {39, "AF_TIPC", AF_TIPC, SOCK_RDM, 0},
      {39, "AF_XDP", 44, SOCK_RAW, 0}, {39, "AF_CAN", AF_CAN, SOCK_RAW, 1}, {39, "AF_KCM", AF_KCM, SOCK_DGRAM, 0},
      {39, "AF_RDS", AF_RDS, SOCK_SEQPACKET, 0}, {39, "AF_BLUETOOTH", AF_BLUETOOTH, SOCK_RAW, 0},
      {39, "AF_QIPCRTR", 42, SOCK_DGRAM, 0}, {39, "AF_SMC", 43, SOCK_STREAM, 0}};
  for (const auto& one : sockets)
    must_fail(one.number, one.name, ::socket(one.family, one.type | SOCK_CLOEXEC, one.protocol));
  char ring[256] = {};
  must_fail(40, "io_uring_setup", ::syscall(SYS_io_uring_setup, 1, ring));
  bpf_attr attr{};
  attr.map_type = BPF_MAP_TYPE_ARRAY;
  attr.key_size = attr.value_size = 4;
  attr.max_entries = 1;
  must_fail(41, "bpf", ::syscall(SYS_bpf, BPF_MAP_CREATE, &attr, sizeof attr));
  must_fail(41, "userfaultfd", ::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
  must_fail(41, "perf_event_open", ::syscall(SYS_perf_event_open, ring, 0, -1, -1, 0));
  must_fail(42, "keyctl", ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
  must_fail(42, "add_key", ::syscall(SYS_add_key, "user", "a", "b", 1, KEY_SPEC_PROCESS_KEYRING));
  const int traced = in_child([] { return ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) == 0 ? 0 : errno; });
  report(43, traced != 0, "ptrace of oneself", traced == 0 ? "it worked" : error_name(traced));
  must_fail(43, "ptrace of process 1", ::ptrace(PTRACE_SEIZE, 1, nullptr, nullptr));
  char byte = 0;
  iovec ours{&byte, 1};
  iovec theirs{ring, 1};
  must_fail(43, "process_vm_readv", ::process_vm_readv(1, &ours, 1, &theirs, 1, 0));
  must_fail(44, "mount", ::mount("none", "/tmp", "tmpfs", 0, nullptr));
  must_fail(44, "umount", ::umount2("/tmp", MNT_DETACH));
  must_fail(44, "fsopen", ::syscall(SYS_fsopen, "tmpfs", 0));
  must_fail(44, "open_tree", ::syscall(SYS_open_tree, AT_FDCWD, "/tmp", 1));
  must_fail(44, "pivot_root", ::syscall(SYS_pivot_root, "/tmp", "/tmp"));
  const int self = ::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
  must_fail(44, "setns", ::setns(self, 0));
  must_fail(44, "open_by_handle_at", ::syscall(SYS_open_by_handle_at, AT_FDCWD, ring, 0));
  must_fail(45, "init_module", ::syscall(SYS_init_module, ring, 0, ""));
  must_fail(45, "finit_module", ::syscall(SYS_finit_module, 0, "", 0));
  must_fail(45, "kexec_load", ::syscall(SYS_kexec_load, 0, 0, nullptr, 0));
  must_fail(45, "swapon", ::syscall(SYS_swapon, "/tmp/none", 0));
  must_fail(45, "acct", ::syscall(SYS_acct, nullptr));
  must_fail(45, "reboot", ::syscall(SYS_reboot, 1, 2, 3, nullptr));
  must_fail(45, "personality", ::personality(READ_IMPLIES_EXEC));
  must_fail(45, "quotactl", ::syscall(SYS_quotactl, 0, nullptr, 0, nullptr));
  must_fail(45, "sethostname", ::sethostname("x", 1));
  timeval now{};
  ::gettimeofday(&now, nullptr);
  must_fail(45, "settimeofday", ::settimeofday(&now, nullptr));
#ifdef __x86_64__
  must_fail(45, "iopl", ::syscall(SYS_iopl, 3));
  must_fail(45, "ioperm", ::syscall(SYS_ioperm, 0, 1, 1));
  must_fail(45, "modify_ldt", ::syscall(SYS_modify_ldt, 0, ring, 16));
  const int i386 = in_child([] {
    long result = 20;  // getpid
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    return result > 0 ? 0 : 1;
  });
  report(46, i386 != 0, "a 32-bit system call", i386 == 0 ? "it worked" : i386 > 128 ? "killed" : "refused");
  const int x32 = in_child([] { return ::syscall(0x40000000 + SYS_getpid) > 0 ? 0 : 1; });
  report(46, x32 != 0, "an x32 system call", x32 == 0 ? "it worked" : x32 > 128 ? "killed" : "refused");
#endif
  char tty_byte = 'x';
  must_fail(46, "TIOCSTI", ::ioctl(0, TIOCSTI, &tty_byte));
}

// ---- resources (the limits that the suite sets are small) ----

void probe_filling(int number, const std::string& folder, std::uint64_t bytes_limit, int files_limit) {
  const std::string path = folder + "/filling";
  int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  const std::vector<char> block(1 << 16, 'x');
  std::uint64_t written = 0;
  int stopped = 0;
  while (written < bytes_limit * 3) {
    const ssize_t size = ::write(fd, block.data(), block.size());
    if (size < 0) stopped = errno;
    if (size < 0) break;
    written += static_cast<std::uint64_t>(size);
  }
  ::close(fd);
  ::unlink(path.c_str());
  report(number, written <= bytes_limit && stopped != 0, "bytes in " + folder,
      std::to_string(written >> 10) + " KB, " + error_name(stopped));
  int made = 0;
  stopped = 0;
  for (; made < files_limit * 3; ++made) {
    fd = ::open((folder + "/f" + std::to_string(made)).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    if (fd < 0) stopped = errno;
    if (fd < 0) break;
    ::close(fd);
  }
  report(number, made <= files_limit && stopped != 0, "files in " + folder,
      std::to_string(made) + ", " + error_name(stopped));
  for (int i = 0; i < made; ++i) ::unlink((folder + "/f" + std::to_string(i)).c_str());
  ::signal(SIGXFSZ, SIG_IGN);
  fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
  must_fail(51, "a file of 1 TB in " + folder, ::ftruncate(fd, off_t{1} << 40));
  ::close(fd);
  ::unlink(path.c_str());
}

void probe_resources() {
  probe_filling(50, "/tmp", 8u << 20, 500);
  probe_filling(51, "/app/scratch", 16u << 20, 1000);
  const int opened = in_child([] {
    int count = 0;
    while (count < 100'000 && ::open("/dev/null", O_RDONLY | O_CLOEXEC) >= 0) ++count;
    return count <= 4096 && errno == EMFILE ? 0 : 1;
  });
  report(53, opened == 0, "open files", opened == 0 ? "at most 4096" : "more");
  rlimit core{};
  ::getrlimit(RLIMIT_CORE, &core);
  report(53, core.rlim_max == 0, "core dumps", core.rlim_max == 0 ? "none" : "possible");
}

// Half a processor is allowed: what four processes get of one second of wall time.
void probe_processors() {
  timespec begin{};
  ::clock_gettime(CLOCK_MONOTONIC, &begin);
  for (int i = 0; i < 4; ++i) {
    if (::fork() != 0) continue;
    for (timespec now{};;) {
      ::clock_gettime(CLOCK_MONOTONIC, &now);
      if ((now.tv_sec - begin.tv_sec) * 1000 + (now.tv_nsec - begin.tv_nsec) / 1'000'000 > 1000) ::_exit(0);
    }
  }
  while (::wait(nullptr) > 0) {
  }
  timespec end{};
  ::clock_gettime(CLOCK_MONOTONIC, &end);
  rusage usage{};
  ::getrusage(RUSAGE_CHILDREN, &usage);
  const double wall =
      static_cast<double>(end.tv_sec - begin.tv_sec) + static_cast<double>(end.tv_nsec - begin.tv_nsec) / 1e9;
  const double used = static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
      static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
  report(54, used <= wall * 0.8, "processors", std::to_string(used / wall) + " of 0.5 allowed");
}

// ---- what one run could leave to another ----

void probe_environment(const std::string& secret) {
  std::string planted;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    for (const std::string_view prefix : {"GUARD_", "GIT_", "AWS_", "NPM_", "npm_", "SSH_", "DOCKER_", "GITHUB_"}) {
      if (text.starts_with(prefix)) planted += " " + std::string(text.substr(0, text.find('=')));
    }
    if (text.find(secret) != std::string_view::npos) planted += " the secret";
  }
  report(55, planted.empty(), "variables of the host", planted.empty() ? "none" : planted);
}

void probe_channels(int shm_key) {
  // Found by the next run, were it the same folder.
  must_fail(60, "/dev/shm of another run", ::open("/dev/shm/planted", O_RDONLY | O_CLOEXEC));
  ::close(::open("/dev/shm/planted", O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
  must_fail(60, "System V memory of the host", ::shmget(shm_key, 1, 0));
  must_fail(60, "keyrings", ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_USER_KEYRING, 1));
  const int program = ::open("/bin/probe", O_RDONLY | O_CLOEXEC);
  must_fail(60, "a lock on a file that runs share", ::flock(program, LOCK_EX | LOCK_NB));
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--ran") return 42;
  // Some of this would do harm where it works.
  std::string first;
  if (!read_text("/proc/1/comm", first) || first.find("guard-init") == std::string::npos) {
    std::fputs("probe: this is no sandbox of guard's, and nothing is tried here\n", stderr);
    return 2;
  }
  std::string secret, host_file, host_path, abstract_name;
  int port = 0;
  int shm_key = 0;
  for (int i = 1; i + 1 < argc; i += 2) {
    const std::string_view option = argv[i];
    if (option == "--secret") secret = argv[i + 1];
    if (option == "--host-file") host_file = argv[i + 1];
    if (option == "--host-path") host_path = argv[i + 1];
    if (option == "--port") port = std::atoi(argv[i + 1]);
    if (option == "--abstract") abstract_name = argv[i + 1];
    if (option == "--shm-key") shm_key = std::atoi(argv[i + 1]);
  }
  probe_proc(host_path, secret);
  probe_writing();
  probe_executing(3, "/tmp");
  probe_executing(3, "/dev/shm");
  probe_memory_file(3);
  probe_executing(4, "/app/scratch");
  probe_host_files(host_file);
  probe_identity();
  probe_network(port, abstract_name);
  probe_system_calls();
  probe_resources();
  probe_processors();
  probe_environment(secret);
  probe_channels(shm_key);
  std::printf("done\n");
  return 0;
}
