#include "init/filled_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

namespace guard::init {
namespace {

constexpr size_t kDepthMax = 66;  // pipeline/staging.cc goes as deep as 64
constexpr size_t kEntryBytes = 8192;
constexpr size_t kCopyBytes = 1 << 18;
constexpr int kOwnFdsFrom = 16;  // the numbers below are the program's

// One watch tells once: no program can fill the queue, or make us read for ever.
constexpr uint32_t kPlace = IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF | IN_DONT_FOLLOW | IN_ONESHOT;
constexpr uint32_t kContent = IN_MODIFY | IN_CLOSE_WRITE;
constexpr uint32_t kMade = IN_CREATE | IN_MOVED_TO | IN_DONT_FOLLOW | IN_ONESHOT;

int g_touched = -1;  // on everything that was copied, in the order of the walk
int g_made = -1;     // on folders alone: an instance has one watch for each file
const char* g_source = nullptr;

// bun opens stored snapshots for writing, and does not write.
bool is_snapshot(const char* name) {
  const size_t length = strlen(name);
  return length > 5 && strcmp(name + length - 5, ".snap") == 0;
}

// The path of what is looked at, for one who reads it: the end of it.
struct Path {
  char text[4096] = {};
  size_t size = 0;

  void add(const char* name) {
    const size_t length = strnlen(name, NAME_MAX);
    if (size + length + 2 > sizeof text) return;
    if (size > 0) text[size++] = '/';
    memcpy(text + size, name, length);
    size += length;
    text[size] = '\0';
  }
};

// What is done with the entries of a tree. Every folder is left after all that is in it.
class Visitor {
 public:
  // `source`: the folder that holds it; `name`: "." for the tree itself.
  virtual bool file(int source, const char* name, const struct stat& found) = 0;
  virtual bool link(int source, const char* name) = 0;
  virtual bool enter(const char* name, const struct stat& found) = 0;
  virtual bool leave() = 0;

 protected:
  ~Visitor() = default;
};

bool walk(int folder, size_t depth, Visitor& visitor) {
  alignas(dirent64) static char buffers[kDepthMax][kEntryBytes];
  if (depth == kDepthMax) {
    errno = ELOOP;
    return false;
  }
  char* const buffer = buffers[depth];
  for (;;) {
    const ssize_t size = getdents64(folder, buffer, kEntryBytes);
    if (size < 0) return false;
    if (size == 0) return true;
    for (ssize_t at = 0; at < size;) {
      const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
      at += entry->d_reclen;
      const char* name = entry->d_name;
      if (strcmp(name, ".") == 0 || strcmp(name, "..") == 0) continue;
      struct stat found {};
      if (fstatat(folder, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return false;
      if (S_ISREG(found.st_mode)) {
        if (!visitor.file(folder, name, found)) return false;
      } else if (S_ISLNK(found.st_mode)) {
        if (!visitor.link(folder, name)) return false;
      } else if (S_ISDIR(found.st_mode)) {
        const int child = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
        if (child < 0) return false;
        const bool walked = visitor.enter(name, found) && walk(child, depth + 1, visitor) && visitor.leave();
        const int error = errno;
        close(child);
        errno = error;
        if (!walked) return false;
      }
    }
  }
}

// The working folder is where it copies to: inotify knows no other way to name a file by its folder.
class Copier final : public Visitor {
 public:
  bool file(int source, const char* name, const struct stat& found) override {
    // Nobody opens the others for writing without a change of their attributes first.
    if (!copy(source, name, is_snapshot(name) ? 0644 : found.st_mode & 0555)) return false;
    return watch(g_touched, name, is_snapshot(name) ? kPlace | IN_MODIFY : kPlace | kContent);
  }

  bool link(int source, const char* name) override {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(source, name, target, sizeof target - 1);
    if (size < 0) return false;
    target[size] = '\0';
    return symlinkat(target, AT_FDCWD, name) == 0 && watch(g_touched, name, kPlace);
  }

  bool enter(const char* name, const struct stat& found) override {
    return mkdir(name, found.st_mode & 0777) == 0 && chdir(name) == 0;
  }

  bool leave() override { return watch_folder() && chdir("..") == 0; }

  static bool watch_folder() { return watch(g_touched, ".", kPlace) && watch(g_made, ".", kMade); }

 private:
  static bool watch(int instance, const char* name, uint32_t events) { return inotify_add_watch(instance, name, events) >= 0; }

  static bool copy(int source, const char* name, mode_t mode) {
    const int from = openat(source, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0) return false;
    const int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool copied = to >= 0 && copy_bytes(from, to) && fchmod(to, mode) == 0;
    const int error = errno;
    if (to >= 0) close(to);
    close(from);
    errno = error;
    return copied;
  }

  static bool copy_bytes(int from, int to) {
    static char buffer[kCopyBytes];
    for (;;) {
      const ssize_t size = read(from, buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size <= 0) return size == 0;
      for (ssize_t at = 0; at < size;) {
        const ssize_t written = write(to, buffer + at, static_cast<size_t>(size - at));
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) at += written;
      }
    }
  }
};

// Watches are numbered as they are made, from 1.
class Finder final : public Visitor {
 public:
  explicit Finder(int wanted) : wanted_(wanted) {}

  bool file(int, const char* name, const struct stat&) override { return take(name); }
  bool link(int, const char* name) override { return take(name); }
  bool enter(const char* name, const struct stat&) override {
    path.add(name);
    return true;
  }
  bool leave() override {
    if (++number_ == wanted_) return false;
    const char* slash = strrchr(path.text, '/');
    path.size = slash == nullptr ? 0 : static_cast<size_t>(slash - path.text);
    path.text[path.size] = '\0';
    return true;
  }

  Path path;

 private:
  bool take(const char* name) {
    if (++number_ != wanted_) return true;
    path.add(name);
    return false;
  }

  int wanted_;
  int number_ = 0;
};

int open_folder(const char* path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

bool renew(int& instance) {
  if (instance >= 0) close(instance);
  const int made = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (made < 0) return false;
  instance = fcntl(made, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  close(made);
  return instance >= 0;
}

// The number of the first watch that told something; 0: none.
int first_event(int instance) {
  alignas(inotify_event) char buffer[sizeof(inotify_event) + NAME_MAX + 1];
  const ssize_t size = read(instance, buffer, sizeof buffer);
  if (size < 0 && errno == EAGAIN) return 0;
  if (size < static_cast<ssize_t>(sizeof(inotify_event))) return -1;
  return reinterpret_cast<const inotify_event*>(buffer)->wd;
}

FolderChanges g_changes;

}  // namespace

bool fill_folder(const char* folder, const char* source) {
  if (!renew(g_touched) || !renew(g_made)) return false;
  g_changes = FolderChanges();
  g_source = source;
  const int here = open_folder(".");
  const int from = open_folder(source);
  Copier copier;
  const bool filled = here >= 0 && from >= 0 && chdir(folder) == 0 && walk(from, 0, copier) && Copier::watch_folder();
  const int error = errno;
  const bool back = here >= 0 && fchdir(here) == 0;
  if (here >= 0) close(here);
  if (from >= 0) close(from);
  errno = filled ? errno : error;
  return filled && back;
}

FolderChanges folder_changes() {
  if (g_source == nullptr) return g_changes;
  g_changes.made = g_changes.made || first_event(g_made) != 0;
  if (g_changes.touched) return g_changes;
  const int touched = first_event(g_touched);
  if (touched == 0) return g_changes;
  g_changes.touched = true;
  const int from = open_folder(g_source);
  if (from < 0) return g_changes;
  Finder finder(touched);
  const bool found = !walk(from, 0, finder);
  close(from);
  if (!found) return g_changes;  // the folder itself
  const Path& path = finder.path;
  const size_t room = sizeof g_changes.path - 1;
  const size_t skipped = path.size > room ? path.size - room : 0;
  for (size_t i = skipped; i < path.size; ++i) {
    const char c = path.text[i];
    g_changes.path[i - skipped] = c >= 0x20 && c < 0x7f ? c : '?';
  }
  return g_changes;
}

}  // namespace guard::init
