// A file is copied write-protected: nobody opens it for writing without a change of its attributes first, and that is
// told at once. Not so a stored snapshot, which bun opens for writing, reads, and writes again as it was. There the
// rule is that this happens once: whoever else opens it for writing could change it before bun reads (by mmap(2), of
// which nobody tells) and put it back.
#include "init/filled_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdint>
#include <initializer_list>

#include "init/descriptors.h"
#include "init/empty_folder.h"
#include "runner/init_side/fill_format.h"

namespace guard::init {
namespace {

constexpr int kOwnFdsFrom = 16;  // the numbers below are the program's
// Static, but memory is taken only as they are filled. Twice what guard stages.
constexpr int kWatchesMax = 1 << 19;
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

using EntryKind = fill_format::Kind;

// In the mapped file. All of its members are 0 at first, or the large arrays below would be part of the program's file.
struct Entry {
  EntryKind kind = EntryKind();
  const char* path = nullptr;
  const char* content = nullptr;
  size_t size = 0;
};

enum class Kind : uint8_t { file, folder, snapshot };

struct Watch {
  Entry entry;
  unsigned written_by = 0;  // the last program that opened the snapshot for writing
  Kind kind = Kind::file;
  bool modified = false;  // by a descriptor that is still open
};

int g_copies = -1;   // on everything that was copied
int g_folders = -1;  // on the copied folders, for what is made in them
Watch g_watches[kWatchesMax];
const char* g_folder_paths[kWatchesMax];  // by watch of g_folders
const char* g_sorted[kWatchesMax];        // every copied path
size_t g_sorted_size = 0;
bool g_is_sorted = false;

const char* g_folder = nullptr;
int g_folder_fd = -1;
const char* g_source = nullptr;  // mapped
size_t g_source_size = 0;

FolderChanges g_changes;
unsigned g_program = 1;
long long g_open_snapshots = 0;
long long g_modified_snapshots = 0;
MadeEntry g_made[kMadeMax];
char g_made_names[kMadeBytesMax];
size_t g_made_names_size = 0;
size_t g_made_unsorted = 0;

// --- copying ---

bool fails(int error) {
  errno = error;
  return false;
}

// The entry at `at`, which moves on to the next.
bool take_entry(size_t& at, Entry& entry) {
  fill_format::Header header;
  if (at > g_source_size || g_source_size - at < sizeof header) return fails(EBADMSG);
  memcpy(&header, g_source + at, sizeof header);
  const size_t left = g_source_size - at - sizeof header;
  if (header.path_bytes == 0 || header.path_bytes > left || header.content_bytes > left - header.path_bytes)
    return fails(EBADMSG);
  entry.kind = header.kind;
  entry.path = g_source + at + sizeof header;
  entry.content = entry.path + header.path_bytes;
  entry.size = header.content_bytes;
  at += fill_format::aligned(sizeof header + header.path_bytes + header.content_bytes);
  const bool link_ends = entry.kind != EntryKind::link || (entry.size > 0 && entry.content[entry.size - 1] == '\0');
  return (entry.path[header.path_bytes - 1] == '\0' && link_ends) || fails(EBADMSG);
}

const char* name_of(const char* path) {
  const char* slash = strrchr(path, '/');
  return slash == nullptr ? path : slash + 1;
}

bool is_snapshot(const char* path) {
  constexpr char kParent[] = "__snapshots__";
  constexpr size_t kParentSize = sizeof kParent - 1;
  const char* name = name_of(path);
  const size_t above = static_cast<size_t>(name - path);
  const bool in_folder = above > kParentSize && strncmp(name - 1 - kParentSize, kParent, kParentSize) == 0 &&
      (above == kParentSize + 1 || name[-2 - static_cast<ptrdiff_t>(kParentSize)] == '/');
  const size_t length = strlen(name);
  return in_folder && length > 5 && strcmp(name + length - 5, ".snap") == 0;
}

// The working folder is the one that is filled: inotify knows no other way to name a file by its folder.
class Copier {
 public:
  bool copy_all() {
    g_sorted_size = 0;
    g_is_sorted = false;
    Entry entry;
    for (size_t at = 0;;) {
      if (!take_entry(at, entry)) return false;
      if (entry.kind == EntryKind::end) break;
      if (g_sorted_size == kWatchesMax) return fails(EFBIG);
      g_sorted[g_sorted_size++] = entry.path;
      if (!copy(entry)) return false;
    }
    // Last, or they would tell of what we made.
    if (!watch_folder(Entry{EntryKind::folder, "", nullptr, 0}, ".")) return false;
    for (size_t at = 0;;) {
      if (!take_entry(at, entry)) return false;
      if (entry.kind == EntryKind::end) return true;
      if (entry.kind == EntryKind::folder && !watch_folder(entry, entry.path)) return false;
    }
  }

  FillResult failure() const { return failure_; }

 private:
  bool copy(const Entry& entry) {
    switch (entry.kind) {
      case EntryKind::folder: return mkdir(entry.path, 0755) == 0;
      case EntryKind::file:
      case EntryKind::program:
        if (is_snapshot(entry.path))
          return copy_file(entry, 0644) && watch(entry, entry.path, kSnapshotEvents, Kind::snapshot);
        return copy_file(entry, entry.kind == EntryKind::program ? 0555 : 0444) &&
            watch(entry, entry.path, kFileEvents, Kind::file);
      case EntryKind::link:
        return symlink(entry.content, entry.path) == 0 && watch(entry, entry.path, kFileEvents, Kind::file);
      case EntryKind::end: break;
    }
    return fails(EBADMSG);
  }

  static bool copy_file(const Entry& entry, mode_t mode) {
    const int to = open(entry.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
    if (to < 0) return false;
    for (size_t at = 0; at < entry.size;) {
      const ssize_t written = write(to, entry.content + at, entry.size - at);
      if (written < 0 && errno != EINTR) {
        const int error = errno;
        close(to);
        return fails(error);
      }
      if (written > 0) at += static_cast<size_t>(written);
    }
    close(to);
    return true;
  }

  // An event of a file is told twice, to its own watch and to that of the folder. So two openings in a row are never
  // one after the other in the queue, where the kernel would make them one.
  bool watch_folder(const Entry& entry, const char* path) {
    const bool snapshots = strcmp(name_of(path), "__snapshots__") == 0;
    if (!watch(entry, path, snapshots ? kPlace | kOpenEvents : kPlace, Kind::folder)) return false;
    const int made = add_watch(g_folders, path, kMadeEvents);
    if (made < 0) return false;
    g_folder_paths[made] = entry.path;
    return true;
  }

  bool watch(const Entry& entry, const char* path, uint32_t events, Kind kind) {
    const int number = add_watch(g_copies, path, events);
    if (number < 0) return false;
    g_watches[number] = {entry, 0, kind, false};
    return true;
  }

  int add_watch(int instance, const char* path, uint32_t events) {
    const int number = inotify_add_watch(instance, path, events | IN_DONT_FOLLOW);
    if (number > 0 && number < kWatchesMax) return number;
    failure_ = {"watching the project's files", errno == ENOSPC ? "fs.inotify.max_user_watches" : nullptr};
    if (number >= 0) errno = EFBIG;
    return -1;
  }

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
  const bool copied = fchdir(g_folder_fd) == 0 && copier.copy_all();
  const int error = errno;
  umask(mask);
  const bool back = fchdir(here) == 0;
  close(here);
  if (!copied) errno = error;
  return copied && back ? FillResult() : copier.failure();
}

FillResult fill_again() {
  forget_changes();
  if (g_folder_fd >= 0) close(g_folder_fd);
  g_folder_fd = open_folder(g_folder);
  if (g_folder_fd < 0) return {kCopying, nullptr};
  if (!renew(g_copies) || !renew(g_folders))
    return {"watching the project's files", errno == EMFILE ? "fs.inotify.max_user_instances" : nullptr};
  return copy_and_watch();
}

// Who closes the last descriptor of an instance that had watches waits until nobody in the kernel reads these any more:
// at once, or some 15 ms where another wait of this kind is on its way, as it is in every second run, for the files
// have just lost their watches. So the last ones are in a message to a socket that is closed, and stands in that
// message, too: the kernel finds by itself that nobody can read it, and closes them in a thread of its own. It looks
// when a socket is gone, which is last; old kernels look in our time.
void close_later(const int (&instances)[2]) {
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, ends) == 0) {
    const int sent[] = {ends[1], instances[0], instances[1]};
    send_descriptors(ends[0], sent);
  }
  for (const int fd : {instances[0], instances[1], ends[1], ends[0]}) {
    if (fd >= 0) close(fd);
  }
}

// --- what became of it ---

bool same_content(const Entry& entry) {
  static char buffer[1 << 14];
  const int copy = openat(g_folder_fd, entry.path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
  if (copy < 0) return false;
  size_t at = 0;
  bool same = true;
  for (ssize_t size = 1; same && size > 0;) {
    size = read(copy, buffer, sizeof buffer);
    same = size >= 0 && static_cast<size_t>(size) <= entry.size - at &&
        memcmp(buffer, entry.content + at, static_cast<size_t>(size)) == 0;
    if (same) at += static_cast<size_t>(size);
  }
  close(copy);
  return same && at == entry.size;
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
  return same_content(watch.entry);
}

// An event that anybody may cause, as long as what was copied stays what it was.
bool may_happen(const inotify_event& event) {
  if (event.wd < 1 || event.wd >= kWatchesMax) return false;  // so many events that some were lost
  Watch& watch = g_watches[event.wd];
  switch (watch.kind) {
    case Kind::file: return false;
    case Kind::folder:
      // One with a name is of what lies in it: a copy, which has a watch of its own, or something new.
      return event.len > 0 || (event.mask & ~(kOpenEvents | IN_ISDIR)) == 0;
    case Kind::snapshot: return may_happen_to_snapshot(watch, event.mask);
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
    if (!may_happen(event)) touch(event.wd < 1 || event.wd >= kWatchesMax ? "" : g_watches[event.wd].entry.path);
  });
  // One that is open still, where no program is left, was sent into a socket that nobody can read: its end would be
  // told too late.
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

int by_text(const void* left, const void* right) {
  return strcmp(*static_cast<const char* const*>(left), *static_cast<const char* const*>(right));
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
  const int file = open(source, O_RDONLY | O_CLOEXEC);
  struct stat found {};
  if (file < 0 || fstat(file, &found) != 0 || !S_ISREG(found.st_mode)) return {kCopying, nullptr};
  g_source_size = static_cast<size_t>(found.st_size);
  void* const mapped = mmap(nullptr, g_source_size, PROT_READ, MAP_PRIVATE, file, 0);
  close(file);
  if (mapped == MAP_FAILED) return {kCopying, nullptr};
  g_source = static_cast<const char*>(mapped);
  g_folder = folder;
  return fill_again();
}

bool was_copied(const char* path) {
  if (!g_is_sorted) qsort(g_sorted, g_sorted_size, sizeof g_sorted[0], by_text);
  g_is_sorted = true;
  return bsearch(&path, g_sorted, g_sorted_size, sizeof g_sorted[0], by_text) != nullptr;
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
    return empty_folder(g_folder, mode) ? fill_again() : FillResult{kEmptying, nullptr};
  }
  for (size_t i = 0; i < changes.made_count; ++i) {
    const MadeEntry& made = changes.made[i];
    const int folder =
        openat(g_folder_fd, made.folder[0] == '\0' ? "." : made.folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    const bool removed = folder >= 0 && remove_entry(folder, made.name);
    const int error = errno;
    if (folder >= 0) close(folder);
    errno = error;
    if (!removed) return {kEmptying, nullptr};
  }
  forget_changes();
  return {};
}

void end_watching() {
  if (g_copies < 0) return;
  for (int number = 1; number <= static_cast<int>(g_sorted_size) + 1; ++number) {
    inotify_rm_watch(g_copies, number);
    inotify_rm_watch(g_folders, number);
  }
  close_later({g_copies, g_folders});
}

}  // namespace guard::init
