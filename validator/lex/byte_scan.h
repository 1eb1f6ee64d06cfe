// The first place of one of a few bytes. Sixteen bytes at a time where the machine is known to have SSE2, which every
// x86-64 has.
#pragma once

#include <cstddef>
#include <string_view>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace guard {

// From `at` on; the size of `text`, or `at` where that is larger, if there is none.
template <char... kBytes>
std::size_t find_any_of(std::string_view text, std::size_t at) noexcept {
#if defined(__SSE2__)
  for (; at + 16 <= text.size(); at += 16) {
    const __m128i block = _mm_loadu_si128(reinterpret_cast<const __m128i*>(text.data() + at));
    __m128i hits = _mm_setzero_si128();
    ((hits = _mm_or_si128(hits, _mm_cmpeq_epi8(block, _mm_set1_epi8(kBytes)))), ...);
    const int mask = _mm_movemask_epi8(hits);
    if (mask != 0) return at + static_cast<std::size_t>(__builtin_ctz(static_cast<unsigned>(mask)));
  }
#endif
  for (; at < text.size(); ++at) {
    const char c = text[at];
    if (((c == kBytes) || ...)) return at;
  }
  return at;
}

}  // namespace guard
