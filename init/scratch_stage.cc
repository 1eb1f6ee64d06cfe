#include "init/scratch_stage.h"

#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

namespace guard::init {
namespace {

constexpr int kExitUsage = 64;
constexpr int kExitCannotServe = 70;
constexpr int kFoldersMax = 1024;
constexpr unsigned long kScratchFlags = MS_NOSUID | MS_NODEV | MS_NOEXEC;

struct Options {
  const char* at = nullptr;
  const char* prepared = nullptr;
  const char* plain = nullptr;
  char* scratch[kFoldersMax] = {};
  int scratch_count = 0;
  char** command = nullptr;
};

bool parse(int argc, char** argv, Options& options) {
  for (int i = 1; i < argc; ++i) {
    if (strcmp(argv[i], "--") == 0) {
      options.command = argv + i + 1;
      return i + 1 < argc && options.at != nullptr && options.prepared != nullptr && options.plain != nullptr;
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
    } else {
      return false;
    }
  }
  return false;
}

bool write_text(const char* path, const char* text) {
  const int fd = open(path, O_WRONLY | O_CLOEXEC);
  if (fd < 0) return false;
  const ssize_t wanted = static_cast<ssize_t>(strlen(text));
  const bool written = write(fd, text, static_cast<size_t>(wanted)) == wanted;
  close(fd);
  return written;
}

bool user_namespaces_are_restricted() {
  const int fd = open("/proc/sys/kernel/apparmor_restrict_unprivileged_userns", O_RDONLY | O_CLOEXEC);
  if (fd < 0) return false;
  char value = '0';
  const ssize_t size = read(fd, &value, 1);
  close(fd);
  return size == 1 && value != '0';
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
        "usage: guard-init --scratch-at FOLDER --prepared FD --plain FD [--scratch MODE:BYTES:FILES]... -- BWRAP "
        "[ARG...]\n",
        stderr);
    return kExitUsage;
  }
  const uid_t user = geteuid();
  const gid_t group = getegid();
  const char* args = options.plain;
  // Where AppArmor restricts them, a namespace can be made, and is good for nothing.
  if (!user_namespaces_are_restricted() && unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0) {
    if (!map_ourselves(user, group)) {
      // Nobody that anything could be run as.
      fprintf(stderr, "guard-init: mapping the user: %s\n", strerror(errno));
      return kExitCannotServe;
    }
    if (mount_all(options)) args = options.prepared;
  }
  close(atoi(args == options.prepared ? options.plain : options.prepared));

  // BWRAP --args FD -- ARG...
  int rest = 0;
  while (options.command[1 + rest] != nullptr) ++rest;
  char** command = static_cast<char**>(calloc(static_cast<size_t>(rest) + 5, sizeof(char*)));
  if (command == nullptr) return kExitCannotServe;
  command[0] = options.command[0];
  command[1] = const_cast<char*>("--args");
  command[2] = const_cast<char*>(args);
  command[3] = const_cast<char*>("--");
  memcpy(command + 4, options.command + 1, static_cast<size_t>(rest) * sizeof(char*));
  execv(command[0], command);
  fprintf(stderr, "guard-init: executing %s: %s\n", options.command[0], strerror(errno));
  free(static_cast<void*>(command));
  return kExitCannotServe;
}

}  // namespace guard::init
