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

// The name that git gives to a file's bytes, which come piece by piece: SHA-1, or SHA-256 in repositories that use it.
class GitBlobId {
 public:
  // `hex_digits` of the repository's ids: 40 or 64. `size` of all bytes together. `type`: "tree" for what lists files.
  GitBlobId(std::size_t hex_digits, std::uint64_t size, std::string_view type = "blob");
  ~GitBlobId();
  GitBlobId(const GitBlobId&) = delete;
  GitBlobId& operator=(const GitBlobId&) = delete;
  void update(std::string_view bytes);
  std::string finish_hex();  // once, last

 private:
  struct State;
  std::unique_ptr<State> state_;
};
std::string git_blob_id(std::string_view bytes, std::size_t hex_digits, std::string_view type = "blob");

std::string to_hex(std::span<const std::uint8_t> bytes);
std::string sha256_hex(std::string_view text);

}  // namespace guard
