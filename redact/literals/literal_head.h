// The first five bytes of a literal, and those of a group of literals: a set of bytes for each place. See
// literal_table.h for what they are for.
#pragma once

#include <array>
#include <compare>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace guard {

// Of the 128 values that a byte has without its highest bit.
class ByteValues {
 public:
  void add(unsigned byte) noexcept { words_[byte >> 6 & 1] |= std::uint64_t{1} << (byte & 63); }
  bool has(unsigned byte) const noexcept { return (words_[byte >> 6 & 1] >> (byte & 63) & 1) != 0; }
  ByteValues& operator|=(const ByteValues& other) noexcept {
    words_[0] |= other.words_[0];
    words_[1] |= other.words_[1];
    return *this;
  }
  friend auto operator<=>(const ByteValues&, const ByteValues&) = default;

  // How often one of them stands at a place of a log or a source, in about a thousand.
  std::uint64_t frequency() const noexcept;

 private:
  std::array<std::uint64_t, 2> words_{};
};

struct LiteralHead {
  static constexpr std::size_t kBytes = 5;
  std::array<ByteValues, kBytes> places;

  LiteralHead& operator|=(const LiteralHead& other) noexcept {
    for (std::size_t i = 0; i < kBytes; ++i) places[i] |= other.places[i];
    return *this;
  }
  friend auto operator<=>(const LiteralHead&, const LiteralHead&) = default;

  // How often five bytes of ordinary text pass for one of these, in about 10^15.
  std::uint64_t frequency() const noexcept;
};

// Joins the two groups whose union costs least until at most `wanted` are left. `cost` of two groups; `|=` joins them.
template <typename Group, typename Cost>
void join_cheapest(std::vector<Group>& groups, std::size_t wanted, Cost cost) {
  std::vector<std::vector<std::uint64_t>> costs(groups.size());  // costs[i][j] for j < i
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (std::size_t j = 0; j < i; ++j) costs[i].push_back(cost(groups[i], groups[j]));
  }
  while (groups.size() > wanted) {
    std::size_t from = 1;
    std::size_t to = 0;
    for (std::size_t i = 1; i < groups.size(); ++i) {
      for (std::size_t j = 0; j < i; ++j) {
        if (costs[i][j] >= costs[from][to]) continue;
        from = i;
        to = j;
      }
    }
    groups[to] |= groups[from];
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(from));
    costs.erase(costs.begin() + static_cast<std::ptrdiff_t>(from));
    for (std::size_t i = from; i < costs.size(); ++i)
      costs[i].erase(costs[i].begin() + static_cast<std::ptrdiff_t>(from));
    for (std::size_t j = 0; j < to; ++j) costs[to][j] = cost(groups[to], groups[j]);
    for (std::size_t i = to + 1; i < groups.size(); ++i) costs[i][to] = cost(groups[i], groups[to]);
  }
}

// Joins heads until at most `groups` are left, so that the groups together let through little.
std::vector<LiteralHead> grouped(std::vector<LiteralHead> heads, std::size_t groups);

}  // namespace guard
