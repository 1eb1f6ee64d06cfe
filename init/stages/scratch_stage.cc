#include "init/stages/scratch_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <initializer_list>

#include "init/processes.h"

namespace guard::init {
namespace {

constexpr int kFoldersMax = 1024;
constexpr unsigned long kScratchFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

struct Options {
  const char* at = nullptr;
  const char* prepared = nullptr;
  const char* plain = nullptr;
  char* scratch[kFoldersMax] = {};
  int scratch_count = 0;
  char* masked[kFoldersMax] = {};
  int masked_count = 0;
  char** command = nullptr;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--") == 0) {
      options.command = argv + i + 1;
      return i + 2 < argc && options.at != nullptr && options.prepared != nullptr && options.plain != nullptr;
    }
    if (i + 1 >= argc) return false;
    if (strcmp(argv[i], "--scratch-at") == 0) {
      options.at = argv[++i];
    } else if (strcmp(argv[i], "--prepared") == 0) {
      options.prepared = argv[++i];
    } else if (strcmp(argv[i], "--plain") == 0) {
      options.plain = argv[++i];
    } else if (strcmp(argv[i], "--scratch") == 0 && options.scratch_count < kFoldersMax) {
      options.scratch[options.scratch_count++] = argv[++i];
    } else if (strcmp(argv[i], "--mask") == 0 && options.masked_count < kFoldersMax) {
      options.masked[options.masked_count++] = argv[++i];
    } else {
      return false;
    }
  }
  return false;
}

bool begins_with(const char* path, char wanted) {
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char value = '\0';
  const ssize_t size = read(fd, &value, 1);
  close(fd);
  return size == 1 && value == wanted;
}

// By AppArmor: then a namespace can be made, and is good for nothing. A distribution's own profile for bubblewrap takes
// every capability from what that runs.
bool user_namespaces_are_restricted() {
  if (begins_with("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", '1')) return true;
  return begins_with("/sys/module/apparmor/parameters/enabled", 'Y') &&
      access("/etc/apparmor.d/bwrap-userns-restrict", F_OK) == 0 &&
      access("/etc/apparmor.d/disable/bwrap-userns-restrict", F_OK) != 0;
}

// We stay who we are: bubblewrap maps the user inside to this one.
bool map_ourselves(uid_t user, gid_t group) {
  char line[64];
  if (!write_text("/proc/self/setgroups", "deny")) return false;
  snprintf(line, sizeof line, "%u %u 1", group, group);
  if (!write_text("/proc/self/gid_map", line)) return false;
  snprintf(line, sizeof line, "%u %u 1", user, user);
  return write_text("/proc/self/uid_map", line);
}

bool mount_folder(const char* at, int number, const char* wanted) {
  unsigned mode = 0;
  unsigned long long bytes = 0;
  unsigned long long files = 0;
  if (sscanf(wanted, "%o:%llu:%llu", &mode, &bytes, &files) != 3) return false;
  char path[4096];
  char data[128];
  const int length = snprintf(path, sizeof path, "%s/%d", at, number);
  if (length < 0 || static_cast<size_t>(length) >= sizeof path) return false;
  snprintf(data, sizeof data, "size=%llu,nr_inodes=%llu,mode=%04o", bytes, files, mode);
  return mkdir(path, 0755) == 0 && mount("tmpfs", path, "tmpfs", kScratchFlags, data) == 0;
}

bool mount_all(const Options& options) {
  // What is mounted from here on is nobody else's business.
  if (mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) return false;
  char data[64];
  snprintf(data, sizeof data, "size=64k,nr_inodes=%d,mode=0755", options.scratch_count + 8);
  if (mount("tmpfs", options.at, "tmpfs", kScratchFlags, data) != 0) return false;
  for (int i = 0; i < options.scratch_count; ++i) {
    if (!mount_folder(options.at, i, options.scratch[i])) return false;
  }
  return true;
}

}  // namespace

int run_scratch_stage(int argc, char** argv) {
  Options options;
  if (!parse(argc, argv, options)) {
    fputs(
        "usage: guard-init --scratch-at FOLDER --prepared FD --plain FD [--scratch MODE:BYTES:FILES]... [--mask "
        "PATH]... -- BWRAP INIT [ARG...]\n",
        stderr);
    return kExitUsage;
  }
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const char* args = options.plain;
  if (!user_namespaces_are_restricted() && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
    if (!map_ourselves(user, group)) {
      // Nobody that anything could be run as.
      fprintf(stderr, "guard-init: mapping the user: %s\n", strerror(errno));
      return kExitCannotServe;
    }
    if (mount_all(options)) args = options.prepared;
  }
  const bool prepared = args == options.prepared;
  close(atoi(prepared ? options.plain : options.prepared));

  // BWRAP --args FD -- [INIT --finish MASKED... --] INIT [--filter] ARG...
  int rest = 0;
  while (options.command[2 + rest] != nullptr) ++rest;
  char** command = static_cast<char**>(calloc(static_cast<size_t>(rest + options.masked_count) + 10, sizeof(char*)));
  if (command == nullptr) return kExitCannotServe;
  int count = 0;
  const auto add = [&](const char* word) { command[count++] = const_cast<char*>(word); };
  for (const char* word : {static_cast<const char*>(options.command[0]), "--args", args, "--"}) add(word);
  if (prepared) {
    add(options.command[1]);
    add("--finish");
    for (int i = 0; i < options.masked_count; ++i) add(options.masked[i]);
    add("--");
  }
  add(options.command[1]);
  if (prepared) add("--filter");
  for (int i = 0; i < rest; ++i) add(options.command[2 + i]);
  execv(command[0], command);
  fprintf(stderr, "guard-init: executing %s: %s\n", options.command[0], strerror(errno));
  free(static_cast<void*>(command));
  return kExitCannotServe;
}

}  // namespace guard::init
