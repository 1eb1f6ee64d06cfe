// A file without a name, written as a sink and then read from its start: for archives that an engine is sent, which
// have to say how long they are before the first byte. On the disk of `folder`, because /tmp may be memory.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "common/byte_sink.h"
#include "common/unique_fd.h"

namespace guard {

class ScratchFile final : public ByteSink {
 public:
  static Result<ScratchFile> create(const std::filesystem::path& folder);

  Result<void> push(std::span<const char> bytes) override;
  Result<void> finish() override { return ok(); }

  std::uint64_t bytes() const noexcept { return bytes_; }
  // Positioned at the start. Once; nothing may be pushed any more.
  Result<UniqueFd> take();

 private:
  explicit ScratchFile(UniqueFd fd) : fd_(std::move(fd)) {}
  UniqueFd fd_;
  std::uint64_t bytes_ = 0;
};

// A file in memory that holds `bytes`, positioned at its start and closed on exec. sealed: nobody can change it any
// more.
enum class Sealed : std::uint8_t { no, yes };
Result<UniqueFd> memory_file(const char* name, std::string_view bytes, Sealed sealed = Sealed::no);

}  // namespace guard
