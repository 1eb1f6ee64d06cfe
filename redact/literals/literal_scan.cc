#include "redact/literals/literal_scan.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "redact/literals/literal_hash.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define GUARD_AVX2 __attribute__((target("avx2,bmi,bmi2,popcnt")))
#define GUARD_AVX512 __attribute__((target("avx512f,avx512bw,avx512vbmi,avx2,bmi,bmi2,popcnt")))
#endif

namespace guard {
namespace {

using Halves = LiteralTables::Halves;
using HeadGroups = LiteralTables::HeadGroups;
using ShortGroups = LiteralTables::ShortGroups;

constexpr std::size_t kBehind = 7;  // filters and hashes look at no more bytes behind a place than these

std::uint32_t byte_of(char c) { return static_cast<unsigned char>(c); }

// Where in 64 bytes a literal of five bytes or more may begin.
std::uint64_t long_candidates(std::span<const std::uint16_t> places, const char* bytes) {
  std::uint64_t mask = 0;
  for (std::size_t at = 1; at < 64; at += 2) {
    const std::uint16_t slot = places[hashed(folded_four(bytes + at), kPlaceBits)];
    if ((before(slot) & class_of(bytes[at - 1])) != 0) mask |= std::uint64_t{1} << (at - 1);
    if ((behind(slot) & class_of(bytes[at + 4])) != 0) mask |= std::uint64_t{1} << at;
  }
  return mask;
}

// Those of the second filter that the first 64 bytes show, for CPUs without the vectors.
std::uint64_t short_candidates(const ShortGroups& groups, const char* bytes) {
  std::uint64_t mask = 0;
  for (std::size_t at = 0; at < 64; ++at) {
    for (const auto& places : groups) {
      unsigned left = 0xff;
      for (std::size_t place = 0; place < places.size(); ++place) {
        const std::uint32_t byte = byte_of(bytes[at + place]);
        left &= unsigned{places[place].lower[byte & 15]} & places[place].upper[byte >> 4];
      }
      if (left != 0) mask |= std::uint64_t{1} << at;
    }
  }
  return mask;
}

// Writes down the places whose bits are set and returns how many. Which word has how many can't be foretold: so a few
// are always written, and what is behind the last is written over later.
[[gnu::always_inline]] inline std::size_t places_of(
    const std::uint64_t* found, std::size_t words, std::uint16_t* places) {
  constexpr int kAlways = 4;
  std::size_t count = 0;
  for (std::size_t word = 0; word < words; ++word) {
    std::uint64_t left = found[word];
    const auto total = static_cast<int>(std::popcount(left));
    for (int done = 0; done == 0 || done < total; done += kAlways) {
      for (int i = 0; i < kAlways; ++i) {
        places[count + static_cast<std::size_t>(done + i)] =
            static_cast<std::uint16_t>(64 * word + static_cast<std::size_t>(std::countr_zero(left)));
        left &= left - 1;
      }
    }
    count += static_cast<std::size_t>(total);
  }
  return count;
}

// Keeps those of the places where the hashes of a literal's first bytes stand; again without a branch for each.
[[gnu::always_inline]] inline std::size_t likely_places(
    const LiteralTables& tables, const char* bytes, std::uint16_t* places, std::size_t count) {
  const std::uint64_t* const fours = tables.fours.data();
  const auto exact = [bits = tables.exact.data()](std::uint32_t hash) { return bits[hash / 64] >> (hash % 64); };
  const auto longer = [bits = tables.longer.data()](std::uint32_t hash) { return bits[hash / 64] >> (hash % 64); };
  const auto lengths_at = [&](const char* here) { return lengths_of(fours, hashed(folded_four(here), kFourBits)); };
  std::size_t begun = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint16_t at = places[i];
    const unsigned lengths = lengths_at(bytes + at);
    places[begun] = at;
    begun += (lengths | lengths / kBeginsLong) & 1u;
  }
  std::size_t kept = 0;
  for (std::size_t i = 0; i < begun; ++i) {
    const std::uint16_t at = places[i];
    const std::uint64_t eight = folded(eight_at(bytes + at));
    const std::uint64_t is_longer =
        longer(hashed_five(eight)) | longer(hashed_six(eight)) | longer(hashed_eight(eight));
    const std::uint64_t is_short = exact(hashed(four_at(bytes + at), kExactBits));
    const unsigned lengths = lengths_at(bytes + at);
    places[kept] = at;
    kept += ((lengths & is_short) | (lengths / kBeginsLong & is_longer)) & 1u;
  }
  return kept;
}

[[gnu::always_inline]] inline std::size_t likely_places(const LiteralTables& tables, const char* bytes,
    std::size_t words, const std::uint64_t* found, std::uint16_t* places) {
  return likely_places(tables, bytes, places, places_of(found, words, places));
}

std::size_t places_plain(const LiteralTables& tables, const char* bytes, std::size_t words, std::uint16_t* places) {
  std::uint64_t found[LiteralScan::kBlockWords];
  for (std::size_t word = 0; word < words; ++word) {
    const char* const here = bytes + 64 * word;
    found[word] = long_candidates(tables.places, here) | short_candidates(*tables.short_groups, here);
  }
  return likely_places(tables, bytes, words, found, places);
}

#if defined(__x86_64__)
GUARD_AVX2 inline __m256i load_avx2(const void* bytes) {
  return _mm256_loadu_si256(static_cast<const __m256i*>(bytes));
}

GUARD_AVX2 inline __m256i in_both_lanes(const std::array<std::uint8_t, 16>& rows) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(rows.data())));
}

// The halves of each byte of a block and of those behind it that a place looks at; every use of one is then a load.
struct TextHalves {
  alignas(64) std::uint8_t lower[LiteralScan::kBlockBytes + kBehind];
  alignas(64) std::uint8_t upper[LiteralScan::kBlockBytes + kBehind];

  GUARD_AVX2 void take(const char* bytes, std::size_t words) {
    for (std::size_t at = 0; at < 64 * words; at += 32) take_32(bytes, at);
    take_32(bytes, 64 * words + kBehind - 32);
  }

 private:
  GUARD_AVX2 void take_32(const char* bytes, std::size_t at) {
    const __m256i text = load_avx2(bytes + at);
    const __m256i half = _mm256_set1_epi8(0x0f);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(lower + at), _mm256_and_si256(text, half));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(upper + at), _mm256_and_si256(_mm256_srli_epi16(text, 4), half));
  }
};

// A bit for each byte that is not zero.
GUARD_AVX2 inline std::uint32_t set_bytes(__m256i bytes) {
  return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(bytes, _mm256_setzero_si256())));
}

// One pass for each eight groups: their tables then stay in registers.
GUARD_AVX2 inline void short_candidates_avx2(
    const std::array<Halves, 4>& places, const TextHalves& text, std::size_t words, std::uint64_t* found) {
  __m256i lower_rows[4];
  __m256i upper_rows[4];
  for (std::size_t place = 0; place < 4; ++place) {
    lower_rows[place] = in_both_lanes(places[place].lower);
    upper_rows[place] = in_both_lanes(places[place].upper);
  }
  const auto of_32 = [&](std::size_t at) GUARD_AVX2 {
    __m256i left = _mm256_set1_epi8(-1);
    for (std::size_t place = 0; place < 4; ++place) {
      const __m256i in_lower = _mm256_shuffle_epi8(lower_rows[place], load_avx2(text.lower + at + place));
      const __m256i in_upper = _mm256_shuffle_epi8(upper_rows[place], load_avx2(text.upper + at + place));
      left = _mm256_and_si256(left, _mm256_and_si256(in_lower, in_upper));
    }
    return set_bytes(left);
  };
  for (std::size_t word = 0; word < words; ++word) {
    found[word] |= of_32(64 * word) | std::uint64_t{of_32(64 * word + 32)} << 32;
  }
}

// The hash of the four bytes at every fourth place.
GUARD_AVX2 inline __m256i hashed_avx2(const char* bytes) {
  const __m256i folded = _mm256_or_si256(load_avx2(bytes), _mm256_set1_epi8(0x20));
  const __m256i product = _mm256_mullo_epi32(folded, _mm256_set1_epi32(static_cast<int>(kHashFactor)));
  return _mm256_srli_epi32(product, 32 - kPlaceBits);
}

// The table's slots for the four bytes at every other place, from the second on. Together they are a row of bytes, one
// for each place: of which classes the byte before the four, or that behind them, has to be.
GUARD_AVX2 inline void look_up_avx2(
    const std::uint16_t* places, const char* bytes, std::size_t words, std::uint16_t* slots) {
  for (std::size_t half = 0; half < 2 * words; ++half) {
    const char* const here = bytes + 32 * half + 1;
    const __m256i hashes = _mm256_or_si256(hashed_avx2(here), _mm256_slli_epi32(hashed_avx2(here + 2), 16));
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(slots + 16 * half), hashes);
  }
  for (std::uint16_t* const end = slots + 32 * words; slots != end; slots += 4) {
    std::uint64_t four = 0;
    std::memcpy(&four, slots, sizeof four);
    four = places[four & 0xffff] | std::uint64_t{places[four >> 16 & 0xffff]} << 16 |
        std::uint64_t{places[four >> 32 & 0xffff]} << 32 | std::uint64_t{places[four >> 48]} << 48;
    std::memcpy(slots, &four, sizeof four);
  }
}

GUARD_AVX2 inline void long_candidates_avx2(
    const std::uint16_t* places, const char* bytes, const TextHalves& text, std::size_t words, std::uint64_t* found) {
  static_assert(kPlaceBits <= 16);
  alignas(64) std::uint16_t slots[LiteralScan::kBlockBytes / 2];
  look_up_avx2(places, bytes, words, slots);
  const __m256i classes = in_both_lanes(kClassOfHalf);
  const __m256i odd = _mm256_set1_epi16(static_cast<short>(0xff00));
  const auto of_32 = [&](std::size_t at) GUARD_AVX2 {
    const __m256i beside = _mm256_blendv_epi8(load_avx2(text.lower + at), load_avx2(text.lower + at + 4), odd);
    return set_bytes(_mm256_and_si256(_mm256_shuffle_epi8(classes, beside), load_avx2(slots + at / 2)));
  };
  for (std::size_t word = 0; word < words; ++word) {
    found[word] = of_32(64 * word) | std::uint64_t{of_32(64 * word + 32)} << 32;
  }
}

GUARD_AVX2 std::size_t places_avx2(
    const LiteralTables& tables, const char* bytes, std::size_t words, std::uint16_t* places) {
  TextHalves text;
  text.take(bytes, words);
  std::uint64_t found[LiteralScan::kBlockWords];
  long_candidates_avx2(tables.places.data(), bytes, text, words, found);
  for (const auto& eight_groups : *tables.short_groups) short_candidates_avx2(eight_groups, text, words, found);
  return likely_places(tables, bytes, words, found, places);
}

// In which of eight groups each of 64 bytes occurs.
struct ByteGroups {
  __m512i low;
  __m512i high;
  GUARD_AVX512 explicit ByteGroups(const std::array<std::uint8_t, 128>& groups)
      : low(_mm512_loadu_si512(groups.data())), high(_mm512_loadu_si512(groups.data() + 64)) {}
  GUARD_AVX512 __m512i of(__m512i text) const { return _mm512_permutex2var_epi8(low, text, high); }
};

struct HeadBytes {
  __m512i at[LiteralHead::kBytes];
};

struct EightGroups {
  ByteGroups place[LiteralHead::kBytes];
  GUARD_AVX512 explicit EightGroups(const std::array<std::array<std::uint8_t, 128>, LiteralHead::kBytes>& groups)
      : place{ByteGroups(groups[0]), ByteGroups(groups[1]), ByteGroups(groups[2]), ByteGroups(groups[3]),
            ByteGroups(groups[4])} {}
  // Those of which each place has all five bytes.
  GUARD_AVX512 __m512i left(const HeadBytes& head) const {
    const __m512i three =
        _mm512_and_si512(_mm512_and_si512(place[0].of(head.at[0]), place[1].of(head.at[1])), place[2].of(head.at[2]));
    return _mm512_and_si512(_mm512_and_si512(place[3].of(head.at[3]), place[4].of(head.at[4])), three);
  }
};

GUARD_AVX512 std::size_t places_avx512(
    const LiteralTables& tables, const char* bytes, std::size_t words, std::uint16_t* places) {
  std::uint64_t found[LiteralScan::kBlockWords];
  const auto& groups = tables.head_groups->groups;
  const EightGroups first(groups[0]);
  const EightGroups second(groups[1]);
  const EightGroups third(groups[2]);
  const EightGroups fourth(groups[3]);
  for (std::size_t word = 0; word < words; ++word) {
    const char* const here = bytes + 64 * word;
    const HeadBytes head{{_mm512_loadu_si512(here), _mm512_loadu_si512(here + 1), _mm512_loadu_si512(here + 2),
        _mm512_loadu_si512(here + 3), _mm512_loadu_si512(here + 4)}};
    const __m512i left = _mm512_or_si512(
        _mm512_or_si512(first.left(head), second.left(head)), _mm512_or_si512(third.left(head), fourth.left(head)));
    found[word] = _mm512_test_epi8_mask(left, left);
  }
  return likely_places(tables, bytes, words, found, places);
}
#endif

LiteralScan::Places places_for(Vectors vectors) {
#if defined(__x86_64__)
  if (vectors == Vectors::avx512) return places_avx512;
  if (vectors == Vectors::avx2) return places_avx2;
#endif
  return places_plain;
}

}  // namespace

Vectors best_vectors() {
#if defined(__x86_64__)
  static const Vectors best = [] {
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return Vectors::none;
    return __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vbmi") ? Vectors::avx512 : Vectors::avx2;
  }();
  return best;
#else
  return Vectors::none;
#endif
}

LiteralScan::LiteralScan(const LiteralTable& table, Vectors vectors)
    : table_(&table), find_places_(places_for(vectors)) {}

Offset LiteralScan::next(const StreamText& text, Offset from) {
  while (from < text.end()) {
    if (from < begin_ || from >= end_) {
      // What the last few begin with can not be seen yet.
      if (text.end() - from <= kBehind) break;
      look(text.from(from), from);
    }
    while (next_ < count_ && begin_ + places_[next_] < from) ++next_;
    for (; next_ < count_; ++next_) {
      const Offset at = begin_ + places_[next_];
      if (table_->begins(text.from(at))) return at;
    }
    from = end_;
  }
  while (from < text.end() && !table_->begins(text.from(from))) ++from;
  return from;
}

// Remembers the places of some bytes from `from` on, which is where `text` begins.
void LiteralScan::look(std::string_view text, Offset from) {
  const std::size_t heads = text.size() - kBehind;
  std::size_t words = std::min(heads / 64, kBlockWords);
  std::size_t looked_at = 64 * words;
  char last[64 + kBehind] = {};
  const char* bytes = text.data();
  if (words == 0) {
    text.copy(last, sizeof last);
    bytes = last;
    words = 1;
    looked_at = heads;
  }
  begin_ = from;
  end_ = from + looked_at;
  next_ = 0;
  count_ = find_places_(table_->tables(), bytes, words, places_.data());
  while (count_ > 0 && places_[count_ - 1] >= looked_at) --count_;
}

}  // namespace guard
