#include "runner/files/file_digests.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <exception>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/text/text.h"
#include "common/unique_fd.h"
#include "runner/files/plain_path.h"
#include "runner/files/tree_writer.h"

namespace guard {
namespace {

constexpr std::size_t kEntriesMax = 128;
constexpr std::uint64_t kStoreBytesMax = 256ul * 1024;
constexpr std::size_t kHexDigest = 2 * Sha256::kBytes;

// A file written within the last seconds may be written again within the same tick of the clock that stamps it, and
// nothing would show it. The slowest clock among usual file systems ticks every two seconds.
constexpr std::int64_t kSettledAfterSeconds = 3;

std::string identity(const struct stat& status) {
  return fmt::format("{:x}:{:x}:{:x}:{:x}.{:x}:{:x}.{:x}", status.st_dev, status.st_ino, status.st_size,
      status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
}

bool settled(const struct stat& status) { return ::time(nullptr) - status.st_ctim.tv_sec >= kSettledAfterSeconds; }

}  // namespace

Result<std::string> FileDigests::sha256_hex_of(const std::filesystem::path& path) {
  UniqueFd fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  if (!fd) {
    const int number = errno;
    return Error::from_errno(
        number == ENOENT ? ErrorCode::file_not_found : ErrorCode::io_error, printable(path.native()), number);
  }
  struct stat before {};
  if (::fstat(fd.get(), &before) != 0) return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
  if (!S_ISREG(before.st_mode)) {
    return Error(ErrorCode::input_invalid, fmt::format("{} is not a regular file", printable(path.native())));
  }
  const std::string key = identity(before);
  if (const auto entry = known_.find(key); entry != known_.end()) return entry->second;

  Sha256 hash;
  GUARD_TRY(each_chunk(fd.get(), path, nullptr, [&hash](std::string_view bytes) {
    hash.update(bytes);
    return ok();
  }));
  std::string digest = hash.finish_hex();
  struct stat after {};
  if (::fstat(fd.get(), &after) == 0 && identity(after) == key && settled(after)) {
    known_.insert_or_assign(key, digest);
    changed_ = true;
  }
  return digest;
}

void FileDigests::load() {
  const auto text = read_file(store_, kStoreBytesMax, FollowLinks::no);
  if (!text) return;
  std::string_view rest = *text;
  while (!rest.empty()) {
    const auto line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    const auto blank = line.find(' ');
    if (blank == std::string_view::npos || !is_hex(line.substr(0, blank), kHexDigest)) continue;
    known_.insert_or_assign(std::string(line.substr(blank + 1)), std::string(line.substr(0, blank)));
  }
}

void FileDigests::save() noexcept {
  if (!changed_) return;
  try {
    // Stale entries look like any other; when there are many, all are forgotten, which costs one more reading of each
    // file.
    if (known_.size() > kEntriesMax) known_.clear();
    std::string text;
    for (const auto& [key, digest] : known_) text += fmt::format("{} {}\n", digest, key);
    if (make_folders(store_.parent_path())) (void)write_file_atomically(store_, text, 0600);
  } catch (const std::exception&) {
    // Out of memory while remembering: the next run computes again.
  }
}

}  // namespace guard
