// The budget of kept output, shared by the two streams of a run: the first `bytes_max` bytes, counted after masking,
// are passed on; the rest is counted and dropped, and the child never waits. Cuts fall on the boundary of a marker
// ([REDACTED:...]), of a UTF-8 character or of an escape sequence, never inside one.
//
// Stands last: child -> Redactor -> TerminalSafety -> OutputCap -> out. Masking comes before the cut, because half a
// key is no match; what terminal safety makes of a byte is longer than the byte, so it is counted after that.
//
// Not thread-safe: both streams are pumped by one thread.
#pragma once

#include <cstdint>
#include <string>

#include "common/byte_sink.h"

namespace guard {

class OutputBudget {
 public:
  // 0: no cap.
  explicit OutputBudget(std::uint64_t bytes_max) : bytes_max_(bytes_max) {}
  std::uint64_t kept_bytes() const noexcept { return kept_; }
  std::uint64_t dropped_bytes() const noexcept { return dropped_; }

 private:
  friend class OutputCap;
  std::uint64_t bytes_max_;
  std::uint64_t kept_ = 0;
  std::uint64_t dropped_ = 0;
  bool closed_ = false;  // once something was dropped nothing more is kept: what is kept is a prefix
};

class OutputCap final : public ByteSink {
 public:
  // Both must outlive this.
  OutputCap(OutputBudget& budget, ByteSink& out) : budget_(budget), out_(out) {}
  // A marker, character or escape counts as having arrived when its last byte did.
  Result<void> push(std::span<const char> bytes) override;
  Result<void> finish() override;

  bool truncated() const noexcept { return truncated_; }  // some bytes of this stream were dropped

  // No marker or escape is longer; what goes on without an end is text.
  static constexpr std::size_t kUnitBytesMax = 256;

 private:
  Result<void> keep(std::string_view units);
  void drop(std::size_t bytes);

  OutputBudget& budget_;
  ByteSink& out_;
  bool truncated_ = false;
  std::string carry_;  // an unfinished marker, character or escape at the end of the last push
};

}  // namespace guard
