#include "runner/process/run_folder.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/file_io.h"
#include "common/own_entry.h"

namespace guard {
namespace {

constexpr const char* kOwnerFile = "owner";

Result<std::filesystem::path> runs_folder() {
  GUARD_TRY_ASSIGN(const std::filesystem::path cache, shared_cache_folder());
  return cache / "runs";
}

enum class Lock { taken, held_by_other, no_file };

// flock(2) belongs to the open file: it is gone when the last copy of the descriptor is, however its owner died.
Lock try_lock(const std::filesystem::path& folder, UniqueFd& lock) {
  lock.reset(::open((folder / kOwnerFile).c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!lock) return errno == ENOENT ? Lock::no_file : Lock::held_by_other;
  return ::flock(lock.get(), LOCK_EX | LOCK_NB) == 0 ? Lock::taken : Lock::held_by_other;
}

}  // namespace

bool is_run_id(std::string_view name) {
  return !name.empty() && name.size() <= 64 && std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
  });
}

Result<std::string> new_run_id() {
  unsigned char bytes[10];
  if (::getrandom(bytes, sizeof bytes, 0) != static_cast<ssize_t>(sizeof bytes)) {
    return Error::from_errno(ErrorCode::io_error, "getrandom", errno);
  }
  std::string id = "r";
  for (const unsigned char byte : bytes) id += fmt::format("{:02x}", byte);
  return id;
}

RunFolder::RunFolder(RunFolder&&) noexcept = default;

RunFolder& RunFolder::operator=(RunFolder&& other) noexcept {
  std::swap(run_id_, other.run_id_);
  std::swap(path_, other.path_);
  std::swap(lock_, other.lock_);
  return *this;
}

RunFolder::~RunFolder() {
  if (!lock_) return;
  // What can't be removed now is found by the next sweep, because the lock goes with us.
  static_cast<void>(remove_tree(path_));
}

Result<RunFolder> RunFolder::create() {
  GUARD_TRY_ASSIGN(const std::string id, new_run_id());
  return create(id);
}

Result<RunFolder> RunFolder::create(const std::string& id) {
  constexpr int kTries = 3;
  for (int left = kTries - 1;; --left) {
    auto folder = create_once(id);
    if (folder || left == 0) return folder;
  }
}

Result<RunFolder> RunFolder::create_once(const std::string& id) {
  GUARD_TRY_ASSIGN(const std::filesystem::path runs, runs_folder());
  // Not to be listed by others: a run stages a copy of src in a folder of a random name.
  GUARD_TRY(make_folders(runs, 0711).context("making the run's folder"));
  const UniqueFd parent(::open(runs.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!parent) return Error::from_errno(ErrorCode::io_error, fmt::format("cannot open {}", runs.string()), errno);
  // Under another name until the lock is held: a sweep that looks in between does not take it for a dead run.
  GUARD_TRY_ASSIGN(const OwnEntry made,
      make_own_folder(parent.get(), 0755).context(fmt::format("making a run's folder in {}", runs.string())));
  const std::filesystem::path nascent = runs / made.name;
  RunFolder folder;
  folder.path_ = nascent;
  folder.lock_.reset(::open((nascent / kOwnerFile).c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  // From here on the destructor removes it.
  if (!folder.lock_ || ::flock(folder.lock_.get(), LOCK_EX | LOCK_NB) != 0) {
    const int number = errno;
    static_cast<void>(remove_tree(nascent));
    return Error::from_errno(
        ErrorCode::io_error, fmt::format("cannot lock the run's folder {}", nascent.string()), number);
  }
  // The umask of whoever started us must not keep the sandbox's user out.
  if (::chmod(nascent.c_str(), 0755) != 0 || ::rename(nascent.c_str(), (runs / id).c_str()) != 0) {
    return Error::from_errno(ErrorCode::io_error, fmt::format("cannot name {}", (runs / id).string()), errno);
  }
  folder.path_ = runs / id;
  folder.run_id_ = id;
  return folder;
}

Result<bool> remove_dead_run(const std::string& run_id, const RemoveLeftoverOfRun& remove_leftover) {
  GUARD_TRY_ASSIGN(const std::filesystem::path runs, runs_folder());
  UniqueFd lock;
  if (!is_run_id(run_id) || try_lock(runs / run_id, lock) == Lock::held_by_other) return false;
  const std::string which = fmt::format("run {}", run_id);
  // The folder stays where this fails, so that the next sweep tries again.
  GUARD_TRY(remove_leftover(run_id).context(which));
  GUARD_TRY(remove_tree(runs / run_id).context(which));
  return true;
}

SweepResult sweep_dead_runs(const RemoveLeftoverOfRun& remove_leftover, SweepMode mode) {
  SweepResult result;
  const auto runs = runs_folder();
  if (!runs) {
    result.failed.push_back(runs.error().to_string());
    return result;
  }
  std::error_code error;
  std::vector<std::string> names;
  for (std::filesystem::directory_iterator entry(*runs, error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  if (error && error != std::errc::no_such_file_or_directory) {
    result.failed.push_back(fmt::format("cannot list {}: {}", runs->string(), error.message()));
  }
  OwnSweep unborn = sweep_own(*runs, mode);
  result.failed.insert(result.failed.end(), unborn.failed.begin(), unborn.failed.end());
  for (const std::string& name : names) {
    if (!is_run_id(name)) continue;
    if (mode == SweepMode::list) {
      if (!run_is_alive(name)) result.removed.push_back(name);
      continue;
    }
    const auto removed = remove_dead_run(name, remove_leftover);
    if (!removed) result.failed.push_back(removed.error().to_string());
    if (removed && *removed) result.removed.push_back(name);
  }
  return result;
}

bool run_is_alive(const std::string& run_id) {
  const auto runs = runs_folder();
  if (!runs || !is_run_id(run_id)) return false;
  UniqueFd lock;
  return try_lock(*runs / run_id, lock) == Lock::held_by_other;
}

}  // namespace guard
