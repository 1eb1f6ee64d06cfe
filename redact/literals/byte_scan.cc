#include "redact/literals/byte_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define GUARD_AVX2 __attribute__((target("avx2")))
#define GUARD_AVX512 __attribute__((target("avx512f,avx512bw,bmi")))
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

void members_one_by_one(const ByteScan& scan, const char* bytes, std::size_t words, std::uint64_t* members) {
  for (std::size_t word = 0; word < words; ++word) {
    members[word] = 0;
    for (std::size_t i = 0; i < 64; ++i) members[word] |= std::uint64_t{scan.set().has(*bytes++)} << i;
  }
}

// Looks for the first long run in one word of members after the other.
class LongRun {
 public:
  // The next `size` bytes. True if a long run has been found; begin() is where.
  bool take(std::uint64_t members, std::size_t size) {
    const auto leading = static_cast<std::size_t>(std::countr_one(members));
    if (before_ + leading >= ByteScan::kLongRun) {
      begin_ = at_ - before_;
      return true;
    }
    // One that lies inside of the word holds the bits in its middle.
    constexpr std::size_t kMiddle = 64 - ByteScan::kLongRun;
    constexpr std::uint64_t kMiddleBits = ((std::uint64_t{1} << (2 * ByteScan::kLongRun - 64)) - 1) << kMiddle;
    if ((members & kMiddleBits) == kMiddleBits) {
      const std::size_t begin = kMiddle - static_cast<std::size_t>(std::countl_one(members << (64 - kMiddle)));
      if (static_cast<std::size_t>(std::countr_one(members >> begin)) >= ByteScan::kLongRun) {
        begin_ = at_ + begin;
        return true;
      }
    }
    at_ += size;
    before_ = leading == size ? before_ + size : static_cast<std::size_t>(std::countl_one(members << (64 - size)));
    begin_ = at_ - before_;
    return false;
  }
  // Of the long run, or of the run that reaches the end of what was taken.
  std::size_t begin() const noexcept { return begin_; }

 private:
  std::size_t at_ = 0;
  std::size_t before_ = 0;  // bytes of a run before at_
  std::size_t begin_ = 0;
};

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

  GUARD_AVX2 static void members_avx2(
      const ByteScan& scan, const char* bytes, std::size_t words, std::uint64_t* found) {
    for (std::size_t word = 0; word < words; ++word, bytes += 64) {
      found[word] = members(scan, bytes) | std::uint64_t{members(scan, bytes + kWidth)} << kWidth;
    }
  }

  GUARD_AVX512 static __m512i in_four_lanes(const std::array<std::uint8_t, 16>& rows) {
    // The plain broadcast makes g++ 12 warn of its own header.
    return _mm512_maskz_broadcast_i32x4(0xffff, _mm_load_si128(reinterpret_cast<const __m128i*>(rows.data())));
  }

  // The set's tables, in registers.
  struct Wide {
    __m512i low_rows;
    __m512i high_rows;
    GUARD_AVX512 explicit Wide(const ByteScan& scan)
        : low_rows(in_four_lanes(scan.low_rows_)), high_rows(in_four_lanes(scan.high_rows_)) {}

    // A bit for each of 64 bytes: is it in the set?
    GUARD_AVX512 std::uint64_t members(__m512i text) const {
      const __m512i bits = _mm512_set1_epi64(static_cast<long long>(0x8040201008040201u));
      const __m512i nibble = _mm512_set1_epi8(0x0f);
      const __m512i columns = _mm512_and_si512(text, nibble);
      const __m512i rows = _mm512_and_si512(_mm512_srli_epi16(text, 4), nibble);
      const __m512i row_set = _mm512_mask_shuffle_epi8(
          _mm512_shuffle_epi8(low_rows, columns), _mm512_movepi8_mask(text), high_rows, columns);
      return _mm512_test_epi8_mask(row_set, _mm512_shuffle_epi8(bits, rows));
    }
  };

  GUARD_AVX512 static void members_avx512(
      const ByteScan& scan, const char* bytes, std::size_t words, std::uint64_t* found) {
    const Wide wide(scan);
    for (std::size_t word = 0; word < words; ++word, bytes += 64) found[word] = wide.members(_mm512_loadu_si512(bytes));
  }

  GUARD_AVX512 static std::size_t find_avx512(const ByteScan& scan, std::string_view text, std::uint32_t invert) {
    const Wide wide(scan);
    const std::uint64_t others = invert == 0 ? 0 : ~std::uint64_t{0};
    std::size_t at = 0;
    for (; at + 64 <= text.size(); at += 64) {
      const std::uint64_t hits = wide.members(_mm512_loadu_si512(text.data() + at)) ^ others;
      if (hits != 0) return at + static_cast<std::size_t>(std::countr_zero(hits));
    }
    if (at == text.size()) return at;
    const std::uint64_t there = (std::uint64_t{1} << (text.size() - at)) - 1;
    const __m512i last = _mm512_maskz_loadu_epi8(there, text.data() + at);
    const std::uint64_t hits = (wide.members(last) ^ others) & there;
    return hits != 0 ? at + static_cast<std::size_t>(std::countr_zero(hits)) : text.size();
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

ByteScan::ByteScan(const ByteSet& set)
    : set_(set), find_(find_one_by_one), behind_last_other_(behind_last_one_by_one), members_(members_one_by_one) {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("avx2")) return;
  for (unsigned byte = 0; byte < 256; ++byte) {
    if (!set.has(static_cast<char>(byte))) continue;
    auto& rows = byte < 128 ? low_rows_ : high_rows_;
    rows[byte & 15] = static_cast<std::uint8_t>(rows[byte & 15] | 1u << (byte >> 4 & 7));
  }
  find_ = ByteScanVectors::find;
  behind_last_other_ = ByteScanVectors::behind_last_other;
  members_ = ByteScanVectors::members_avx2;
  if (!__builtin_cpu_supports("avx512bw")) return;
  find_ = ByteScanVectors::find_avx512;
  members_ = ByteScanVectors::members_avx512;
#endif
}

void ByteScan::members(std::string_view text, std::uint64_t* words) const {
  const std::size_t whole = text.size() / 64;
  if (whole > 0) members_(*this, text.data(), whole, words);
  text.remove_prefix(64 * whole);
  if (text.empty()) return;
  char last[64] = {};
  std::memcpy(last, text.data(), text.size());
  members_(*this, last, 1, words + whole);
  words[whole] &= (std::uint64_t{1} << text.size()) - 1;
}

std::size_t ByteScan::find_long_run(std::string_view text) const {
  constexpr std::size_t kWords = 8;
  std::uint64_t members[kWords];
  LongRun run;
  while (text.size() >= 64) {
    const std::size_t words = std::min(text.size() / 64, kWords);
    members_(*this, text.data(), words, members);
    for (std::size_t word = 0; word < words; ++word) {
      if (run.take(members[word], 64)) return run.begin();
    }
    text.remove_prefix(64 * words);
  }
  if (!text.empty()) {
    char last[64] = {};
    std::memcpy(last, text.data(), text.size());
    members_(*this, last, 1, members);
    run.take(members[0] & ((std::uint64_t{1} << text.size()) - 1), text.size());
  }
  return run.begin();
}

}  // namespace guard
