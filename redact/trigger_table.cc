#include "redact/trigger_table.h"

#include <algorithm>
#include <bit>
#include <cstring>

#if defined(__x86_64__)
#include <immintrin.h>
#define GUARD_AVX2 __attribute__((target("avx2,bmi,bmi2")))
#endif

namespace guard {
namespace {

using Halves = TriggerTables::Halves;
using ShortGroups = TriggerTables::ShortGroups;

constexpr std::size_t kPlaceBits = 17;  // 32 KB
constexpr std::size_t kShortBytesMax = 4;
constexpr std::size_t kGroupBits = 14;
constexpr std::size_t kBlockWords = 8;
constexpr std::size_t kBlockBytes = 64 * kBlockWords;
constexpr std::size_t kBlockAhead = 4;  // a block's filters look at this many bytes behind it

using Places = std::array<std::uint64_t, kBlockWords>;  // a bit for each place of a block

std::uint32_t byte_of(char c) {
  return static_cast<unsigned char>(c);
}

// Letters in lower case; some other bytes are taken for each other too, which a full comparison mends.
std::uint32_t folded_triple(const char* bytes) {
  std::uint16_t two = 0;
  std::memcpy(&two, bytes, sizeof two);
  if constexpr (std::endian::native == std::endian::big) two = __builtin_bswap16(two);
  return two | byte_of(bytes[2]) << 16 | 0x202020u;
}

std::uint32_t folded_four(const char* bytes) {
  std::uint32_t four = 0;
  std::memcpy(&four, bytes, sizeof four);
  if constexpr (std::endian::native == std::endian::big) four = __builtin_bswap32(four);
  return four | 0x20202020u;
}

// The first eight bytes, or as many as there are.
std::uint64_t folded_eight(std::string_view text) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, text.data(), std::min(text.size(), sizeof eight));
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight | 0x2020202020202020u;
}

std::uint64_t mask_of(std::size_t bytes) {
  return bytes >= 8 ? ~std::uint64_t{0} : (std::uint64_t{1} << (8 * bytes)) - 1;
}

constexpr std::uint32_t kHashFactor = 0x9e3779b1u;  // 2^32 by the golden ratio

std::uint32_t hashed(std::uint32_t bytes, std::size_t bits) {
  return bytes * kHashFactor >> (32 - bits);
}

std::size_t folded_byte(char c) {
  return byte_of(c) | 0x20u;
}

char lower(char c) {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

// The two bits of a slot of the table are those of the place before and of the place itself.
constexpr std::size_t kSlotsInWord = 16;

// May a literal of five bytes or more begin there?
[[gnu::always_inline]] inline std::uint64_t long_candidates(const std::uint32_t* places, const char* bytes) {
  std::uint64_t mask = 0;
  const auto look = [&](std::size_t at) {
    const std::uint32_t slot = hashed(folded_four(bytes + at), kPlaceBits);
    mask = mask << 2 | (places[slot / kSlotsInWord] >> (2 * slot % 32) & 3u);
  };
  for (std::size_t at = 63; at < 64; at -= 8) {
    look(at);
    look(at - 2);
    look(at - 4);
    look(at - 6);
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

void candidates_plain(const TriggerTables& tables, const char* bytes, Places& found) {
  for (std::uint64_t& word : found) {
    word = long_candidates(tables.places.data(), bytes) | short_candidates(*tables.short_groups, bytes);
    bytes += 64;
  }
}

#if defined(__x86_64__)
GUARD_AVX2 inline __m256i in_both_lanes(const std::array<std::uint8_t, 16>& rows) {
  return _mm256_broadcastsi128_si256(_mm_load_si128(reinterpret_cast<const __m128i*>(rows.data())));
}

// One pass for each eight groups: their tables then stay in registers.
GUARD_AVX2 inline void short_candidates_avx2(const std::array<Halves, 4>& places, const char* bytes, Places& found) {
  __m256i lower_rows[4];
  __m256i upper_rows[4];
  for (std::size_t place = 0; place < 4; ++place) {
    lower_rows[place] = in_both_lanes(places[place].lower);
    upper_rows[place] = in_both_lanes(places[place].upper);
  }
  const __m256i nibble = _mm256_set1_epi8(0x0f);
  const auto of_32 = [&](const char* at) GUARD_AVX2 {
    __m256i left = _mm256_set1_epi8(-1);
    for (std::size_t place = 0; place < 4; ++place) {
      const __m256i text = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(at + place));
      const __m256i in_lower = _mm256_shuffle_epi8(lower_rows[place], _mm256_and_si256(text, nibble));
      const __m256i in_upper =
          _mm256_shuffle_epi8(upper_rows[place], _mm256_and_si256(_mm256_srli_epi16(text, 4), nibble));
      left = _mm256_and_si256(left, _mm256_and_si256(in_lower, in_upper));
    }
    return ~static_cast<std::uint32_t>(_mm256_movemask_epi8(_mm256_cmpeq_epi8(left, _mm256_setzero_si256())));
  };
  for (std::uint64_t& word : found) {
    word |= of_32(bytes) | std::uint64_t{of_32(bytes + 32)} << 32;
    bytes += 64;
  }
}

GUARD_AVX2 void candidates_avx2(const TriggerTables& tables, const char* bytes, Places& found) {
  for (std::size_t word = 0; word < kBlockWords; ++word) {
    found[word] = long_candidates(tables.places.data(), bytes + 64 * word);
  }
  for (const auto& eight_groups : *tables.short_groups) short_candidates_avx2(eight_groups, bytes, found);
}
#endif

using BlockCandidates = void (*)(const TriggerTables& tables, const char* bytes, Places& found);

BlockCandidates best_block_candidates() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2")) return candidates_avx2;
#endif
  return candidates_plain;
}

}  // namespace

TriggerTable::TriggerTable() {
  own();
}

// Goes over from tables of somebody else's to a copy.
void TriggerTable::own() {
  if (short_groups_) return;
  entries_.assign(tables_.entries.begin(), tables_.entries.end());
  group_.assign(tables_.group.begin(), tables_.group.end());
  first_.assign(tables_.first.begin(), tables_.first.end());
  places_.assign(tables_.places.begin(), tables_.places.end());
  short_groups_ =
      std::make_unique<ShortGroups>(tables_.short_groups == nullptr ? ShortGroups{} : *tables_.short_groups);
  group_.resize(std::size_t{1} << kGroupBits);
  first_.resize(256);
  places_.resize((std::size_t{1} << kPlaceBits) / kSlotsInWord);
  tables_ = {entries_, group_, first_, places_, short_groups_.get()};
}

void TriggerTable::add(const Trigger& trigger, const ByteSet& next) {
  own();
  const std::string_view literal = trigger.literal;
  if (literal.size() > kShortBytesMax) {
    enter(literal);
  } else {
    ShortGroup alone;
    for (unsigned value = 0; value < 256; ++value) {
      const char byte = static_cast<char>(value);
      for (std::size_t place = 0; place < alone.lower.size(); ++place) {
        const bool here = place >= literal.size() ? next.empty() || next.has(byte)
                          : trigger.fold_case     ? lower(byte) == literal[place]
                                                  : byte == literal[place];
        if (!here) continue;
        alone.lower[place] = static_cast<std::uint16_t>(alone.lower[place] | 1u << (value & 15));
        alone.upper[place] = static_cast<std::uint16_t>(alone.upper[place] | 1u << (value >> 4));
      }
    }
    short_.push_back(alone);
  }
  // At the chains' ends: the order of the kinds decides which of them names a marker.
  std::uint32_t* group = &group_[hashed(folded_triple(literal.data()), kGroupBits)];
  while (*group != 0) group = &entries_[*group - 1].next_in_group;
  std::uint32_t* by_first = &first_[folded_byte(literal.front())];
  while (*by_first != 0) by_first = &entries_[*by_first - 1].next_with_first;
  *group = *by_first = static_cast<std::uint32_t>(entries_.size() + 1);
  const std::uint64_t mask = mask_of(literal.size());
  entries_.push_back({trigger, folded_eight(literal) & mask, mask, 0, 0});
  tables_ = {entries_, group_, first_, places_, short_groups_.get()};
}

void TriggerTable::enter(std::string_view literal) {
  for (const bool begins_here : {true, false}) {
    const std::uint32_t slot = hashed(folded_four(literal.data() + (begins_here ? 0 : 1)), kPlaceBits);
    places_[slot / kSlotsInWord] |= (begins_here ? 2u : 1u) << (2 * slot % 32);
  }
}

TriggerTable::ShortGroup TriggerTable::joined(const ShortGroup& a, const ShortGroup& b) {
  ShortGroup both;
  for (std::size_t place = 0; place < both.lower.size(); ++place) {
    both.lower[place] = a.lower[place] | b.lower[place];
    both.upper[place] = a.upper[place] | b.upper[place];
  }
  return both;
}

// How many texts of four bytes a group lets through.
unsigned long TriggerTable::breadth(const ShortGroup& group) {
  unsigned long product = 1;
  for (const std::uint16_t lower : group.lower) product *= static_cast<unsigned long>(std::popcount(lower));
  for (const std::uint16_t upper : group.upper) product *= static_cast<unsigned long>(std::popcount(upper));
  return product;
}

// Joins the two groups whose union lets through least that neither did, until sixteen are left.
void TriggerTable::group_short() {
  constexpr std::size_t kGroups = 16;
  while (short_.size() > kGroups) {
    std::size_t first = 0;
    std::size_t second = 1;
    unsigned long least = ~0ul;
    for (std::size_t i = 1; i < short_.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        const unsigned long together = breadth(joined(short_[i], short_[j]));
        const unsigned long apart = breadth(short_[i]) + breadth(short_[j]);
        const unsigned long growth = together > apart ? together - apart : 0;
        if (growth >= least) continue;
        least = growth;
        first = j;
        second = i;
      }
    }
    short_[first] = joined(short_[first], short_[second]);
    short_.erase(short_.begin() + static_cast<std::ptrdiff_t>(second));
  }
  for (std::size_t group = 0; group < short_.size(); ++group) {
    const auto bit = static_cast<std::uint8_t>(1u << (group % 8));
    for (std::size_t place = 0; place < 4; ++place) {
      Halves& halves = (*short_groups_)[group / 8][place];
      for (unsigned half = 0; half < 16; ++half) {
        if ((short_[group].lower[place] >> half & 1) != 0) halves.lower[half] |= bit;
        if ((short_[group].upper[place] >> half & 1) != 0) halves.upper[half] |= bit;
      }
    }
  }
}

TriggerTable::Candidates TriggerTable::candidates(std::string_view text) const {
  const bool by_first = text.size() < 3;
  const std::uint32_t index = by_first ? (text.empty() ? std::uint32_t{0} : tables_.first[folded_byte(text.front())])
                                       : tables_.group[hashed(folded_triple(text.data()), kGroupBits)];
  return {Iterator(tables_.entries, index, by_first), Iterator(tables_.entries, 0, by_first)};
}

bool TriggerTable::begins(std::string_view text) const {
  if (text.size() < 8) {
    for (const Trigger& trigger : candidates(text)) {
      if (seen(trigger, text) != Seen::no) return true;
    }
    return false;
  }
  const std::uint64_t eight = folded_eight(text.substr(0, 8));
  for (std::uint32_t index = tables_.group[hashed(eight & 0xffffffu, kGroupBits)]; index != 0;) {
    const TriggerTables::Entry& entry = tables_.entries[index - 1];
    if ((eight & entry.mask) == entry.head && seen(entry.trigger, text) != Seen::no) return true;
    index = entry.next_in_group;
  }
  return false;
}

Offset TriggerTable::next(const StreamText& text, Offset from) const {
  return from + next_in(text.from(from));
}

std::size_t TriggerTable::next_in(std::string_view text) const {
  static const BlockCandidates block_candidates = best_block_candidates();
  std::size_t i = 0;
  for (; i + kBlockBytes + kBlockAhead <= text.size(); i += kBlockBytes) {
    Places found;
    block_candidates(tables_, text.data() + i, found);
    // Most candidates are none, and which of them can't be foretold: so the next look, whether three bytes hash like a
    // literal's, has no branch either.
    std::array<std::uint16_t, kBlockBytes> likely;
    std::size_t count = 0;
    for (std::size_t word = 0; word < kBlockWords; ++word) {
      for (std::uint64_t left = found[word]; left != 0; left &= left - 1) {
        const std::size_t at = 64 * word + static_cast<std::size_t>(std::countr_zero(left));
        likely[count] = static_cast<std::uint16_t>(at);
        count += tables_.group[hashed(folded_triple(text.data() + i + at), kGroupBits)] != 0 ? 1u : 0u;
      }
    }
    for (std::size_t k = 0; k < count; ++k) {
      if (begins(text.substr(i + likely[k]))) return i + likely[k];
    }
  }
  for (; i < text.size(); ++i) {
    if (begins(text.substr(i))) return i;
  }
  return text.size();
}

Seen TriggerTable::seen(const Trigger& trigger, std::string_view text) {
  const std::size_t size = std::min(trigger.literal.size(), text.size());
  if (trigger.fold_case) {
    for (std::size_t i = 0; i < size; ++i) {
      if (lower(text[i]) != trigger.literal[i]) return Seen::no;
    }
  } else if (std::memcmp(trigger.literal.data(), text.data(), size) != 0) {
    return Seen::no;
  }
  return size == trigger.literal.size() ? Seen::fully : Seen::partly;
}

}  // namespace guard
