// Writes a tar archive that is a pure function of what is put into it: owner root, no names of users, time 0 unless a
// file is given one. POSIX ustar, with pax records where a name is too long for it.
//
// Parents go before children; the order of calls is the order in the archive. Not thread-safe.
#pragma once

#include <cstdint>
#include <string_view>

#include "common/byte_sink.h"
#include "common/result.h"

namespace guard {

class TarWriter {
 public:
  // `out` must outlive this. finish() is not called on it.
  explicit TarWriter(ByteSink& out) : out_(out) {}

  // Paths are relative, with '/', without "." or "..". INPUT_INVALID otherwise.
  Result<void> add_folder(std::string_view path, unsigned mode);
  Result<void> add_link(std::string_view path, std::string_view target);
  Result<void> add_file(std::string_view path, unsigned mode, std::string_view bytes);

  // For large files: announces `bytes` bytes, which must then come in exactly, by content() and end_file(). end_file()
  // is IO_ERROR when they did not.
  // `changed_s` since 1970, not negative.
  Result<void> begin_file(std::string_view path, unsigned mode, std::uint64_t bytes, std::uint64_t changed_s = 0);
  Result<void> content(std::string_view bytes);
  Result<void> end_file();

  // The end marker. Call once, last.
  Result<void> finish();

  // What is written by begin_file() to end_file(): how large an archive will be is known before it is written.
  static std::uint64_t padded(std::uint64_t bytes) { return (bytes + 511) / 512 * 512; }

 private:
  Result<void> header(
      std::string_view path, unsigned mode, std::uint64_t bytes, char type, std::string_view link_target);
  Result<void> raw_header(
      std::string_view path, unsigned mode, std::uint64_t bytes, char type, std::string_view link_target);
  Result<void> write(std::string_view bytes);
  Result<void> pad(std::uint64_t content_bytes);

  ByteSink& out_;
  std::uint64_t file_bytes_ = 0;
  std::uint64_t file_left_ = 0;
  std::uint64_t changed_s_ = 0;  // of the next header
};

}  // namespace guard
