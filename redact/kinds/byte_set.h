// A set of byte values: the alphabet of a token.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string_view>

namespace guard {

inline std::uint64_t eight_at(const char* bytes) noexcept {
  std::uint64_t eight = 0;
  std::memcpy(&eight, bytes, sizeof eight);
  return eight;
}

// Of `count` bytes, a multiple of eight up to 64, that are 0 or 1: a bit for each.
inline std::uint64_t bits_of(const std::uint8_t* bytes, std::size_t count) noexcept {
  std::uint64_t bits = 0;
  for (std::size_t i = 0; i < count; i += 8) {
    bits |= eight_at(reinterpret_cast<const char*>(bytes + i)) * 0x0102040810204080u >> 56 << i;
  }
  return bits;
}

class ByteSet {
 public:
  using Words = std::array<std::uint64_t, 4>;  // a bit each: hundreds of kinds have several of these sets

  constexpr ByteSet() = default;
  constexpr explicit ByteSet(const Words& words) : words_(words) {}

  // The inside of a bracket expression: "A-Za-z0-9_-", "^\"" (everything else). A dash is itself at either end; a
  // backslash takes the next byte as it is; \xHH is a byte by its number. Line ends are in none that is read: no token
  // crosses a line. Nothing on a range that runs backwards or an empty text.
  static std::optional<ByteSet> parse(std::string_view text);

  bool has(char byte) const noexcept {
    const unsigned index = static_cast<unsigned char>(byte);
    return (words_[index / 64] >> (index % 64) & 1u) != 0;
  }
  void add(char byte) noexcept {
    words_[static_cast<unsigned char>(byte) / 64] |= bit(static_cast<unsigned char>(byte));
  }
  ByteSet& operator|=(const ByteSet& other) noexcept {
    for (std::size_t i = 0; i < words_.size(); ++i) words_[i] |= other.words_[i];
    return *this;
  }
  bool empty() const noexcept { return (words_[0] | words_[1] | words_[2] | words_[3]) == 0; }
  const Words& words() const noexcept { return words_; }

 private:
  static constexpr std::uint64_t bit(unsigned byte) noexcept { return std::uint64_t{1} << (byte % 64); }
  Words words_{};
};

inline std::optional<ByteSet> ByteSet::parse(std::string_view text) {
  ByteSet set;
  const bool negated = !text.empty() && text.front() == '^';
  if (negated) text.remove_prefix(1);
  if (text.empty()) return std::nullopt;
  const auto hex = [](char c) -> unsigned {
    return c >= '0' && c <= '9' ? static_cast<unsigned>(c - '0')
        : c >= 'a' && c <= 'f'  ? static_cast<unsigned>(c - 'a' + 10)
                                : 16;
  };
  const auto take = [&]() -> unsigned {
    if (text.size() >= 4 && text.starts_with("\\x") && hex(text[2]) < 16 && hex(text[3]) < 16) {
      const unsigned value = hex(text[2]) * 16 + hex(text[3]);
      text.remove_prefix(4);
      return value;
    }
    if (text.front() == '\\' && text.size() > 1) text.remove_prefix(1);
    const unsigned byte = static_cast<unsigned char>(text.front());
    text.remove_prefix(1);
    return byte;
  };
  while (!text.empty()) {
    const unsigned first = take();
    unsigned last = first;
    if (text.size() >= 2 && text.front() == '-') {
      text.remove_prefix(1);
      last = take();
    }
    if (last < first) return std::nullopt;
    for (unsigned byte = first; byte <= last; ++byte) set.words_[byte / 64] |= bit(byte);
  }
  if (negated) {
    for (std::uint64_t& word : set.words_) word = ~word;
  }
  set.words_[0] &= ~(bit('\n') | bit('\r'));
  return set;
}

}  // namespace guard
