#include "runner/init_side/fill_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>

#include "common/file_io.h"
#include "common/text/text.h"

namespace guard {
namespace {

constexpr std::size_t kBufferBytes = 1 << 20;

}  // namespace

Result<FillFile> FillFile::create(const std::filesystem::path& path) {
  UniqueFd file(::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0444));
  // The umask of whoever started us must not keep the sandbox's user out.
  if (!file || ::fchmod(file.get(), 0444) != 0)
    return Error::from_errno(ErrorCode::io_error, printable(path.native()), errno);
  return FillFile(std::move(file), path);
}

Result<void> FillFile::add(fill_format::Kind kind, std::string_view path, std::string_view content) {
  fill_format::Header header;
  header.kind = kind;
  header.path_bytes = static_cast<std::uint32_t>(path.size() + 1);
  header.content_bytes = content.size() + (kind == fill_format::Kind::link ? 1 : 0);
  waiting_.append(reinterpret_cast<const char*>(&header), sizeof header);
  waiting_.append(path).push_back('\0');
  GUARD_TRY(append(content));
  const std::uint64_t size = sizeof header + header.path_bytes + content.size();
  const std::uint64_t whole = sizeof header + header.path_bytes + header.content_bytes;
  waiting_.append(fill_format::aligned(whole) - size, '\0');
  return waiting_.size() < kBufferBytes ? ok() : flush();
}

Result<void> FillFile::finish() {
  GUARD_TRY(add(fill_format::Kind::end, ""));
  return flush();
}

Result<void> FillFile::append(std::string_view bytes) {
  if (bytes.size() < kBufferBytes) {
    waiting_.append(bytes);
    return ok();
  }
  GUARD_TRY(flush());
  return write(bytes);
}

Result<void> FillFile::write(std::string_view bytes) {
  return write_all(file_.get(), bytes).context(fmt::format("writing {}", printable(path_.native())));
}

Result<void> FillFile::flush() {
  GUARD_TRY(write(waiting_));
  waiting_.clear();
  return ok();
}

}  // namespace guard
