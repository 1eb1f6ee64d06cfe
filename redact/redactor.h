// Hides secrets in a stream of program output.
//
// Bytes go in by push() and come out, rewritten, in the sink. Output = F(input), a pure function of the bytes: a mask
// bit per byte, the union of all spans, each masked region replaced by one marker [REDACTED:kind]. However the input
// was cut into pushes, the output is the same. Up to kHeldBytesMax undecided bytes are held back, and up to
// kHeldInGapsMax where escapes and characters of no width make up most of the text; finish() lets them out. There are
// no timers: a finished line without a live candidate leaves at once.
//
// A sink that fails, or a rule that can't be used, closes the redactor: push() answers an Error from then on and
// nothing more leaves. What is shown then may lack its end, and never holds a byte that was not decided.
//
// Not thread-safe: one Redactor per stream. The sink must outlive it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <string>

#include "common/byte_sink.h"
#include "common/result.h"
#include "redact/kinds/secret_source.h"
#include "redact/masked_regions.h"

namespace guard {

class Redactor final : public ByteSink {
 public:
  // `secrets` must outlive the redactor.
  static Result<Redactor> create(const SecretSource& secrets, ByteSink& out);
  Redactor(Redactor&&) noexcept;
  Redactor& operator=(Redactor&&) noexcept;
  ~Redactor() override;  // drops the carried tail: losing a line is better than leaking a key

  Result<void> push(std::span<const char> bytes) override;
  // Decides what is held back as if the stream ended here (it did), lets it out, and finishes the sink.
  Result<void> finish() override;

  // Ends a stream that was cut by force (kill, time-out): a live candidate at the end is masked, not printed.
  Result<void> finish_cut();

  // Masked regions per kind so far. Counts only, never values.
  const std::map<std::string, std::uint64_t>& counts() const noexcept;

  // Bytes that were pushed and are neither out nor hidden yet.
  std::size_t held_bytes() const noexcept;

  // What is in memory between pushes: held bytes, and what decisions look back at.
  std::size_t carried_bytes() const noexcept;

  static constexpr std::size_t kHeldBytesMax = 512;
  static constexpr std::size_t kHeldInGapsMax = 3584;
  // Measured: 24,742 bytes over the texts of the law test, whatever their cuts.
  static constexpr std::size_t kCarryBytesMax = 26624;

 private:
  struct State;
  explicit Redactor(std::unique_ptr<State> state);
  friend Result<std::vector<MaskedRegion>> masked_regions(const SecretSource& secrets, std::string_view text);
  std::unique_ptr<State> state_;
};

// F of a text that is all there.
Result<std::string> redact_text(const SecretSource& secrets, std::string_view text);

}  // namespace guard
