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
  int top = -1;       // a folder of the same mount, to move what is too deep into
  bool moved = false;
  unsigned number = 0;
};

bool is_mounted(int folder, const char* name, const struct stat& parent, bool& mounted, struct stat& found) {
  struct statx seen {};
  if (statx(folder, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, STATX_BASIC_STATS, &seen) == 0 &&
      (seen.stx_attributes_mask & STATX_ATTR_MOUNT_ROOT) != 0) {
    mounted = (seen.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
    return fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) == 0;
  }
  if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return false;
  mounted = found.st_dev != parent.st_dev;
  return true;
}

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

bool remove_entry(int folder, const char* name, const struct stat& parent, int depth, Walk& walk) {
  bool mounted = false;
  struct stat found {};
  if (!is_mounted(folder, name, parent, mounted, found)) return false;
  if (!S_ISDIR(found.st_mode)) return mounted || unlinkat(folder, name, 0) == 0;
  if (!mounted && unlinkat(folder, name, AT_REMOVEDIR) == 0) return true;
  if (!mounted && depth >= kDepthMax) {
    char elsewhere[32];
    snprintf(elsewhere, sizeof elsewhere, ".guard-deep-%u", walk.number++);
    walk.moved = true;
    return renameat(folder, name, walk.top, elsewhere) == 0;
  }
  const int below = open_folder(folder, name);
  if (below < 0) return false;
  Walk own;
  own.top = below;
  bool emptied = true;
  if (mounted) {
    do {
      own.moved = false;
      emptied = empty_open_folder(below, 1, own);
    } while (emptied && own.moved && own.number < kRoundsMax);
    fchmod(below, 0755);  // as guard makes them
    drop_attributes(below);
  } else {
    emptied = empty_open_folder(below, depth + 1, walk);
  }
  close(below);
  return emptied && (mounted || unlinkat(folder, name, AT_REMOVEDIR) == 0);
}

bool empty_open_folder(int folder, int depth, Walk& walk) {
  struct stat parent {};
  if (fstat(folder, &parent) != 0) return false;
  if ((parent.st_mode & 0700) != 0700 && fchmod(folder, 0700) != 0) return false;
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
    if (!is_dots(entry->d_name) && !remove_entry(folder, entry->d_name, parent, depth, walk)) {
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

}  // namespace

bool empty_folder(const char* path, mode_t mode) {
  const int folder = open_folder(AT_FDCWD, path);
  if (folder < 0) return false;
  Walk walk;
  walk.top = folder;
  bool emptied = true;
  do {
    walk.moved = false;
    emptied = empty_open_folder(folder, 1, walk);
  } while (emptied && walk.moved && walk.number < kRoundsMax);
  const int error = errno;
  if (emptied && walk.moved) emptied = false;
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

}  // namespace guard::init
