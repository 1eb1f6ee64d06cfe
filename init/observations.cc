#include "init/observations.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "init/processes.h"
#include "init/stream.h"

namespace guard::init {
namespace {

void add_limit(Lines& lines, const char* key, __rlimit_resource_t resource) {
  rlimit limit{};
  if (getrlimit(resource, &limit) != 0) return;
  if (limit.rlim_max == RLIM_INFINITY) {
    lines.add(key, "unlimited");
  } else {
    lines.add(key, static_cast<long long>(limit.rlim_max));
  }
}

long long counter_in(const char* path, const char* label) {
  char text[1024];
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return 0;
  const ssize_t size = read(fd, text, sizeof text - 1);
  close(fd);
  text[size > 0 ? size : 0] = '\0';
  const size_t length = strlen(label);
  for (const char* line = text; line != nullptr && *line != '\0';) {
    if (strncmp(line, label, length) == 0) return strtoll(line + length, nullptr, 10);
    line = strchr(line, '\n');
    if (line != nullptr) ++line;
  }
  return 0;
}

// Whether this user may change what lies in a folder, or make it so.
bool may_change(const char* folder) {
  struct stat found {};
  if (stat(folder, &found) != 0) return false;
  return access(folder, W_OK) == 0 || chmod(folder, found.st_mode & 07777) == 0;
}

// Whether /tmp is what was asked for: not every way of mounting can limit files, or forbid to execute them.
void add_temporary_folder(Lines& lines) {
  struct statvfs folder {};
  if (statvfs("/tmp", &folder) != 0) return;
  // A tmpfs without a limit shows none; other file systems show how many files the whole disk may hold.
  lines.add("tmp_bytes", static_cast<long long>(folder.f_blocks) * static_cast<long long>(folder.f_frsize));
  lines.add("tmp_files", static_cast<long long>(folder.f_files));
  lines.add("tmp_noexec", (folder.f_flag & ST_NOEXEC) != 0 ? 1 : 0);
}

}  // namespace

CgroupEvents cgroup_events() {
  CgroupEvents events;
  events.oom_kills = counter_in("/sys/fs/cgroup/memory/memory.oom_control", "oom_kill ") +
      counter_in("/sys/fs/cgroup/memory.events", "oom_kill ");
  events.pids_refused =
      counter_in("/sys/fs/cgroup/pids/pids.events", "max ") + counter_in("/sys/fs/cgroup/pids.events", "max ");
  return events;
}

bool is_full(const char* folder) {
  struct statvfs found {};
  if (statvfs(folder, &found) != 0) return false;
  return (found.f_blocks > 0 && found.f_bfree == 0) || (found.f_files > 0 && found.f_ffree == 0);
}

void say_hello() {
  char status[8192] = {};
  read_proc(getpid(), "status", status);
  static const struct {
    const char* label;
    const char* key;
  } kFields[] = {{"CapInh:", "cap_inh"}, {"CapPrm:", "cap_prm"}, {"CapEff:", "cap_eff"}, {"CapBnd:", "cap_bnd"},
      {"Seccomp:", "seccomp"}, {"Seccomp_filters:", "seccomp_filters"}};
  Lines lines;
  lines.add("protocol", 1);
  lines.add("pid", getpid());
  lines.add("uid", getuid());
  lines.add("gid", getgid());
  for (char* line = strtok(status, "\n"); line != nullptr; line = strtok(nullptr, "\n")) {
    for (const auto& field : kFields) {
      const size_t length = strlen(field.label);
      if (strncmp(line, field.label, length) != 0) continue;
      const char* value = line + length;
      while (*value == '\t' || *value == ' ') ++value;
      lines.add(field.key, value);
    }
  }
  // Not every kernel that a sandbox brings along shows these two in /proc.
  lines.add("no_new_privs", prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0));
  unsigned long long ambient = 0;
  for (unsigned long capability = 0; capability < 64; ++capability) {
    if (prctl(PR_CAP_AMBIENT, PR_CAP_AMBIENT_IS_SET, capability, 0, 0) == 1) ambient |= 1ull << capability;
  }
  char set[32];
  snprintf(set, sizeof set, "%016llx", ambient);
  lines.add("cap_amb", set);
  utsname kernel{};
  if (uname(&kernel) == 0) lines.add("kernel", kernel.release);
  static gid_t groups[1024];
  const int group_count = getgroups(1024, groups);
  static char list[16384];
  size_t list_size = 0;
  for (int i = 0; i < group_count && list_size + 16 < sizeof list; ++i) {
    list_size +=
        static_cast<size_t>(snprintf(list + list_size, sizeof list - list_size, i == 0 ? "%u" : " %u", groups[i]));
  }
  list[list_size] = '\0';
  lines.add("groups", list);
  add_limit(lines, "rlimit_core", RLIMIT_CORE);
  add_limit(lines, "rlimit_nofile", RLIMIT_NOFILE);
  add_limit(lines, "rlimit_fsize", RLIMIT_FSIZE);
  add_limit(lines, "rlimit_nproc", RLIMIT_NPROC);
  add_temporary_folder(lines);
  lines.add("sources_writable", may_change(".") || may_change("./src") || may_change("./sandbox") ? 1 : 0);
  lines.send(init_protocol::FrameType::hello);
}

}  // namespace guard::init
