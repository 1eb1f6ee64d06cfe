#include "init/tasks/file_operations.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "init/empty_folder.h"
#include "init/processes.h"
#include "init/tasks/connection.h"
#include "init/tasks/folder_watch.h"
#include "init/tasks/task_output.h"

namespace guard::init {
namespace {

using task_protocol::TaskOperation;

constexpr int kListDepthMax = 64;
constexpr long long kUsageEntriesMax = 1'000'000;
char g_bytes[64 * 1024];

TaskOutput g_output;

Failure failed(const char* step) { return {step, errno}; }

// With its parents; what is there already may be a link to a folder.
bool make_folders(char* path) {
  for (char* slash = strchr(path + 1, '/'); slash != nullptr; slash = strchr(slash + 1, '/')) {
    *slash = '\0';
    const bool made = mkdir(path, 0755) == 0 || errno == EEXIST;
    *slash = '/';
    if (!made) return false;
  }
  if (mkdir(path, 0755) == 0) return true;
  struct stat found {};
  return errno == EEXIST && stat(path, &found) == 0 && (S_ISDIR(found.st_mode) || (errno = ENOTDIR, false));
}

// The file that a name stands for, links followed, and its folder, which is made. False with errno.
bool find_target(const char* name, char (&target)[PATH_MAX], char (&folder)[PATH_MAX]) {
  if (realpath(name, target) == nullptr) {
    if (errno != ENOENT) return false;
    if (snprintf(target, sizeof target, "%s", name) >= PATH_MAX) return errno = ENAMETOOLONG, false;
  }
  const char* const slash = strrchr(target, '/');
  if (slash == nullptr || slash == target) {
    snprintf(folder, sizeof folder, "%s", slash == nullptr ? "." : "/");
    return true;
  }
  snprintf(folder, sizeof folder, "%.*s", static_cast<int>(slash - target), target);
  return make_folders(folder);
}

// A file without a name in `folder`, where its file system has such; else with `name`, which is then not empty.
int open_nameless(const char* folder, char (&name)[PATH_MAX]) {
  name[0] = '\0';
  const int fd = open(folder, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)) return fd;
  if (snprintf(name, sizeof name, "%s/%s%d", folder, kPutName, getpid()) >= PATH_MAX) return errno = ENAMETOOLONG, -1;
  unlink(name);
  return open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
}

Failure take_in(int fd) {
  for (;;) {
    const ssize_t size = read(0, g_bytes, sizeof g_bytes);
    if (size == 0) return {};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed("reading what was sent");
    if (!write_all(fd, g_bytes, static_cast<size_t>(size))) return failed("writing the file");
  }
}

Failure put(const char* wanted, const char* mode_text) {
  static char target[PATH_MAX];
  static char folder[PATH_MAX];
  static char name[PATH_MAX];
  if (!find_target(wanted, target, folder)) return failed("making the folder");
  mode_t mode = static_cast<mode_t>(strtoul(mode_text, nullptr, 8)) & 0777;
  struct stat found {};
  if (stat(target, &found) == 0) {
    if (!S_ISREG(found.st_mode)) return {"what is there is no file", S_ISDIR(found.st_mode) ? EISDIR : EINVAL};
    mode = found.st_mode & 0777;
  }
  const int fd = open_nameless(folder, name);
  if (fd < 0) return failed("making the file");
  Failure failure = take_in(fd);
  if (failure.step == nullptr && fchmod(fd, mode) != 0) failure = failed("setting the mode");
  if (failure.step == nullptr && name[0] == '\0') {
    char opened[64];
    snprintf(opened, sizeof opened, "/proc/self/fd/%d", fd);
    if (snprintf(name, sizeof name, "%s/%s%d", folder, kPutName, getpid()) >= PATH_MAX) {
      failure = {"naming the file", ENAMETOOLONG};
    } else if (unlink(name); linkat(AT_FDCWD, opened, AT_FDCWD, name, AT_SYMLINK_FOLLOW) != 0) {
      failure = failed("naming the file");
    }
  }
  if (failure.step == nullptr && rename(name, target) != 0) failure = failed("naming the file");
  if (failure.step != nullptr && name[0] != '\0') unlink(name);
  close(fd);
  return failure;
}

Failure get(const char* path) {
  // Not blocking: what is no file (a pipe, say) is refused and not waited for.
  const int fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
  if (fd < 0) return failed("opening the file");
  struct stat found {};
  if (fstat(fd, &found) != 0) return failed("looking at the file");
  if (!S_ISREG(found.st_mode)) return {"it is no file", S_ISDIR(found.st_mode) ? EISDIR : EINVAL};
  for (;;) {
    const ssize_t size = read(fd, g_bytes, sizeof g_bytes);
    if (size == 0) return {};
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return failed("reading the file");
    if (!write_all(1, g_bytes, static_cast<size_t>(size))) return failed("handing the file out");
  }
}

bool add_entry(int folder, const char* name, const char* shown, const struct stat& found) {
  const char type = S_ISREG(found.st_mode) ? 'f' : S_ISDIR(found.st_mode) ? 'd' : S_ISLNK(found.st_mode) ? 'l' : 'o';
  char fields[96];
  const int size = snprintf(fields, sizeof fields, "%c %o %lld %lld%09ld", type, found.st_mode & 07777u,
      static_cast<long long>(found.st_size), static_cast<long long>(found.st_mtim.tv_sec), found.st_mtim.tv_nsec);
  static char link[PATH_MAX];
  const ssize_t length = type == 'l' ? readlinkat(folder, name, link, sizeof link - 1) : 0;
  link[length > 0 ? length : 0] = '\0';
  return g_output.add(fields, static_cast<size_t>(size) + 1) && g_output.add(shown, strlen(shown) + 1) &&
      g_output.add(link, strlen(link) + 1);
}

// `path` is that of `folder` below the one that was asked for, and has room for what lies in it.
bool list_below(int folder, char (&path)[PATH_MAX], size_t length, long long depth) {
  DIR* const entries = fdopendir(folder);
  if (entries == nullptr) return close(folder), false;
  bool told = true;
  while (told) {
    const dirent* const entry = readdir(entries);
    if (entry == nullptr) break;
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    const int added = snprintf(path + length, sizeof path - length, "%s%s", length == 0 ? "" : "/", entry->d_name);
    struct stat found {};
    if (static_cast<size_t>(added) >= sizeof path - length ||
        fstatat(dirfd(entries), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
      continue;  // gone meanwhile
    told = add_entry(dirfd(entries), entry->d_name, path, found);
    if (!told || !S_ISDIR(found.st_mode) || depth <= 1) continue;
    const int below = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) told = list_below(below, path, length + static_cast<size_t>(added), depth - 1);
  }
  closedir(entries);
  return told;
}

Failure list(const char* path, const char* depth_text) {
  long long depth = 1;
  if (!read_number(depth_text, depth)) return {"the depth is no number", EINVAL};
  const int folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (folder < 0) return failed("opening the folder");
  static char below[PATH_MAX];
  if (!list_below(folder, below, 0, depth < kListDepthMax ? depth : kListDepthMax) || !g_output.flush())
    return failed("listing the folder");
  return {};
}

Failure stat_entry(const char* path) {
  struct stat found {};
  if (fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) != 0) return failed("looking at it");
  if (!add_entry(AT_FDCWD, path, path, found) || !g_output.flush()) return failed("telling of it");
  return {};
}

struct Usage {
  long long bytes = 0;
  long long files = 0;
};

void count_below(int folder, int depth, Usage& usage) {
  DIR* const entries = fdopendir(folder);
  if (entries == nullptr) {
    close(folder);
    return;
  }
  while (const dirent* const entry = readdir(entries)) {
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    struct stat found {};
    if (usage.files >= kUsageEntriesMax || fstatat(dirfd(entries), entry->d_name, &found, AT_SYMLINK_NOFOLLOW) != 0)
      continue;
    ++usage.files;
    usage.bytes +=
        static_cast<long long>(found.st_blocks) * 512 / static_cast<long long>(found.st_nlink ? found.st_nlink : 1);
    if (!S_ISDIR(found.st_mode) || depth >= kListDepthMax) continue;
    const int below = openat(dirfd(entries), entry->d_name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (below >= 0) count_below(below, depth + 1, usage);
  }
  closedir(entries);
}

void tell(const char* key, long long value) {
  char line[96];
  g_output.add(line, static_cast<size_t>(snprintf(line, sizeof line, "%s=%lld\n", key, value)));
}

// With that of its children that it has waited for: each process that there has been is counted once, in itself or in
// what has waited for it, up to init.
long long cpu_ticks(long long pid) {
  char text[1024];
  if (!read_proc(pid, "stat", text)) return 0;
  const char* const fields = strrchr(text, ')');  // the name in front of it may hold anything
  long long user = 0, system = 0, of_children_user = 0, of_children_system = 0;
  constexpr char kFormat[] = ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lld %lld %lld %lld";
  if (fields == nullptr || sscanf(fields, kFormat, &user, &system, &of_children_user, &of_children_system) != 4)
    return 0;
  return user + system + of_children_user + of_children_system;
}

Failure usage(bool with_folders) {
  long long processes = 0;
  long long pages = 0;
  long long ticks = 0;
  DIR* const proc = opendir("/proc");
  if (proc == nullptr) return failed("listing processes");
  while (const dirent* const entry = readdir(proc)) {
    long long pid = 0;
    char text[128];
    if (!read_number(entry->d_name, pid) || !read_proc(pid, "statm", text)) continue;
    ++processes;
    long long resident = 0;
    if (sscanf(text, "%*d %lld", &resident) == 1) pages += resident;
    ticks += cpu_ticks(pid);
  }
  closedir(proc);
  tell("processes", processes);
  tell("memory_bytes", pages * sysconf(_SC_PAGESIZE));
  tell("cpu_ms", ticks * 1000 / sysconf(_SC_CLK_TCK));
  static constexpr struct {
    const char* path;
    const char* bytes;
    const char* files;
  } kFolders[] = {{"/workspace", "workspace_bytes", "workspace_files"}, {"/tmp", "tmp_bytes", "tmp_files"}};
  for (const auto& folder : kFolders) {
    if (!with_folders) break;
    const int fd = open(folder.path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) continue;
    Usage used;
    count_below(fd, 1, used);
    tell(folder.bytes, used.bytes);
    tell(folder.files, used.files);
  }
  return g_output.flush() ? Failure() : failed("telling of it");
}

}  // namespace

Failure run_file_operation(TaskOperation kind, int argc, char** argv) {
  const bool two = kind == TaskOperation::put || kind == TaskOperation::list || kind == TaskOperation::move ||
      kind == TaskOperation::watch;
  const int needed = kind == TaskOperation::usage ? (argc == 1 ? 1 : 0) : two ? 2 : 1;
  if (argc != needed) return {"reading its arguments", EINVAL};
  switch (kind) {
    case TaskOperation::put: return put(argv[0], argv[1]);
    case TaskOperation::get: return get(argv[0]);
    case TaskOperation::list: return list(argv[0], argv[1]);
    case TaskOperation::stat: return stat_entry(argv[0]);
    case TaskOperation::move: return rename(argv[0], argv[1]) == 0 ? Failure() : failed("moving it");
    case TaskOperation::remove: return remove_entry(AT_FDCWD, argv[0]) ? Failure() : failed("removing it");
    case TaskOperation::make_folder: return make_folders(argv[0]) ? Failure() : failed("making the folder");
    case TaskOperation::usage: return usage(argc == 1);
    case TaskOperation::connect: return run_connection(argv[0]);
    case TaskOperation::watch: return watch_folder(argv[0], argv[1]);
    case TaskOperation::program: break;
  }
  return {"no such operation", ENOSYS};
}

}  // namespace guard::init
