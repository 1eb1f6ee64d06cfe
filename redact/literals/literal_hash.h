// How a trigger table hashes the first bytes of a text; the table is made and looked up with the same functions.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace guard {

inline constexpr std::size_t kPlaceBits = 13;   // 16 KB
inline constexpr std::size_t kFourBits = 16;    // 16 KB
inline constexpr std::size_t kExactBits = 16;   // 8 KB
inline constexpr std::size_t kLongerBits = 16;  // 8 KB
inline constexpr std::size_t kGroupBits = 14;

// One of eight classes for each byte, a bit each, about as frequent as each other; the case of a letter makes no
// difference.
alignas(16) inline constexpr std::array<std::uint8_t, 16> kClassOfHalf = {
    1, 32, 4, 8, 16, 2, 32, 64, 4, 64, 1, 2, 8, 16, 128, 128};
constexpr unsigned class_of(char byte) { return kClassOfHalf[static_cast<unsigned char>(byte) & 15]; }

// What a slot of the table of places says: of which classes the byte before is where a literal begins with that, and
// of which the byte behind is where a literal begins with the four bytes.
constexpr unsigned before(std::uint16_t slot) { return slot & 0xffu; }
constexpr unsigned behind(std::uint16_t slot) { return slot >> 8; }

// Letters in lower case; some other bytes are taken for each other too, which a full comparison fixes.
inline std::uint32_t folded_triple(const char* bytes) {
  const auto byte = [&](std::size_t i) { return std::uint32_t{static_cast<unsigned char>(bytes[i])}; };
  return (byte(0) | byte(1) << 8 | byte(2) << 16) | 0x202020u;
}

inline std::uint32_t four_at(const char* bytes) {
  std::uint32_t four = 0;
  std::memcpy(&four, bytes, sizeof four);
  if constexpr (std::endian::native == std::endian::big) four = __builtin_bswap32(four);
  return four;
}
inline std::uint32_t folded_four(const char* bytes) { return four_at(bytes) | 0x20202020u; }

inline std::uint64_t eight_at(const char* bytes) {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  if constexpr (std::endian::native == std::endian::big) eight = __builtin_bswap64(eight);
  return eight;
}

// The first eight bytes, or as many as there are.
inline std::uint64_t first_eight(std::string_view text) {
  if (text.size() >= 8) return eight_at(text.data());
  char eight[8] = {};
  text.copy(eight, sizeof eight);
  return eight_at(eight);
}

constexpr std::uint64_t folded(std::uint64_t eight) { return eight | 0x2020202020202020u; }
inline std::uint64_t folded_eight(std::string_view text) { return folded(first_eight(text)); }

inline constexpr std::uint32_t kHashFactor = 0x9e3779b1u;  // 2^32 by the golden ratio

inline std::uint32_t hashed(std::uint32_t bytes, std::size_t bits) { return bytes * kHashFactor >> (32 - bits); }

inline std::uint32_t hashed_eight(std::uint64_t folded) {
  return static_cast<std::uint32_t>(folded * 0x9e3779b97f4a7c15u >> (64 - kLongerBits));
}
// Of the first six, or the first five, of eight bytes.
inline std::uint32_t hashed_six(std::uint64_t folded) { return hashed_eight(folded << 16); }
inline std::uint32_t hashed_five(std::uint64_t folded) { return hashed_eight(folded << 24); }

// What the table of fours says of a hash; see LiteralTables.
inline constexpr unsigned kBeginsShort = 1;
inline constexpr unsigned kBeginsLong = 2;
inline constexpr std::size_t kLongBytes = 5;

inline unsigned lengths_of(const std::uint64_t* fours, std::uint32_t hash) {
  return static_cast<unsigned>(fours[hash / 32] >> (2 * hash % 64) & 3u);
}

}  // namespace guard
