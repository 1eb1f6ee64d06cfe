#include "common/hash.h"

// EVP makes OpenSSL build its tables of providers and names first, which takes longer than checking a small file. The
// plain functions are the same code and stay in the library; they are only no longer recommended for new ciphers' sake.
#define OPENSSL_API_COMPAT 10100

#include <openssl/sha.h>

#include <cstdlib>

namespace guard {
namespace {

// They fail only where memory is broken, which leaves no way to go on that could be trusted.
void must(int result) {
  if (result != 1) std::abort();
}

}  // namespace

struct Sha256::State {
  SHA256_CTX context{};
  State() { must(SHA256_Init(&context)); }
};

Sha256::Sha256() : state_(std::make_unique<State>()) {}
Sha256::~Sha256() = default;
Sha256::Sha256(Sha256&&) noexcept = default;
Sha256& Sha256::operator=(Sha256&&) noexcept = default;

void Sha256::update(std::span<const char> bytes) { must(SHA256_Update(&state_->context, bytes.data(), bytes.size())); }

void Sha256::update_field(std::string_view field) {
  std::array<char, 8> length{};
  auto left = static_cast<std::uint64_t>(field.size());
  for (auto& byte : length) {
    byte = static_cast<char>(left & 0xFF);
    left >>= 8;
  }
  update(std::span<const char>(length));
  update(field);
}

Sha256::Digest Sha256::finish() {
  Digest digest{};
  must(SHA256_Final(digest.data(), &state_->context));
  return digest;
}

std::string Sha256::finish_hex() {
  const Digest digest = finish();
  return to_hex(digest);
}

struct GitBlobId::State {
  bool long_ids = false;
  SHA_CTX short_one{};
  Sha256 long_one;
};

GitBlobId::GitBlobId(std::size_t hex_digits, std::uint64_t size, std::string_view type)
    : state_(std::make_unique<State>()) {
  state_->long_ids = hex_digits == 2 * Sha256::kBytes;
  must(SHA1_Init(&state_->short_one));
  const std::string header = std::string(type) + " " + std::to_string(size);
  update(std::string_view(header.c_str(), header.size() + 1));
}

GitBlobId::~GitBlobId() = default;

void GitBlobId::update(std::string_view bytes) {
  if (state_->long_ids) {
    state_->long_one.update(bytes);
  } else {
    must(SHA1_Update(&state_->short_one, bytes.data(), bytes.size()));
  }
}

std::string GitBlobId::finish_hex() {
  if (state_->long_ids) return state_->long_one.finish_hex();
  std::array<std::uint8_t, SHA_DIGEST_LENGTH> digest{};
  must(SHA1_Final(digest.data(), &state_->short_one));
  return to_hex(digest);
}

std::string git_blob_id(std::string_view bytes, std::size_t hex_digits, std::string_view type) {
  GitBlobId id(hex_digits, bytes.size(), type);
  id.update(bytes);
  return id.finish_hex();
}

std::string to_hex(std::span<const std::uint8_t> bytes) {
  static constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  text.reserve(bytes.size() * 2);
  for (const std::uint8_t byte : bytes) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

std::string sha256_hex(std::string_view text) {
  Sha256 hash;
  hash.update(text);
  return hash.finish_hex();
}

}  // namespace guard
