// Looks for bytes of a set, or for bytes outside it, many at a time.
//
// A set of bytes is two tables of sixteen: row n of the first tells which of the bytes 0x0n, 0x1n .. 0x7n belong, the
// second the same for 0x8n .. 0xfn. Thirty-two bytes are then classified by three table look-ups in a vector
// register (W. Mula, "SIMD byte lookup", http://0x80.pl/notesen/2018-10-18-simd-byte-lookup.html), or sixty-four where
// the CPU has AVX-512. Where it has no AVX2 the bytes are looked at one by one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "redact/literals/byte_set.h"

namespace guard {

class ByteScan {
 public:
  explicit ByteScan(const ByteSet& set);

  // Where the first byte of the set is; text.size() if there is none.
  std::size_t find(std::string_view text) const { return find_(*this, text, 0); }
  // Where the first byte is that is not in the set; text.size() if all are.
  std::size_t find_other(std::string_view text) const { return find_(*this, text, ~0u); }
  // Behind the last byte that is not in the set; 0 if all are.
  std::size_t behind_last_other(std::string_view text) const { return behind_last_other_(*this, text); }

  // Where the first run of kLongRun or more bytes of the set begins. Without one, where the run begins that reaches the
  // end of the text and may go on; text.size() if none does.
  std::size_t find_long_run(std::string_view text) const;
  static constexpr std::size_t kLongRun = 40;

  // A bit for each byte of `text`, up to 64 bytes a word: is it in the set?
  void members(std::string_view text, std::uint64_t* words) const;

  const ByteSet& set() const noexcept { return set_; }

 private:
  friend struct ByteScanVectors;
  using Find = std::size_t (*)(const ByteScan&, std::string_view, std::uint32_t invert);
  using BehindLast = std::size_t (*)(const ByteScan&, std::string_view);
  // A bit for each byte of some words of 64 bytes: is it in the set?
  using Members = void (*)(const ByteScan&, const char* bytes, std::size_t words, std::uint64_t* members);

  ByteSet set_;
  alignas(16) std::array<std::uint8_t, 16> low_rows_{};
  alignas(16) std::array<std::uint8_t, 16> high_rows_{};
  Find find_;
  BehindLast behind_last_other_;
  Members members_;
};

}  // namespace guard
