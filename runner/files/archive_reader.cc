// Two readers stand behind each other: one takes the compression off, the other splits what comes of it into entries,
// so that the bytes between them can be digested.
#include "runner/files/archive_reader.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <string_view>
#include <utility>

#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kPiece = 256ul * 1024;

struct FreeArchive {
  void operator()(archive* reader) const noexcept { ::archive_read_free(reader); }
};
using Reader = std::unique_ptr<archive, FreeArchive>;

// What the reader reads from, and why that failed.
struct Feed {
  ByteSource& from;
  std::optional<Error> failure;
};

la_ssize_t give(archive* reader, void* into, const void** bytes) noexcept {
  auto& feed = *static_cast<Feed*>(into);
  auto piece = feed.from.next();
  if (!piece) {
    feed.failure = std::move(piece).error();
    ::archive_set_error(reader, EIO, "reading failed");
    return -1;
  }
  *bytes = piece->data();
  return static_cast<la_ssize_t>(piece->size());
}

// False: there is no more. Names that are not in this process's character set are no matter: they come as bytes.
Result<bool> answered(int code, archive* reader, const Feed& feed) {
  if (code == ARCHIVE_OK || code == ARCHIVE_WARN) return true;
  if (code == ARCHIVE_EOF) return false;
  if (feed.failure) return *feed.failure;
  const char* words = ::archive_error_string(reader);
  return Error(ErrorCode::input_invalid,
      fmt::format("the archive can't be read: {}", printable(words == nullptr ? "no reason" : words)))
      .hint("guard reads tar archives, plain or compressed with gzip or zstd; fetch or make this one again");
}

class Decompressed final : public ByteSource {
 public:
  explicit Decompressed(ByteSource& from) : feed_{from, {}}, reader_(::archive_read_new()) {}

  Result<void> open() {
    archive* const reader = reader_.get();
    ::archive_read_support_filter_gzip(reader);
    ::archive_read_support_filter_zstd(reader);
    ::archive_read_support_format_raw(reader);
    ::archive_read_support_format_empty(reader);
    GUARD_TRY(answered(::archive_read_open(reader, &feed_, nullptr, give, nullptr), reader, feed_));
    // The last one stands for no compression.
    if (::archive_filter_count(reader) > 2)
      return Error(ErrorCode::input_invalid, "the archive is compressed more than once")
          .hint("take one compression off");
    archive_entry* entry = nullptr;
    GUARD_TRY_ASSIGN(has_bytes_, answered(::archive_read_next_header(reader, &entry), reader, feed_));
    return ok();
  }

  Result<std::span<const char>> next() override {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    while (has_bytes_ && size == 0) {
      GUARD_TRY_ASSIGN(
          has_bytes_, answered(::archive_read_data_block(reader_.get(), &bytes, &size, &offset), reader_.get(), feed_));
    }
    return std::span(static_cast<const char*>(bytes), has_bytes_ ? size : 0);
  }

 private:
  Feed feed_;
  Reader reader_;
  bool has_bytes_ = false;
};

std::string text_of(const char* text) { return text == nullptr ? std::string() : std::string(text); }

TreeEntry entry_of(archive_entry* from) {
  TreeEntry entry;
  entry.path = text_of(::archive_entry_pathname(from));
  entry.executable = (::archive_entry_perm(from) & S_IXUSR) != 0;
  entry.changed_s = ::archive_entry_mtime(from);
  if (const char* target = ::archive_entry_hardlink(from); target != nullptr) {
    entry.kind = TreeEntry::Kind::hard_link;
    entry.target = target;
    return entry;
  }
  switch (::archive_entry_filetype(from)) {
    case AE_IFREG:
      entry.kind = TreeEntry::Kind::file;
      entry.bytes = static_cast<std::uint64_t>(std::max<la_int64_t>(::archive_entry_size(from), 0));
      break;
    case AE_IFDIR: entry.kind = TreeEntry::Kind::folder; break;
    case AE_IFLNK:
      entry.kind = TreeEntry::Kind::link;
      entry.target = text_of(::archive_entry_symlink(from));
      break;
    default: break;
  }
  return entry;
}

// Holes are not written.
Result<void> write_content(archive* reader, const Feed& feed, const TreeEntry& entry, int fd) {
  const auto failed = [&] {
    return Error::from_errno(ErrorCode::io_error, fmt::format("writing {}", printable(entry.path)), errno);
  };
  for (;;) {
    const void* bytes = nullptr;
    std::size_t size = 0;
    la_int64_t offset = 0;
    GUARD_TRY_ASSIGN(
        const bool more, answered(::archive_read_data_block(reader, &bytes, &size, &offset), reader, feed));
    if (!more) break;
    if (offset < 0 || static_cast<std::uint64_t>(offset) + size > entry.bytes)
      return Error(ErrorCode::input_invalid, fmt::format("{} holds more than it says", printable(entry.path)));
    for (std::size_t done = 0; done < size;) {
      const ssize_t written = ::pwrite(fd, static_cast<const char*>(bytes) + done, size - done,
          static_cast<off_t>(offset) + static_cast<off_t>(done));
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return failed();
      done += static_cast<std::size_t>(written);
    }
  }
  if (::ftruncate(fd, static_cast<off_t>(entry.bytes)) != 0) return failed();
  return ok();
}

}  // namespace

FileSource::FileSource(UniqueFd fd, std::string name, const CancelToken& cancel)
    : fd_(std::move(fd)), name_(std::move(name)), cancel_(cancel), buffer_(kPiece) {}

Result<std::span<const char>> FileSource::next() {
  for (;;) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while reading an archive");
    const ssize_t size = ::read(fd_.get(), buffer_.data(), buffer_.size());
    if (size >= 0) return std::span<const char>(buffer_.data(), static_cast<std::size_t>(size));
    if (errno != EINTR) return Error::from_errno(ErrorCode::io_error, printable(name_), errno);
  }
}

Result<std::span<const char>> DigestSource::next() {
  GUARD_TRY_ASSIGN(const auto piece, from_.next());
  if (piece.size() > left_) {
    return Error(ErrorCode::file_too_large, fmt::format("it holds more than the {} bytes that guard takes", bytes_max_))
        .hint("make a smaller image");
  }
  left_ -= piece.size();
  hash_.update(piece);
  return piece;
}

Result<std::string> DigestSource::finish_hex() {
  for (;;) {
    GUARD_TRY_ASSIGN(const auto piece, next());
    if (piece.empty()) return hash_.finish_hex();
  }
}

Result<std::unique_ptr<ByteSource>> decompressed(ByteSource& from) {
  auto source = std::make_unique<Decompressed>(from);
  GUARD_TRY(source->open());
  return std::unique_ptr<ByteSource>(std::move(source));
}

Result<void> read_tar(ByteSource& from, const TakeEntry& take) {
  Feed feed{from, {}};
  const Reader owned(::archive_read_new());
  archive* const reader = owned.get();
  ::archive_read_support_format_tar(reader);
  ::archive_read_set_options(reader, "hdrcharset=BINARY");  // names are bytes
  GUARD_TRY(answered(::archive_read_open(reader, &feed, nullptr, give, nullptr), reader, feed));
  for (;;) {
    archive_entry* found = nullptr;
    GUARD_TRY_ASSIGN(const bool more, answered(::archive_read_next_header(reader, &found), reader, feed));
    if (!more) return ok();
    const TreeEntry entry = entry_of(found);
    if (entry.path.empty()) return Error(ErrorCode::input_invalid, "the archive has an entry without a name");
    GUARD_TRY(take(entry, [&](int fd) { return write_content(reader, feed, entry, fd); }));
  }
}

}  // namespace guard
