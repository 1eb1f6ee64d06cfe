// Random choices that are the same on every machine for the same seed (the distributions of <random> are not).
#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

namespace guard::mutator {

class Random {
 public:
  explicit Random(std::uint64_t seed) : engine_(seed) {}

  // 0 to count-1; count > 0.
  std::size_t below(std::size_t count) { return static_cast<std::size_t>(engine_() % count); }
  bool one_in(std::size_t count) { return below(count) == 0; }

  template <typename T>
  const T& pick(const std::vector<T>& from) {
    return from[below(from.size())];
  }
  template <typename T, std::size_t N>
  const T& pick(const T (&from)[N]) {
    return from[below(N)];
  }

 private:
  std::mt19937_64 engine_;
};

}  // namespace guard::mutator
