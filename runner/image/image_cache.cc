#include "runner/image/image_cache.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/own_entry.h"
#include "common/text/foreign_json.h"
#include "common/text/text.h"
#include "common/time.h"
#include "runner/files/plain_path.h"
#include "runner/files/tree_writer.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kRecordBytesMax = 64ul * 1024;
constexpr std::chrono::minutes kBuildMax{30};  // the install's 15 minutes, and as much again to copy on a slow disk
constexpr int kLockPollMs = 50;
constexpr std::size_t kUserDigits = 16;
constexpr std::uint64_t kUserBytesMax = 4096;  // PATH_MAX
constexpr std::size_t kUsersMax = 1000;

bool is_digest(std::string_view text) { return is_hex(text, 64); }

Result<UniqueFd> open_lock(const fs::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (!fd)
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot open {}", printable(path.native())), errno);
  return fd;
}

bool is_same_file(const UniqueFd& fd, const fs::path& path) {
  struct stat held {};
  struct stat there {};
  return ::fstat(fd.get(), &held) == 0 && ::lstat(path.c_str(), &there) == 0 && held.st_dev == there.st_dev &&
      held.st_ino == there.st_ino;
}

// Linear in the number of entries; a tree that changes meanwhile gives a number that was never true, which is only
// shown.
std::uint64_t bytes_below(const fs::path& folder) {
  std::uint64_t bytes = 0;
  std::error_code failure;
  for (fs::recursive_directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    struct stat status {};
    if (::lstat(entry->path().c_str(), &status) == 0 && S_ISREG(status.st_mode))
      bytes += static_cast<std::uint64_t>(status.st_size);
  }
  return bytes;
}

// What image.json holds besides the version of its form and layer_bytes.
constexpr std::pair<const char*, std::string ImageRecord::*> kTexts[] = {{"digest", &ImageRecord::digest},
    {"image_id", &ImageRecord::image_id}, {"layer_sha256", &ImageRecord::layer_sha256},
    {"bun_version", &ImageRecord::bun_version}, {"name", &ImageRecord::name}, {"source", &ImageRecord::source},
    {"imported", &ImageRecord::imported}, {"config_sha256", &ImageRecord::config_sha256}};
constexpr std::pair<const char*, std::vector<std::string> ImageRecord::*> kLists[] = {
    {"module_folders", &ImageRecord::module_folders}, {"libraries", &ImageRecord::libraries},
    {"notes", &ImageRecord::notes}, {"layers", &ImageRecord::layers}, {"env", &ImageRecord::env}};

json record_document(const ImageRecord& record) {
  json document = {{"version", 1}, {"layer_bytes", record.layer_bytes}};
  for (const auto& [key, text] : kTexts) document[key] = record.*text;
  for (const auto& [key, list] : kLists) document[key] = record.*list;
  return document;
}

std::optional<ImageRecord> read_record(const fs::path& folder) {
  const auto text = read_file(folder / "image.json", kRecordBytesMax, FollowLinks::no);
  const auto document = text ? parse_json(*text) : Result<json>(text.error());
  if (!document || !document->is_object() || document->value("version", json()) != 1) return std::nullopt;
  ImageRecord record;
  const json bytes = document->value("layer_bytes", json());
  if (!bytes.is_number_unsigned()) return std::nullopt;
  record.layer_bytes = bytes.get<std::uint64_t>();
  for (const auto& [key, member] : kTexts) {
    if (const json value = document->value(key, json()); value.is_string()) record.*member = value.get<std::string>();
  }
  for (const auto& [key, member] : kLists) {
    const json list = document->value(key, json());
    if (list.is_null()) continue;  // of a guard that did not know it
    if (!list.is_array() || !std::ranges::all_of(list, [](const json& one) { return one.is_string(); }))
      return std::nullopt;
    record.*member = list.get<std::vector<std::string>>();
  }
  if (!is_digest(record.digest) || !is_digest(record.layer_sha256) || record.image_id.empty()) return std::nullopt;
  return record;
}

std::string user_name(std::string_view project) { return sha256_hex(project).substr(0, kUserDigits); }

// That a use can't be noted, because the cache is another user's or the disk is full, is no reason not to run.
void note_user(const fs::path& image, const fs::path& project) {
  std::error_code failure;
  const fs::path folder = fs::weakly_canonical(project, failure);
  if (failure || project.empty()) return;
  const fs::path note = image / "users" / user_name(folder.native());
  if (const auto known = read_file(note, kUserBytesMax, FollowLinks::no); known && *known == folder.native()) {
    ::utimensat(AT_FDCWD, note.c_str(), nullptr, AT_SYMLINK_NOFOLLOW);
  } else if (make_folders(note.parent_path())) {
    (void)write_file_atomically(note, folder.native());
  }
}

std::chrono::system_clock::time_point changed(const fs::path& path) {
  struct stat status {};
  return std::chrono::system_clock::from_time_t(::lstat(path.c_str(), &status) == 0 ? status.st_mtim.tv_sec : 0);
}

void read_users(CachedImage& image) {
  image.used = changed(image.folder / "image.json");
  std::multimap<std::chrono::system_clock::time_point, fs::path, std::greater<>> users;
  std::error_code failure;
  for (fs::directory_iterator entry(image.folder / "users", failure), end;
       !failure && entry != end && users.size() < kUsersMax; entry.increment(failure)) {
    auto project = read_file(entry->path(), kUserBytesMax, FollowLinks::no);
    if (project && user_name(*project) == entry->path().filename()) users.emplace(changed(entry->path()), *project);
  }
  if (!users.empty()) image.used = std::max(image.used, users.begin()->first);
  for (auto& [at, project] : users) image.projects.push_back(std::move(project));
}

// Only the owner may write to what will be run.
bool is_ours_alone(const fs::path& path) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  return (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & (S_IWGRP | S_IWOTH)) == 0;
}

}  // namespace

Result<ImageCache> ImageCache::open() {
  GUARD_TRY_ASSIGN(const fs::path cache, shared_cache_folder());
  const fs::path folder = cache / "images";
  GUARD_TRY(make_folders(folder));
  if (!is_ours_alone(folder)) {
    return Error(ErrorCode::io_error,
        fmt::format("{} belongs to someone else, or others may write to it", printable(folder.native())))
        .hint("set GUARD_CACHE_DIR to a folder of yours");
  }
  return ImageCache(folder);
}

std::optional<ImageRecord> ImageCache::find(std::string_view digest) const {
  const fs::path folder = image_folder(digest);
  auto record = read_record(folder);
  if (!record || record->digest != digest || !is_ours_alone(folder) || !is_ours_alone(folder / "root"))
    return std::nullopt;
  return record;
}

Result<UniqueFd> ImageCache::lock_for_building(const CancelToken& cancel, bool& waited) const {
  waited = false;
  GUARD_TRY_ASSIGN(UniqueFd lock, open_lock(folder_ / ".lock"));
  const Deadline deadline = Deadline::after(kBuildMax);
  while (::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) return Error::from_errno(ErrorCode::io_error, "flock", errno);
    waited = true;
    if (deadline.passed()) {
      return Error(ErrorCode::execution_timeout,
          fmt::format("another build still holds {}", printable((folder_ / ".lock").native())));
    }
    // flock cannot wait with a deadline.
    pollfd cancelled{cancel.fd(), POLLIN, 0};
    ::poll(&cancelled, 1, kLockPollMs);
    if (cancel.cancelled()) return Error(ErrorCode::cancelled, "stopped while waiting for another build");
  }
  return lock;
}

Result<UniqueFd> ImageCache::hold(std::string_view digest, const fs::path& project) const {
  const fs::path path = image_folder(digest) / "lock";
  UniqueFd lock(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
  // A prune that came first has moved the folder away, lock and all, and a build may have put a new one there: what
  // counts is that the lock which is held is the one that lies there now.
  if (!lock || ::flock(lock.get(), LOCK_SH | LOCK_NB) != 0 || !is_same_file(lock, path) || !find(digest)) {
    return Error(ErrorCode::image_missing, fmt::format("the image {} is not built", digest.substr(0, 16)));
  }
  note_user(image_folder(digest), project);
  return lock;
}

Result<void> ImageCache::publish(const fs::path& built, const ImageRecord& record) const {
  GUARD_TRY(new_file(built / "lock", "", 0600));
  // The contents before the marker, the marker before the name: after a power cut an image is whole or not there.
  UniqueFd folder(::open(built.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!folder || ::syncfs(folder.get()) != 0)
    return Error::from_errno(ErrorCode::io_error, "cannot flush the image to disk", errno);
  GUARD_TRY(write_file_atomically(built / "image.json", record_document(record).dump(2) + "\n"));
  if (::fsync(folder.get()) != 0)
    return Error::from_errno(ErrorCode::io_error, "cannot flush the image to disk", errno);

  const fs::path place = image_folder(record.digest);
  if (::rename(built.c_str(), place.c_str()) == 0) return ok();
  if (errno != ENOTEMPTY && errno != EEXIST) {
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot put the image into {}", printable(place.native())), errno);
  }
  // Something incomplete lies there.
  GUARD_TRY(set_aside(place));
  if (::rename(built.c_str(), place.c_str()) == 0) return ok();
  return Error::from_errno(ErrorCode::io_error, fmt::format("cannot replace {}", printable(place.native())), errno);
}

Result<void> ImageCache::set_aside(const fs::path& place) const {
  GUARD_TRY_ASSIGN(const TempDir aside, TempDir::create(folder_));
  if (::rename(place.c_str(), (aside.path() / "image").c_str()) == 0) return remove_tree(aside.path() / "image");
  return Error::from_errno(ErrorCode::io_error, fmt::format("cannot remove {}", printable(place.native())), errno);
}

std::vector<CachedImage> ImageCache::sweep_leftovers(SweepMode mode) const {
  std::map<std::string, std::uint64_t> sizes;
  std::error_code failure;
  for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure)) {
    if (is_own_name(entry->path().filename().native())) sizes[entry->path().string()] = bytes_below(entry->path());
  }
  std::vector<CachedImage> removed;
  for (const auto& path : sweep_own(folder_, mode).removed) removed.push_back({"", path, sizes[path], false});
  return removed;
}

Result<std::vector<CachedImage>> ImageCache::list(ImageSizes sizes) const {
  std::vector<CachedImage> images;
  std::error_code failure;
  for (fs::directory_iterator entry(folder_, failure), end; !failure && entry != end; entry.increment(failure)) {
    const std::string name = entry->path().filename().string();
    if (!is_digest(name)) continue;
    auto record = find(name);
    images.push_back(
        {name, entry->path(), sizes == ImageSizes::counted ? bytes_below(entry->path()) : 0, record.has_value()});
    if (record) {
      images.back().name = std::move(record->name);
      images.back().source = std::move(record->source);
      images.back().imported = std::move(record->imported);
    }
    read_users(images.back());
  }
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(folder_.native()), failure.value());
  std::sort(images.begin(), images.end(), [](const auto& a, const auto& b) { return a.digest < b.digest; });
  return images;
}

Result<std::vector<CachedImage>> ImageCache::remove(std::vector<CachedImage> images) const {
  std::vector<CachedImage> removed;
  for (auto& image : images) {
    // Runs that are in it hold the lock; one that comes now finds the image gone.
    UniqueFd lock(::open((image.folder / "lock").c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC));
    if (lock && ::flock(lock.get(), LOCK_EX | LOCK_NB) != 0) continue;
    GUARD_TRY(set_aside(image.folder));
    removed.push_back(std::move(image));
  }
  return removed;
}

}  // namespace guard
