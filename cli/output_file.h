// A file that takes a program's output as it comes: every byte, unmasked and without a cap.
//
// Not thread-safe.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>

#include "common/byte_sink.h"
#include "common/hash.h"
#include "common/result.h"
#include "common/unique_fd.h"

namespace guard {

class OutputFile final : public ByteSink {
 public:
  // `option` names it in errors. What exists keeps its bytes until empty(). INPUT_INVALID: it is a link or no regular
  // file, so nobody in the project can lead the bytes elsewhere; IO_ERROR. A new one is for its owner alone: what is
  // written may hold secrets.
  static Result<OutputFile> open(std::string_view option, const std::string& path);

  // INPUT_INVALID where `fd` is this file, too; a negative one is none.
  Result<void> differs_from(int fd, std::string_view option) const;
  Result<void> empty();

  Result<void> push(std::span<const char> bytes) override;
  // Some file systems tell only here that there was no room.
  Result<void> finish() override;

  int fd() const noexcept { return fd_.get(); }
  const std::string& path() const noexcept { return path_; }
  std::uint64_t bytes() const noexcept { return bytes_; }
  std::string finish_sha256() { return hash_.finish_hex(); }  // once, last

 private:
  OutputFile(std::string_view option, std::string path, UniqueFd fd)
      : option_(option), path_(std::move(path)), fd_(std::move(fd)) {}
  Error failure(ErrorCode code, int error_number) const;

  std::string option_;
  std::string path_;
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
  Sha256 hash_;
};

}  // namespace guard
