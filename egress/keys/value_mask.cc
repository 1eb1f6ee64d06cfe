#include "egress/keys/value_mask.h"

#include <algorithm>
#include <random>
#include <utility>

namespace guard {

namespace {

// Odd: no power of it is 0.
std::uint64_t hash_base() {
  static const std::uint64_t base = [] {
    std::random_device random;
    return (std::uint64_t{random()} << 32 | random()) | 1;
  }();
  return base;
}

std::uint64_t hash_on(std::uint64_t hash, std::uint64_t base, char byte) {
  return hash * base + static_cast<unsigned char>(byte) + 1;
}

}  // namespace

HiddenValues::HiddenValues(std::vector<std::string> values) {
  std::erase(values, "");
  const std::uint64_t base = hash_base();
  for (std::string& value : values) {
    OfLength& of = by_length_[value.size()];
    std::uint64_t hash = 0;
    of.power = 1;
    for (const char byte : value) {
      hash = hash_on(hash, base, byte);
      of.power *= base;
    }
    of.hashes.push_back(hash);
    of.values.push_back(std::move(value));
  }
  if (!by_length_.empty()) held_back_ = by_length_.rbegin()->first - 1;
}

std::string ValueMask::push(std::string_view bytes) {
  held_ += bytes;
  held_masked_ += bytes;
  hashes_.assign(1, 0);
  const std::uint64_t base = hash_base();
  for (const char byte : held_) hashes_.push_back(hash_on(hashes_.back(), base, byte));
  for (const auto& [length, of] : hidden_->by_length()) {
    for (std::size_t end = length; end <= held_.size(); ++end) {
      const std::uint64_t hash = hashes_[end] - hashes_[end - length] * of.power;
      bool seen = false;
      for (const std::uint64_t wanted : of.hashes) seen |= hash == wanted;
      if (!seen) continue;
      const std::string_view found = std::string_view(held_).substr(end - length, length);
      if (std::ranges::find(of.values, found) != of.values.end())
        std::fill_n(held_masked_.begin() + static_cast<std::ptrdiff_t>(end - length), length, '*');
    }
  }
  const std::size_t settled = held_.size() - std::min(held_.size(), hidden_->held_back());
  std::string out = held_masked_.substr(0, settled);
  held_.erase(0, settled);
  held_masked_.erase(0, settled);
  return out;
}

std::string ValueMask::finish() {
  held_.clear();
  return std::exchange(held_masked_, {});
}

std::string masked_text(std::string_view text, const HiddenValues& hidden) {
  ValueMask mask(hidden);
  const std::string begun = mask.push(text);
  return begun + mask.finish();
}

}  // namespace guard
