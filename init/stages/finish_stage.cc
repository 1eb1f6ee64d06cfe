#include "init/stages/finish_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "init/processes.h"

namespace guard::init {
namespace {

constexpr unsigned long kCoverFlags = MS_RDONLY | MS_NOSUID | MS_NODEV | MS_NOEXEC;

bool cover(const char* path) {
  struct stat found {};
  if (stat(path, &found) != 0) return false;
  if (S_ISDIR(found.st_mode)) return mount("tmpfs", path, "tmpfs", kCoverFlags, "mode=0555,size=4k,nr_inodes=2") == 0;
  return mount("/dev/null", path, nullptr, MS_BIND, nullptr) == 0 &&
      mount(nullptr, path, nullptr, MS_BIND | MS_REMOUNT | kCoverFlags, nullptr) == 0;
}

// Where bubblewrap could write to them, it has mounted them once more, read-only.
bool remount_sysctls(unsigned long read_only) {
  const unsigned long flags = MS_BIND | MS_REMOUNT | MS_NOSUID | MS_NODEV | MS_NOEXEC | read_only;
  return mount(nullptr, "/proc/sys", nullptr, flags, nullptr) == 0;
}

bool drop_capabilities() {
  for (int one = 0; one <= 63; ++one) {
    if (prctl(PR_CAPBSET_DROP, one, 0, 0, 0) != 0 && errno != EINVAL) return false;  // the kernel has no more
  }
  if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_CLEAR_ALL, 0, 0, 0) != 0) return false;
  __user_cap_header_struct header{_LINUX_CAPABILITY_VERSION_3, 0};
  const __user_cap_data_struct none[2] = {};
  return syscall(SYS_capset, &header, none) == 0;
}

// Nothing, or the step that failed, with errno.
const char* finish() {
  // The one that we enter is the last that may be made.
  const bool mounted = remount_sysctls(0);
  if ((!mounted && errno != EINVAL) || !write_text("/proc/sys/user/max_user_namespaces", "1") ||
      (mounted && !remount_sysctls(MS_RDONLY))) {
    return "limiting user namespaces";
  }
  if (unshare(CLONE_NEWUSER) != 0 || !write_text("/proc/self/gid_map", "1000 0 1") ||
      !write_text("/proc/self/uid_map", "1000 0 1")) {
    return "entering a user namespace";
  }
  return drop_capabilities() ? nullptr : "dropping capabilities";
}

}  // namespace

int run_finish_stage(int argc, char** argv) {
  const char* failed = nullptr;
  int at = 2;
  for (; failed == nullptr && at < argc && strcmp(argv[at], "--") != 0; ++at) {
    if (!cover(argv[at])) failed = argv[at];
  }
  if (failed == nullptr && at + 1 >= argc) {
    fputs("usage: guard-init --finish [MASKED]... -- INIT [ARG...]\n", stderr);
    return kExitUsage;
  }
  if (failed == nullptr) failed = finish();
  if (failed == nullptr) {
    execv(argv[at + 1], argv + at + 1);
    failed = argv[at + 1];
  }
  fprintf(stderr, "guard-init: %s: %s\n", failed, strerror(errno));
  return kExitCannotServe;
}

}  // namespace guard::init
