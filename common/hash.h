// SHA-256 wherever trust hangs on it (staged files, images, rules, evidence).
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

namespace guard {

class Sha256 {
 public:
  static constexpr std::size_t kBytes = 32;
  using Digest = std::array<std::uint8_t, kBytes>;

  Sha256();
  ~Sha256();
  Sha256(Sha256&&) noexcept;
  Sha256& operator=(Sha256&&) noexcept;

  void update(std::span<const char> bytes);
  void update(std::string_view text) { update(std::span(text.data(), text.size())); }
  // A length in front of each field keeps "ab","c" apart from "a","bc".
  void update_field(std::string_view field);

  // Call once, last.
  Digest finish();
  std::string finish_hex();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string sha256_hex(std::string_view text);

}  // namespace guard
