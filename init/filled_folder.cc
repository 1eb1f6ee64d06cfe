// A file is copied write-protected: nobody opens it for writing without a change of its attributes first, and that is told at once. Not so a
// stored snapshot, which bun opens for writing, reads, and writes again as it was. There the rule is that this happens once: whoever else opens
// it for writing could change it before bun reads (by mmap(2), of which nobody tells) and put it back.
#include "init/filled_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>

#include "init/empty_folder.h"

namespace guard::init {
namespace {

constexpr size_t kDepthMax = 66;  // pipeline/staging.cc goes as deep as 64
constexpr size_t kEntryBytes = 8192;
constexpr size_t kCopyBytes = 1 << 18;
constexpr int kOwnFdsFrom = 16;  // the numbers below are the program's
// Static, but memory is taken only as they are filled. Twice what guard stages.
constexpr int kWatchesMax = 1 << 19;
constexpr size_t kPathBytesMax = 1 << 25;
// More than a queue of the kernel's usual size holds.
constexpr size_t kMadeMax = 1 << 15;
constexpr size_t kMadeBytesMax = 1 << 22;

constexpr uint32_t kPlace = IN_ATTRIB | IN_MOVE_SELF | IN_DELETE_SELF;
// Whoever can write despite of the mode. One watch tells once, so that the queue is not filled with one file.
constexpr uint32_t kFileEvents = kPlace | IN_MODIFY | IN_CLOSE_WRITE | IN_ONESHOT;
constexpr uint32_t kOpenEvents = IN_OPEN | IN_CLOSE_WRITE | IN_CLOSE_NOWRITE;
constexpr uint32_t kSnapshotEvents = kPlace | kOpenEvents | IN_ACCESS | IN_MODIFY;
constexpr uint32_t kMadeEvents = IN_CREATE | IN_MOVED_TO;

constexpr const char* kCopying = "copying the project's files";

enum class Kind : uint8_t { file, folder, snapshot };

struct Watch {
  const char* path = nullptr;
  unsigned written_by = 0;  // the last program that opened the snapshot for writing
  Kind kind = Kind::file;
  bool modified = false;  // by a descriptor that is still open
};

int g_copies = -1;  // on everything that was copied
int g_folders = -1;  // on the copied folders, for what is made in them
Watch g_watches[kWatchesMax];
const char* g_folder_paths[kWatchesMax];  // by watch of g_folders
char g_paths[kPathBytesMax];
size_t g_paths_size = 0;

const char* g_folder = nullptr;
const char* g_source = nullptr;
int g_folder_fd = -1;
int g_source_fd = -1;

FolderChanges g_changes;
unsigned g_program = 1;
long long g_open_snapshots = 0;
long long g_modified_snapshots = 0;
MadeEntry g_made[kMadeMax];
char g_made_names[kMadeBytesMax];
size_t g_made_names_size = 0;
size_t g_made_unsorted = 0;

bool ends_with(const char* text, const char* end) {
  const size_t length = strlen(text);
  return length > strlen(end) && strcmp(text + length - strlen(end), end) == 0;
}

// --- copying ---

// The working folder is where it copies to: inotify knows no other way to name a file by its folder.
class Copier {
 public:
  bool copy_entries(int from, size_t depth, bool snapshots) {
    alignas(dirent64) static char buffers[kDepthMax][kEntryBytes];
    if (depth == kDepthMax) return fails(ELOOP);
    char* const buffer = buffers[depth];
    for (;;) {
      const ssize_t size = getdents64(from, buffer, kEntryBytes);
      if (size <= 0) return size == 0 && watch_folder(snapshots);
      for (ssize_t at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
        at += entry->d_reclen;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        const size_t above = path_size_;
        if (!add_to_path(entry->d_name) || !copy(from, entry->d_name, depth, snapshots)) return false;
        path_size_ = above;
        path_[path_size_] = '\0';
      }
    }
  }

  FillResult failure() const { return failure_; }

 private:
  static bool fails(int error) {
    errno = error;
    return false;
  }

  bool add_to_path(const char* name) {
    const size_t length = strlen(name);
    if (path_size_ + length + 2 > sizeof path_) return fails(ENAMETOOLONG);
    if (path_size_ > 0) path_[path_size_++] = '/';
    memcpy(path_ + path_size_, name, length + 1);
    path_size_ += length;
    return true;
  }

  bool copy(int from, const char* name, size_t depth, bool snapshots) {
    struct stat found {};
    if (fstatat(from, name, &found, AT_SYMLINK_NOFOLLOW) != 0) return false;
    if (S_ISREG(found.st_mode)) {
      const bool snapshot = snapshots && ends_with(name, ".snap");
      return copy_file(from, name, found, snapshot ? 0644 : found.st_mode & 0555) &&
             watch(name, snapshot ? kSnapshotEvents : kFileEvents, snapshot ? Kind::snapshot : Kind::file);
    }
    if (S_ISLNK(found.st_mode)) return copy_link(from, name) && watch(name, kFileEvents, Kind::file);
    if (!S_ISDIR(found.st_mode)) return true;
    const int child = openat(from, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child < 0) return false;
    const bool copied = mkdir(name, found.st_mode & 0777) == 0 && chdir(name) == 0 &&
                        copy_entries(child, depth + 1, strcmp(name, "__snapshots__") == 0) && chdir("..") == 0;
    const int error = errno;
    close(child);
    return copied || fails(error);
  }

  static bool copy_link(int from, const char* name) {
    char target[PATH_MAX];
    const ssize_t size = readlinkat(from, name, target, sizeof target - 1);
    if (size < 0) return false;
    target[size] = '\0';
    return symlinkat(target, AT_FDCWD, name) == 0;
  }

  static bool copy_file(int source, const char* name, const struct stat& found, mode_t mode) {
    const int from = openat(source, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (from < 0) return false;
    const int to = open(name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    const bool copied = to >= 0 && copy_bytes(from, to, found.st_size);
    const int error = errno;
    if (to >= 0) close(to);
    close(from);
    return copied || fails(error);
  }

  static bool copy_bytes(int from, int to, off_t left) {
    static char buffer[kCopyBytes];
    while (left > 0) {
      const ssize_t size = read(from, buffer, sizeof buffer);
      if (size < 0 && errno == EINTR) continue;
      if (size == 0) return fails(EIO);
      if (size < 0) return false;
      for (ssize_t at = 0; at < size;) {
        const ssize_t written = write(to, buffer + at, static_cast<size_t>(size - at));
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) at += written;
      }
      left -= size;
    }
    return true;
  }

  // An event of a file is told twice, to its own watch and to that of the folder. So two openings in a row are never one after the other in the
  // queue, where the kernel would make them one.
  bool watch_folder(bool snapshots) {
    if (!watch(".", snapshots ? kPlace | kOpenEvents : kPlace, Kind::folder)) return false;
    const int made = add_watch(g_folders, ".", kMadeEvents);
    if (made < 0) return false;
    g_folder_paths[made] = last_path_;
    return true;
  }

  bool watch(const char* name, uint32_t events, Kind kind) {
    if (g_paths_size + path_size_ + 1 > sizeof g_paths) return fails(ENAMETOOLONG);
    const int number = add_watch(g_copies, name, events);
    if (number < 0) return false;
    last_path_ = g_paths + g_paths_size;
    memcpy(g_paths + g_paths_size, path_, path_size_ + 1);
    g_paths_size += path_size_ + 1;
    g_watches[number] = {last_path_, 0, kind, false};
    return true;
  }

  int add_watch(int instance, const char* name, uint32_t events) {
    const int number = inotify_add_watch(instance, name, events | IN_DONT_FOLLOW);
    if (number > 0 && number < kWatchesMax) return number;
    failure_ = {"watching the project's files", errno == ENOSPC ? "fs.inotify.max_user_watches" : nullptr};
    if (number >= 0) errno = EFBIG;
    return -1;
  }

  char path_[PATH_MAX] = {};
  size_t path_size_ = 0;
  const char* last_path_ = g_paths;
  FillResult failure_ = {kCopying, nullptr};
};

int open_folder(const char* path) {
  const int opened = open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  const int kept = opened < 0 ? -1 : fcntl(opened, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  if (opened >= 0) close(opened);
  return kept;
}

bool renew(int& instance) {
  if (instance >= 0) close(instance);
  instance = -1;
  const int made = inotify_init1(IN_NONBLOCK | IN_CLOEXEC);
  if (made < 0) return false;
  instance = fcntl(made, F_DUPFD_CLOEXEC, kOwnFdsFrom);
  close(made);
  return instance >= 0;
}

void forget_changes() {
  g_changes = FolderChanges();
  ++g_program;
  g_open_snapshots = g_modified_snapshots = 0;
  g_made_names_size = g_made_unsorted = 0;
}

FillResult copy_and_watch() {
  Copier copier;
  const int here = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (here < 0) return copier.failure();
  const mode_t mask = umask(0);
  const bool copied = fchdir(g_folder_fd) == 0 && lseek(g_source_fd, 0, SEEK_SET) == 0 && copier.copy_entries(g_source_fd, 0, false);
  const int error = errno;
  umask(mask);
  const bool back = fchdir(here) == 0;
  close(here);
  if (!copied) errno = error;
  return copied && back ? FillResult() : copier.failure();
}

// --- what became of it ---

bool same_content(const char* path) {
  static char ours[1 << 14];
  static char theirs[1 << 14];
  const int source = openat(g_source_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  const int copy = openat(g_folder_fd, path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  bool same = source >= 0 && copy >= 0;
  for (ssize_t size = 1; same && size > 0;) {
    size = read(source, ours, sizeof ours);
    same = size >= 0 && read(copy, theirs, sizeof theirs) == size && memcmp(ours, theirs, static_cast<size_t>(size)) == 0;
  }
  if (source >= 0) close(source);
  if (copy >= 0) close(copy);
  return same;
}

bool may_happen_to_snapshot(Watch& watch, uint32_t events) {
  if (events == IN_OPEN) {
    ++g_open_snapshots;
    return true;
  }
  if (events == IN_CLOSE_NOWRITE) {
    --g_open_snapshots;
    return true;
  }
  if (events == IN_ACCESS) return !watch.modified;
  if (events == IN_MODIFY) {
    if (!watch.modified) ++g_modified_snapshots;
    watch.modified = true;
    return true;
  }
  if (events != IN_CLOSE_WRITE || watch.written_by == g_program) return false;
  --g_open_snapshots;
  watch.written_by = g_program;
  if (watch.modified) --g_modified_snapshots;
  watch.modified = false;
  return same_content(watch.path);
}

// An event that anybody may cause, as long as what was copied stays what it was.
bool may_happen(const inotify_event& event) {
  if (event.wd < 1 || event.wd >= kWatchesMax) return false;  // so many events that some were lost
  Watch& watch = g_watches[event.wd];
  switch (watch.kind) {
    case Kind::file:
      return false;
    case Kind::folder:
      // One with a name is of what lies in it: a copy, which has a watch of its own, or something new.
      return event.len > 0 || (event.mask & ~(kOpenEvents | IN_ISDIR)) == 0;
    case Kind::snapshot:
      return may_happen_to_snapshot(watch, event.mask);
  }
  return false;
}

void touch(const char* path) {
  if (g_changes.touched) return;
  g_changes.touched = true;
  const size_t size = strlen(path);
  const size_t room = sizeof g_changes.path - 1;
  if (size > room) path += size - room;
  for (size_t i = 0; path[i] != '\0'; ++i) g_changes.path[i] = path[i] == '\n' ? '?' : path[i];
}

// Calls `take` for each event that is waiting. false: they can't be known.
template <typename Take>
bool take_events(int instance, const Take& take) {
  alignas(inotify_event) static char buffer[1 << 16];
  for (;;) {
    const ssize_t size = read(instance, buffer, sizeof buffer);
    if (size < 0 && errno == EINTR) continue;
    if (size < 0) return errno == EAGAIN;
    if (size == 0) return false;
    for (ssize_t at = 0; at < size;) {
      const auto& event = *reinterpret_cast<const inotify_event*>(buffer + at);
      at += static_cast<ssize_t>(sizeof event + event.len);
      take(event);
    }
  }
}

void look_for_touched() {
  const bool known = take_events(g_copies, [](const inotify_event& event) {
    if (!may_happen(event)) touch(event.wd < 1 || event.wd >= kWatchesMax ? "" : g_watches[event.wd].path);
  });
  // One that is open still, where no program is left, was sent into a socket that nobody can read: its end would be told too late.
  if (!known || g_open_snapshots != 0 || g_modified_snapshots != 0) touch("");
}

void remember_made(const inotify_event& event) {
  const bool known = event.wd >= 1 && event.wd < kWatchesMax && event.len > 0;
  const size_t size = known ? strlen(event.name) + 1 : 0;
  if (!known || g_made_unsorted == kMadeMax || size > kMadeBytesMax - g_made_names_size) {
    g_changes.more_made = true;
    return;
  }
  char* const name = g_made_names + g_made_names_size;
  memcpy(name, event.name, size);
  g_made_names_size += size;
  g_made[g_made_unsorted++] = {g_folder_paths[event.wd], name};
}

int in_order(const void* left, const void* right) {
  const auto* a = static_cast<const MadeEntry*>(left);
  const auto* b = static_cast<const MadeEntry*>(right);
  if (a->folder != b->folder) return a->folder < b->folder ? -1 : 1;
  return strcmp(a->name, b->name);
}

void look_for_made() {
  const size_t before = g_made_unsorted = g_changes.made_count;
  if (!take_events(g_folders, remember_made)) g_changes.more_made = true;
  if (g_made_unsorted == before) return;
  qsort(g_made, g_made_unsorted, sizeof g_made[0], in_order);
  size_t kept = 0;
  for (size_t i = 0; i < g_made_unsorted; ++i) {
    if (kept == 0 || in_order(&g_made[kept - 1], &g_made[i]) != 0) g_made[kept++] = g_made[i];
  }
  g_changes.made = g_made;
  g_changes.made_count = kept;
}

}  // namespace

FillResult fill_folder(const char* folder, const char* source) {
  g_folder = folder;
  g_source = source;
  forget_changes();
  g_paths_size = 0;
  if (g_folder_fd >= 0) close(g_folder_fd);
  if (g_source_fd >= 0) close(g_source_fd);
  g_folder_fd = open_folder(folder);
  g_source_fd = open_folder(source);
  if (g_folder_fd < 0 || g_source_fd < 0) return {kCopying, nullptr};
  if (!renew(g_copies) || !renew(g_folders)) return {"watching the project's files", errno == EMFILE ? "fs.inotify.max_user_instances" : nullptr};
  return copy_and_watch();
}

const FolderChanges& folder_changes() {
  if (g_source == nullptr) return g_changes;
  look_for_touched();
  look_for_made();
  return g_changes;
}

FillResult restore_folder(mode_t mode) {
  constexpr const char* kEmptying = "emptying the project's folder between two programs";
  const FolderChanges& changes = folder_changes();
  if (changes.touched || changes.more_made) {
    return empty_folder(g_folder, mode) ? fill_folder(g_folder, g_source) : FillResult{kEmptying, nullptr};
  }
  for (size_t i = 0; i < changes.made_count; ++i) {
    const MadeEntry& made = changes.made[i];
    const int folder = openat(g_folder_fd, made.folder[0] == '\0' ? "." : made.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool removed = folder >= 0 && remove_entry(folder, made.name);
    const int error = errno;
    if (folder >= 0) close(folder);
    errno = error;
    if (!removed) return {kEmptying, nullptr};
  }
  forget_changes();
  return {};
}

}  // namespace guard::init
