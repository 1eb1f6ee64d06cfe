// Tries what a sandbox must not let happen, and says what came of each: "name result", 0 for "it worked", else the
// errno. One line "seen NAME" for each thing that can be seen.
#include <dirent.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/bpf.h>
#include <linux/keyctl.h>
#include <linux/netlink.h>
#include <linux/sched.h>
#include <linux/userfaultfd.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

void say(const char* what, long result) { std::printf("%s %d\n", what, result < 0 ? errno : 0); }

void try_write(const char* name, const std::string& folder) {
  say(name, ::open((folder + "/planted").c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0600));
}

void try_open(const char* path, int flags) {
  std::printf("open:");
  say(path, ::open(path, flags | O_CLOEXEC));
}

void list(const char* folder) {
  DIR* entries = ::opendir(folder);
  if (entries == nullptr) return;
  while (const dirent* entry = ::readdir(entries)) {
    if (entry->d_name[0] != '.')
      std::printf("seen %s%s%s\n", folder, std::strcmp(folder, "/") == 0 ? "" : "/", entry->d_name);
  }
  ::closedir(entries);
}

void try_socket(const char* name, int family, int type, int protocol = 0) {
  say(name, ::socket(family, type | SOCK_CLOEXEC, protocol));
}

// Calls of another architecture kill the caller, so a child makes them.
void try_in_child(const char* name, void (*act)()) {
  std::fflush(stdout);
  const pid_t pid = ::fork();
  if (pid == 0) {
    act();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(pid, &status, 0);
  std::printf("%s %s\n", name, WIFSIGNALED(status) ? "killed" : WEXITSTATUS(status) == 0 ? "worked" : "refused");
}

}  // namespace

int main() {
  for (const char* folder : {"/", "/app", "/dev", "/proc"}) list(folder);

  for (const char* folder : {"/", "/app", "/bin", "/dev", "/dev/shm", "/proc", "/proc/sys/kernel"}) {
    try_write((std::string("write:") + folder).c_str(), folder);
  }
  try_write("write:/tmp", "/tmp");
  try_write("write:scratch", "/app/scratch");
  try_open("/app/scratch/given", O_WRONLY);
  try_open("/staged/given", O_WRONLY);
  say("unlink:staged", ::unlink("/staged/given"));

  for (const char* path : {"/etc/shadow", "/var/run/docker.sock", "/root", "/home"}) try_open(path, O_RDONLY);
  for (const char* path : {"/dev/mem", "/dev/kmsg", "/dev/kvm", "/dev/fuse", "/proc/kcore", "/proc/kmsg", "/proc/keys",
           "/proc/timer_list", "/proc/kallsyms"}) {
    try_open(path, O_RDONLY);
  }
  for (const char* path : {"/proc/sysrq-trigger", "/proc/sys/kernel/core_pattern", "/proc/self/oom_score_adj"}) {
    try_open(path, O_WRONLY);
  }

  say("mount", ::mount("none", "/tmp", "tmpfs", 0, nullptr));
  say("remount", ::mount("none", "/", nullptr, MS_REMOUNT, nullptr));
  say("umount", ::umount2("/tmp", MNT_DETACH));
  say("mknod", ::mknod("/tmp/null", S_IFCHR | 0666, makedev(1, 3)));
  say("chroot", ::chroot("/tmp"));
  say("unshare_user", ::unshare(CLONE_NEWUSER));
  say("unshare_mount", ::unshare(CLONE_NEWNS));
  say("clone_user", ::syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0));
  say("clone3", ::syscall(SYS_clone3, nullptr, 0));
  say("setns", ::setns(0, 0));
  say("setuid0", ::setuid(0));
  say("bpf", ::syscall(SYS_bpf, BPF_PROG_LOAD, nullptr, 0));
  say("userfaultfd", ::syscall(SYS_userfaultfd, UFFD_USER_MODE_ONLY));
  say("perf_event_open", ::syscall(SYS_perf_event_open, nullptr, 0, -1, -1, 0));
  say("io_uring_setup", ::syscall(SYS_io_uring_setup, 1, nullptr));
  say("keyctl", ::syscall(SYS_keyctl, KEYCTL_GET_KEYRING_ID, KEY_SPEC_SESSION_KEYRING, 0));
  say("add_key", ::syscall(SYS_add_key, "user", "a", "b", 1, KEY_SPEC_PROCESS_KEYRING));
  say("open_by_handle_at", ::syscall(SYS_open_by_handle_at, AT_FDCWD, nullptr, 0));
  say("modify_ldt", ::syscall(SYS_modify_ldt, 0, nullptr, 0));
  say("personality", ::personality(0x0400000));  // READ_IMPLIES_EXEC
  say("personality_query", ::personality(0xffffffff));
  say("ptrace_me", ::syscall(SYS_ptrace, 0, 0, nullptr, nullptr));
  rlimit more{1 << 20, 1 << 20};
  say("raise_nofile", ::setrlimit(RLIMIT_NOFILE, &more));
  say("setpriority", ::setpriority(PRIO_PROCESS, 0, -5));

  try_socket("socket:unix", AF_UNIX, SOCK_STREAM);
  try_socket("socket:inet", AF_INET, SOCK_STREAM);
  try_socket("socket:inet_raw", AF_INET, SOCK_RAW, IPPROTO_ICMP);
  try_socket("socket:netlink", AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
  try_socket("socket:packet", AF_PACKET, SOCK_RAW);
  try_socket("socket:vsock", AF_VSOCK, SOCK_STREAM);
  try_socket("socket:alg", AF_ALG, SOCK_SEQPACKET);
  try_socket("socket:bluetooth", AF_BLUETOOTH, SOCK_RAW);

#ifdef __x86_64__
  try_in_child("i386_call", [] {
    long result = 20;  // getpid
    asm volatile("int $0x80" : "+a"(result) : : "memory");
    ::_exit(result > 0 ? 0 : 1);
  });
  try_in_child("x32_call", [] { ::_exit(::syscall(0x40000000 + SYS_getpid) > 0 ? 0 : 1); });
#endif
  return 0;
}
