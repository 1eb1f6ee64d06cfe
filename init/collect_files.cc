#include "init/collect_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "init/processes.h"
#include "init/stream.h"

namespace guard::init {
namespace {

using init_protocol::FrameType;
using init_protocol::kCollectedDepthMax;
using init_protocol::kCollectedPathMax;
using init_protocol::kFramePayloadMax;
using init_protocol::kLeftBehindToldMax;
using init_protocol::LeftBehindCode;

// A walk over as many entries as a sandbox may hold by default takes a tenth of a second; far beyond, it gives up.
constexpr long long kEntriesMax = 200'000;
// 32 MB leave within a second; a machine that is ten times slower still gets them out.
constexpr time_t kSecondsMax = 10;
constexpr size_t kEntryBytes = 8192;  // what one getdents64 may fill

// The longest path that is looked at: one name more than the depth that is walked.
constexpr size_t kPathRoom = (kCollectedDepthMax + 1) * (NAME_MAX + 1);

time_t now_s() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec;
}

int open_folder(const char* path) { return open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC); }

class Collector {
 public:
  Collector(const CollectOptions& options, Collecting what, MustEnd must_end)
      : options_(options), what_(what), must_end_(must_end), give_up_at_(now_s() + kSecondsMax) {}

  void run() {
    const int folder = open_folder(options_.folder);
    const FolderChanges* changes = options_.changes;
    if (folder < 0) {
      leave_behind(LeftBehindCode::unreadable);
    } else if (changes == nullptr || (changes->more_made && !changes->touched)) {
      walk(folder, 0);
    } else if (changes->touched) {
      complete_ = false;  // the path of a copied folder may lead anywhere
    } else {
      look_at_made(folder, *changes);
    }
    if (folder >= 0) close(folder);
    send_summary();
  }

 private:
  bool time_is_up() {
    if (complete_ && (++entries_ > kEntriesMax || must_end_.asked(must_end_.context) || now_s() >= give_up_at_))
      complete_ = false;
    return !complete_;
  }

  void look_at_made(int folder, const FolderChanges& changes) {
    for (size_t i = 0; i < changes.made_count && !time_is_up(); ++i) {
      const MadeEntry& made = changes.made[i];
      size_t depth = 0;
      for (const char* c = made.folder; *c != '\0'; ++c) depth += *c == '/' || c == made.folder ? 1 : 0;
      path_size_ = 0;
      // Deeper ones are too long to be told.
      if (depth <= kCollectedDepthMax) add_to_path(made.folder, strlen(made.folder));
      add_to_path(made.name, strnlen(made.name, NAME_MAX));
      const int parent =
          openat(folder, depth == 0 ? "." : made.folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
      struct stat status {};
      if (parent < 0 || depth > kCollectedDepthMax) {
        leave_behind(parent < 0 ? LeftBehindCode::unreadable : LeftBehindCode::too_deep);
      } else if (fstatat(parent, made.name, &status, AT_SYMLINK_NOFOLLOW) == 0 || errno != ENOENT) {
        look_at(parent, made.name, depth);
      }
      if (parent >= 0) close(parent);
    }
  }

  // getdents64 and not readdir: it would take memory, and a run may have used up all that there was.
  void walk(int folder, size_t depth) {
    alignas(dirent64) static char buffers[kCollectedDepthMax + 1][kEntryBytes];
    char* const buffer = buffers[depth];
    for (;;) {
      const ssize_t size = getdents64(folder, buffer, kEntryBytes);
      if (size < 0) leave_behind(LeftBehindCode::unreadable);
      if (size <= 0) return;
      for (ssize_t at = 0; at < size;) {
        const auto* entry = reinterpret_cast<const dirent64*>(buffer + at);
        at += entry->d_reclen;
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0) continue;
        if (time_is_up()) return;
        const size_t path_before = path_size_;
        add_to_path(entry->d_name, strnlen(entry->d_name, NAME_MAX));
        look_at(folder, entry->d_name, depth);
        path_size_ = path_before;
        path_[path_size_] = '\0';
      }
    }
  }

  void add_to_path(const char* name, size_t length) {
    if (path_size_ > 0) path_[path_size_++] = '/';
    memcpy(path_ + path_size_, name, length);
    path_size_ += length;
    path_[path_size_] = '\0';
  }

  void look_at(int folder, const char* name, size_t depth) {
    struct stat status {};
    const bool copied = options_.changes != nullptr && options_.changes->more_made && was_copied(path_);
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
      leave_behind(LeftBehindCode::unreadable);
    } else if (S_ISDIR(status.st_mode)) {
      look_into(folder, name, depth);
    } else if (copied) {
      return;
    } else if (S_ISLNK(status.st_mode)) {
      leave_behind(LeftBehindCode::link);
    } else if (!S_ISREG(status.st_mode)) {
      leave_behind(LeftBehindCode::special_file);
    } else {
      take(folder, name, status);
    }
  }

  void look_into(int folder, const char* name, size_t depth) {
    if (depth == kCollectedDepthMax) return leave_behind(LeftBehindCode::too_deep);
    const int child = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    if (child < 0) return leave_behind(LeftBehindCode::unreadable);
    walk(child, depth + 1);
    close(child);
  }

  void take(int folder, const char* name, const struct stat& status) {
    if (what_ == Collecting::names || options_.files_max == 0) return leave_behind(LeftBehindCode::not_asked);
    if (status.st_nlink != 1) return leave_behind(LeftBehindCode::hard_link);
    // Whether it is text that shows as it is, guard looks.
    if (path_size_ > kCollectedPathMax) return leave_behind(LeftBehindCode::bad_name);
    if (status.st_size > options_.file_bytes_max) return leave_behind(LeftBehindCode::too_large);
    if (files_ >= options_.files_max || status.st_size > options_.bytes_max - bytes_) {
      return leave_behind(LeftBehindCode::too_many);
    }
    const int file = openat(folder, name, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (file < 0) return leave_behind(LeftBehindCode::unreadable);
    ++files_;
    bytes_ += status.st_size;
    send_file(file, status.st_size);
    close(file);
  }

  void send_file(int file, long long size) {
    char* const payload = frame_payload();
    for (int i = 0; i < 8; ++i) payload[i] = static_cast<char>((size >> (56 - 8 * i)) & 0xff);
    memcpy(payload + 8, path_, path_size_);
    send_frame(FrameType::file, 8 + path_size_);
    while (size > 0) {
      const size_t wanted =
          size < static_cast<long long>(kFramePayloadMax) ? static_cast<size_t>(size) : kFramePayloadMax;
      const ssize_t got = read(file, payload, wanted);
      if (got < 0 && errno == EINTR) continue;
      // Its size was announced, and nothing is left that could have changed it: a stream without an end tells the
      // truth.
      if (got <= 0) _exit(kExitCannotServe);
      send_frame(FrameType::file_data, static_cast<size_t>(got));
      size -= got;
    }
  }

  void leave_behind(LeftBehindCode code) {
    if (static_cast<size_t>(++left_behind_) > kLeftBehindToldMax) return;
    char* const payload = frame_payload();
    const size_t length = path_size_ < kCollectedPathMax ? path_size_ : kCollectedPathMax;
    payload[0] = static_cast<char>(code);
    memcpy(payload + 1, path_, length);
    send_frame(FrameType::left_behind, 1 + length);
  }

  void send_summary() {
    Lines lines;
    lines.add("files", files_);
    lines.add("bytes", bytes_);
    lines.add("left_behind", left_behind_);
    lines.add("complete", complete_ ? 1 : 0);
    lines.send(FrameType::collected);
  }

  const CollectOptions& options_;
  Collecting what_;
  MustEnd must_end_;
  time_t give_up_at_;
  char path_[kPathRoom + 1] = {};  // of what is looked at, below the folder
  size_t path_size_ = 0;
  long long entries_ = 0;
  long long files_ = 0;
  long long bytes_ = 0;
  long long left_behind_ = 0;
  bool complete_ = true;
};

}  // namespace

void collect_files(const CollectOptions& options, Collecting what, MustEnd must_end) {
  Collector(options, what, must_end).run();
}

}  // namespace guard::init
