#include "redact/literals/literal_head.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace guard {
namespace {

// Test runs, servers, builds and sources: words in lower case, numbers, and a little of everything else.
constexpr std::array<std::uint8_t, 128> frequencies() {
  std::array<std::uint8_t, 128> all{};
  for (std::size_t byte = 0; byte < all.size(); ++byte) all[byte] = byte < ' ' ? 1 : 5;
  for (const char byte : std::string_view("jkqvwxyz")) all[static_cast<std::size_t>(byte)] = 7;
  for (const char byte : std::string_view("0123456789")) all[static_cast<std::size_t>(byte)] = 10;
  for (const char byte : std::string_view("bcdfghlmpu")) all[static_cast<std::size_t>(byte)] = 20;
  for (const char byte : std::string_view(" etaoinsr")) all[static_cast<std::size_t>(byte)] = 40;
  return all;
}
constexpr std::array<std::uint8_t, 128> kFrequencies = frequencies();

// What joining them lets through that neither did.
std::uint64_t cost(const LiteralHead& a, const LiteralHead& b) {
  LiteralHead both = a;
  both |= b;
  const std::uint64_t apart = a.frequency() + b.frequency();
  const std::uint64_t together = both.frequency();
  return together > apart ? together - apart : 0;
}

// Heads in order have their first bytes in common, so joining neighbours is a good beginning, and it is cheap.
void join_neighbours(std::vector<LiteralHead>& heads, std::size_t wanted) {
  std::sort(heads.begin(), heads.end());
  heads.erase(std::unique(heads.begin(), heads.end()), heads.end());
  std::vector<std::uint64_t> costs;  // of joining each to the next
  for (std::size_t i = 0; i + 1 < heads.size(); ++i) costs.push_back(cost(heads[i], heads[i + 1]));
  while (heads.size() > wanted) {
    const auto cheapest = std::min_element(costs.begin(), costs.end());
    const auto at = static_cast<std::size_t>(cheapest - costs.begin());
    heads[at] |= heads[at + 1];
    heads.erase(heads.begin() + static_cast<std::ptrdiff_t>(at + 1));
    costs.erase(cheapest);
    if (at > 0) costs[at - 1] = cost(heads[at - 1], heads[at]);
    if (at < costs.size()) costs[at] = cost(heads[at], heads[at + 1]);
  }
}

}  // namespace

std::uint64_t ByteValues::frequency() const noexcept {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < words_.size(); ++i) {
    for (std::uint64_t left = words_[i]; left != 0; left &= left - 1) {
      sum += kFrequencies[64 * i + static_cast<std::size_t>(std::countr_zero(left))];
    }
  }
  return sum;
}

std::uint64_t LiteralHead::frequency() const noexcept {
  std::uint64_t product = 1;
  for (const ByteValues& place : places) product *= place.frequency();
  return product;
}

std::vector<LiteralHead> grouped(std::vector<LiteralHead> heads, std::size_t groups) {
  // Every pair is compared with every other from here on.
  constexpr std::size_t kFewHeads = 192;
  join_neighbours(heads, std::max(groups, kFewHeads));
  join_cheapest(heads, groups, cost);
  return heads;
}

}  // namespace guard
