#include "init/tasks/folder_watch.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <sys/stat.h>

#include "init/processes.h"
#include "init/tasks/file_operations.h"
#include "init/tasks/task_output.h"

// One watch per folder; paths are relative to the one that was asked for, which is the working folder. What is new is
// watched first and listed then, so that nothing made in between is missed; it may be said twice. Wherever something is
// there and can't be watched (no room, no right, a path too long), or the kernel has dropped events, the reader is told
// to look again.
namespace guard::init {
namespace {

constexpr int kFoldersMax = 8192;
constexpr size_t kPathBytesMax = 2u << 20;  // of all of them
constexpr uint32_t kEvents = IN_CREATE | IN_MODIFY | IN_DELETE | IN_MOVED_FROM | IN_MOVED_TO | IN_ATTRIB |
    IN_DELETE_SELF | IN_MOVE_SELF | IN_ONLYDIR | IN_EXCL_UNLINK;

struct Folder {
  int watch;
  char* path;  // "" for the one that was asked for
};

int g_inotify = -1;
bool g_deep = false;
Folder g_folders[kFoldersMax];
int g_count = 0;
size_t g_path_bytes = 0;
TaskOutput g_said;

bool tell(char kind, const char* path) {
  const char head[] = {kind, '\0'};
  return g_said.add(head, sizeof head) && g_said.add(path, strlen(path) + 1);
}

void forget(int place) {
  g_path_bytes -= strlen(g_folders[place].path) + 1;
  free(g_folders[place].path);
  g_folders[place] = g_folders[--g_count];
}

Folder* find(int watch) {
  for (int i = g_count - 1; i >= 0; --i) {
    if (g_folders[i].watch == watch) return &g_folders[i];
  }
  return nullptr;
}

// False with errno; ENOSPC also where our own table is full.
bool watch_one(const char* path) {
  const size_t size = strlen(path) + 1;
  if (g_count == kFoldersMax || g_path_bytes + size > kPathBytesMax) return errno = ENOSPC, false;
  const int watch = inotify_add_watch(g_inotify, *path == '\0' ? "." : path, kEvents | (*path ? IN_DONT_FOLLOW : 0));
  if (watch < 0) return false;
  char* const kept = strdup(path);
  if (kept == nullptr) return false;
  // One that was moved is known by its old path.
  if (Folder* const known = find(watch); known != nullptr) forget(static_cast<int>(known - g_folders));
  g_folders[g_count++] = {watch, kept};
  g_path_bytes += size;
  return true;
}

enum class Said { nothing, entries };

// By errno: what is gone meanwhile, or no folder any more, is told of by an event of its own.
bool tell_unless_gone(const char* path) { return errno == ENOENT || errno == ENOTDIR || tell('!', path); }

// False where nobody listens. `path` has room for what lies in it.
bool watch_below(char (&path)[PATH_MAX], Said said) {
  if (!watch_one(path)) return tell_unless_gone(path);
  const size_t length = strlen(path);
  DIR* const entries = opendir(length == 0 ? "." : path);
  if (entries == nullptr) return tell_unless_gone(path);
  bool told = true;
  while (told) {
    errno = 0;
    const dirent* const entry = readdir(entries);
    if (entry == nullptr) {
      told = errno == 0 || tell_unless_gone(path);
      break;
    }
    if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
    const int added = snprintf(path + length, sizeof path - length, "%s%s", length == 0 ? "" : "/", entry->d_name);
    struct stat found {};
    const bool fits = static_cast<size_t>(added) < sizeof path - length;
    if (!fits) {
      path[length] = '\0';
      told = tell('!', path);
    }
    if (fits && said == Said::entries) told = tell('c', path);
    if (fits && told && g_deep) {
      if (fstatat(AT_FDCWD, path, &found, AT_SYMLINK_NOFOLLOW) != 0) {
        told = tell_unless_gone(path);
      } else if (S_ISDIR(found.st_mode)) {
        told = watch_below(path, said);
      }
    }
    path[length] = '\0';
  }
  closedir(entries);
  return told;
}

void forget_below(const char* path) {
  const size_t length = strlen(path);
  for (int i = g_count - 1; i >= 0; --i) {
    const char* const own = g_folders[i].path;
    if (strncmp(own, path, length) != 0 || (own[length] != '\0' && own[length] != '/')) continue;
    inotify_rm_watch(g_inotify, g_folders[i].watch);
    forget(i);
  }
}

char kind_of(uint32_t mask) {
  if ((mask & (IN_CREATE | IN_MOVED_TO)) != 0) return 'c';
  if ((mask & IN_DELETE) != 0) return 'r';
  if ((mask & IN_MOVED_FROM) != 0) return 'm';
  if ((mask & IN_MODIFY) != 0) return 'w';
  return (mask & IN_ATTRIB) != 0 ? 'a' : '\0';
}

// A file on its way to its name (init/tasks/file_operations.cc): one without a name, or with one of ours. What comes to
// its name is told as made and written.
bool is_on_its_way(const inotify_event& event) {
  if (event.len == 0) return false;
  if (strncmp(event.name, kPutName, strlen(kPutName)) == 0) return true;
  const size_t size = strlen(event.name);
  return (event.mask & (IN_MODIFY | IN_ATTRIB)) != 0 && size > 1 && event.name[0] == '#' &&
      strspn(event.name + 1, "0123456789") == size - 1;
}

enum class Next { go_on, nobody_listens, folder_gone };

Next take(const inotify_event& event) {
  if ((event.mask & IN_Q_OVERFLOW) != 0) return tell('!', "") ? Next::go_on : Next::nobody_listens;
  Folder* const folder = find(event.wd);
  if (folder == nullptr) return Next::go_on;
  if ((event.mask & (IN_DELETE_SELF | IN_MOVE_SELF | IN_IGNORED)) != 0) {
    const bool all = *folder->path == '\0';
    if (all) tell((event.mask & IN_MOVE_SELF) != 0 ? 'm' : 'r', "");
    if ((event.mask & IN_IGNORED) != 0) forget(static_cast<int>(folder - g_folders));
    return all ? Next::folder_gone : Next::go_on;
  }
  static uint32_t put = 0;
  if (is_on_its_way(event)) {
    put = event.cookie;
    return Next::go_on;
  }
  const char kind = kind_of(event.mask);
  static char path[PATH_MAX];
  const int size = snprintf(path, sizeof path, "%s%s%s", folder->path, *folder->path == '\0' ? "" : "/", event.name);
  if (kind == '\0' || event.len == 0) return Next::go_on;
  if (static_cast<size_t>(size) >= sizeof path) return tell('!', folder->path) ? Next::go_on : Next::nobody_listens;
  bool told = tell(kind, path) && (event.cookie == 0 || event.cookie != put || tell('w', path));
  if (told && g_deep && (event.mask & IN_ISDIR) != 0) {
    if (kind == 'm') forget_below(path);
    if (kind == 'c') told = watch_below(path, Said::entries);
  }
  return told ? Next::go_on : Next::nobody_listens;
}

}  // namespace

Failure watch_folder(const char* path, const char* depth_text) {
  long long depth = 1;
  if (!read_number(depth_text, depth)) return {"the depth is no number", EINVAL};
  g_deep = depth > 1;
  g_inotify = inotify_init1(IN_CLOEXEC);
  if (g_inotify < 0) return {"watching", errno};
  if (chdir(path) != 0) return {"opening the folder", errno};
  if (!watch_one("")) return {"watching the folder", errno};
  static char below[PATH_MAX];
  if (!watch_below(below, Said::nothing) || !tell('b', "") || !g_said.flush()) return {"telling of it", errno};
  alignas(inotify_event) static char events[64 * 1024];
  for (;;) {
    const ssize_t size = read(g_inotify, events, sizeof events);
    if (size < 0 && errno == EINTR) continue;
    if (size <= 0) return {"watching", errno};
    Next next = Next::go_on;
    for (const char* at = events; at < events + size && next == Next::go_on;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(at);
      next = take(event);
      at += sizeof event + event.len;
    }
    if (!g_said.flush() || next == Next::nobody_listens) return {"telling of it", errno};
    if (next == Next::folder_gone) return {};
  }
}

}  // namespace guard::init
