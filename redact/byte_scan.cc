#include "redact/byte_scan.h"

#include <bit>

#if defined(__x86_64__)
#include <immintrin.h>
#define GUARD_AVX2 __attribute__((target("avx2")))
#endif

namespace guard {
namespace {

std::size_t find_one_by_one(const ByteScan& scan, std::string_view text, std::uint32_t invert) {
  const bool wanted = invert == 0;
  std::size_t at = 0;
  while (at < text.size() && scan.set().has(text[at]) != wanted) ++at;
  return at;
}

std::size_t behind_last_one_by_one(const ByteScan& scan, std::string_view text) {
  std::size_t at = text.size();
  while (at > 0 && scan.set().has(text[at - 1])) --at;
  return at;
}

}  // namespace

#if defined(__x86_64__)
struct ByteScanVectors {
  static constexpr std::size_t kWidth = 32;

  GUARD_AVX2 static __m256i in_both_halves(const std::array<std::uint8_t, 16>& rows) {
    return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(rows.data())));
  }

  // A bit for each of 32 bytes: is it in the set?
  GUARD_AVX2 static std::uint32_t members(const ByteScan& scan, const char* bytes) {
    const __m256i bits = _mm256_setr_epi8(1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128, 1, 2, 4, 8, 16,
                                          32, 64, -128, 1, 2, 4, 8, 16, 32, 64, -128);
    const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(bytes));
    const __m256i nibble = _mm256_set1_epi8(0x0f);
    const __m256i columns = _mm256_and_si256(text, nibble);
    const __m256i rows = _mm256_and_si256(_mm256_srli_epi16(text, 4), nibble);
    // A byte's own high bit chooses between the tables.
    const __m256i row_set = _mm256_blendv_epi8(_mm256_shuffle_epi8(in_both_halves(scan.low_rows_), columns),
                                               _mm256_shuffle_epi8(in_both_halves(scan.high_rows_), columns), text);
    const __m256i row_bit = _mm256_shuffle_epi8(bits, rows);
    const __m256i in = _mm256_cmpeq_epi8(_mm256_and_si256(row_set, row_bit), row_bit);
    return static_cast<std::uint32_t>(_mm256_movemask_epi8(in));
  }

  GUARD_AVX2 static std::size_t find(const ByteScan& scan, std::string_view text, std::uint32_t invert) {
    std::size_t at = 0;
    for (; at + kWidth <= text.size(); at += kWidth) {
      const std::uint32_t hits = members(scan, text.data() + at) ^ invert;
      if (hits != 0) return at + static_cast<std::size_t>(std::countr_zero(hits));
    }
    return at + find_one_by_one(scan, text.substr(at), invert);
  }

  GUARD_AVX2 static std::size_t behind_last_other(const ByteScan& scan, std::string_view text) {
    std::size_t at = text.size();
    for (; at >= kWidth; at -= kWidth) {
      const std::uint32_t others = ~members(scan, text.data() + at - kWidth);
      if (others != 0) return at - static_cast<std::size_t>(std::countl_zero(others));
    }
    return behind_last_one_by_one(scan, text.substr(0, at));
  }
};
#endif

ByteScan::ByteScan(const ByteSet& set) : set_(set), find_(find_one_by_one), behind_last_other_(behind_last_one_by_one) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!set.has(static_cast<char>(byte))) continue;
    auto& rows = byte < 128 ? low_rows_ : high_rows_;
    rows[byte & 15] = static_cast<std::uint8_t>(rows[byte & 15] | 1u << (byte >> 4 & 7));
  }
  find_ = ByteScanVectors::find;
  behind_last_other_ = ByteScanVectors::behind_last_other;
#endif
}

}  // namespace guard
