#include "init/empty_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

namespace guard::init {
namespace {

// Open descriptors of the walk. What lies deeper is moved to the top first, so depth costs rounds and not memory.
constexpr int kDepthMax = 64;
constexpr int kRoundsMax = 1 << 16;

struct Walk {
  int top = -1;  // a folder of the same mount, to move what is too deep into
  bool moved = false;
  unsigned number = 0;
};

bool is_dots(const char* name) { return strcmp(name, ".") == 0 || strcmp(name, "..") == 0; }

// Attributes outlive what a folder holds.
void drop_attributes(int folder) {
  char names[4096];
  const ssize_t size = flistxattr(folder, names, sizeof names);
  for (ssize_t at = 0; at < size; at += static_cast<ssize_t>(strlen(names + at)) + 1) fremovexattr(folder, names + at);
}

int open_folder(int at, const char* name) {
  // Its maker may have closed it to himself, whose user we share.
  int folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0 && errno == EACCES && fchmodat(at, name, 0700, 0) == 0) {
    folder = openat(at, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  }
  return folder;
}

bool empty_open_folder(int folder, int depth, Walk& walk);

bool remove_below(int folder, const char* name, int depth, Walk& walk) {
  if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0) return true;
  if (depth >= kDepthMax) {
    char elsewhere[32];
    snprintf(elsewhere, sizeof elsewhere, ".guard-deep-%u", walk.number++);
    walk.moved = true;
    return renameat(folder, name, walk.top, elsewhere) == 0;
  }
  const int below = open_folder(folder, name);
  if (below < 0) return false;
  const bool emptied = empty_open_folder(below, depth + 1, walk);
  const int error = errno;
  close(below);
  errno = error;
  return emptied && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

bool empty_open_folder(int folder, int depth, Walk& walk) {
  struct stat found {};
  if (fstat(folder, &found) != 0) return false;
  if ((found.st_mode & 0700) != 0700 && fchmod(folder, 0700) != 0) return false;
  const int listed = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR* entries = listed < 0 ? nullptr : fdopendir(listed);
  if (entries == nullptr) {
    if (listed >= 0) close(listed);
    return false;
  }
  bool emptied = true;
  int error = 0;
  errno = 0;
  while (dirent* entry = readdir(entries)) {
    if (!is_dots(entry->d_name) && !remove_below(folder, entry->d_name, depth, walk)) {
      emptied = false;
      error = errno;
    }
    errno = 0;
  }
  if (emptied && errno != 0) {
    emptied = false;
    error = errno;
  }
  closedir(entries);
  errno = error;
  return emptied;
}

bool empty_all_of(int folder) {
  Walk walk;
  walk.top = folder;
  bool emptied = true;
  do {
    walk.moved = false;
    emptied = empty_open_folder(folder, 1, walk);
  } while (emptied && walk.moved && walk.number < kRoundsMax);
  return emptied && !walk.moved;
}

}  // namespace

bool empty_folder(const char* path, mode_t mode) {
  const int folder = open_folder(AT_FDCWD, path);
  if (folder < 0) return false;
  const bool emptied = empty_all_of(folder);
  const int error = errno;
  drop_attributes(folder);
  // Where it is another user's, nobody here can have changed it.
  struct stat found {};
  const bool same = fstat(folder, &found) == 0 && (found.st_mode & 07777) == mode;
  if (!same && fchmod(folder, mode) != 0) {
    close(folder);
    return false;
  }
  close(folder);
  errno = error;
  return emptied;
}

bool remove_entry(int folder, const char* name) {
  if (unlinkat(folder, name, 0) == 0 || unlinkat(folder, name, AT_REMOVEDIR) == 0 || errno == ENOENT) return true;
  const int below = open_folder(folder, name);
  if (below < 0) return false;
  const bool emptied = empty_all_of(below);
  const int error = errno;
  close(below);
  errno = error;
  return emptied && unlinkat(folder, name, AT_REMOVEDIR) == 0;
}

}  // namespace guard::init
