// What GuardLibraries.cmake links in the place of parts of Hyperscan.
#include <nmmintrin.h>
#define _Bool bool  // NOLINT(bugprone-reserved-identifier): the header of the C library is no C++ to clang
#include <sys/platform/x86.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

// The C library has asked the CPU.
extern "C" {
extern bool guard_hyperscan_avx2;
bool guard_hyperscan_avx2 = CPU_FEATURE_ACTIVE(AVX2) && CPU_FEATURE_ACTIVE(BMI2) && CPU_FEATURE_ACTIVE(LZCNT);
bool guard_hyperscan_available() { return CPU_FEATURE_ACTIVE(SSE4_2) && CPU_FEATURE_ACTIVE(POPCNT); }
}

// The CRC32C that Hyperscan checks its databases with whenever it gets working memory for one: 2 MB when a file is
// checked. Its own takes one word after the other, each of which waits for the one before; this takes three at a time,
// which is three times as fast.

namespace {

std::uint64_t eight_at(const unsigned char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight;
}

// Of two polynomials, modulo that of CRC32C. As everywhere in it, the highest bit stands for 1.
std::uint32_t product(std::uint32_t a, std::uint32_t b) {
  std::uint32_t sum = 0;
  for (; a != 0; a <<= 1) {
    if (a >> 31 != 0) sum ^= b;
    b = b >> 1 ^ (b % 2 != 0 ? 0x82f63b78u : 0);
  }
  return sum;
}

}  // namespace

// SSE4.2: HyperscanScanner::available() asks for it.
extern "C" __attribute__((target("sse4.2"))) std::uint32_t guard_hyperscan_checksum(
    std::uint32_t start, const void* buffer, std::size_t size) {
  const auto* bytes = static_cast<const unsigned char*>(buffer);
  const std::size_t third = size / 24 * 8;
  std::uint64_t first = start;
  std::uint64_t second = 0;
  std::uint64_t last = 0;
  for (const unsigned char* end = bytes + third; bytes != end; bytes += 8) {
    first = _mm_crc32_u64(first, eight_at(bytes));
    second = _mm_crc32_u64(second, eight_at(bytes + third));
    last = _mm_crc32_u64(last, eight_at(bytes + 2 * third));
  }
  // What stands before a third is what it would be with as many zeros behind it: x to the power of their bits, times
  // it.
  std::uint32_t behind_third = 0x80000000u;  // 1
  std::uint32_t power = 0x00800000u;         // x^8
  for (std::size_t left = third; left != 0; left /= 2, power = product(power, power)) {
    if (left % 2 != 0) behind_third = product(behind_third, power);
  }
  const std::uint32_t two =
      product(behind_third, static_cast<std::uint32_t>(first)) ^ static_cast<std::uint32_t>(second);
  std::uint32_t sum = product(behind_third, two) ^ static_cast<std::uint32_t>(last);
  bytes += 2 * third;
  for (std::size_t left = size - 3 * third; left != 0; --left) sum = _mm_crc32_u8(sum, *bytes++);
  return sum;
}
