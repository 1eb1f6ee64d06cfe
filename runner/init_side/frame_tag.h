// SipHash-2-4 (Aumasson and Bernstein, 2012) over init's frames: whoever can write into the stream and does not know
// the key can still not write a frame. Needed where the kernel inside is not this machine's: gVisor's of 2022 lets a
// program open the descriptors of its own user's processes, init's among them, dumpable or not.
//
// Used by guard and by init, so nothing here but the language.
#pragma once

#include <cstddef>
#include <cstdint>

namespace guard::init_protocol {

constexpr std::size_t kTagKeyBytes = 16;
constexpr std::size_t kTagBytes = 8;

// Order of calls: update() as often as there are pieces, finish() once. However the bytes are cut, the tag is the same.
class SipHash {
 public:
  explicit SipHash(const unsigned char (&key)[kTagKeyBytes]) {
    const std::uint64_t low = load(key);
    const std::uint64_t high = load(key + 8);
    v0_ = low ^ 0x736f6d6570736575;
    v1_ = high ^ 0x646f72616e646f6d;
    v2_ = low ^ 0x6c7967656e657261;
    v3_ = high ^ 0x7465646279746573;
  }

  void update(const void* data, std::size_t size) {
    const auto* bytes = static_cast<const unsigned char*>(data);
    for (; size > 0 && total_ % 8 != 0; --size) take(*bytes++);
    for (; size >= 8; size -= 8, bytes += 8, total_ += 8) compress(load(bytes));
    for (; size > 0; --size) take(*bytes++);
  }

  std::uint64_t finish() {
    compress(word_ | (total_ & 0xff) << 56);
    v2_ ^= 0xff;
    for (int i = 0; i < 4; ++i) round();
    return v0_ ^ v1_ ^ v2_ ^ v3_;
  }

 private:
  static std::uint64_t load(const unsigned char* bytes) {
    std::uint64_t word = 0;
    for (int i = 7; i >= 0; --i) word = word << 8 | bytes[i];
    return word;
  }
  static std::uint64_t rotate(std::uint64_t word, int by) { return word << by | word >> (64 - by); }

  void take(unsigned char byte) {
    word_ |= static_cast<std::uint64_t>(byte) << 8 * (total_ % 8);
    if (++total_ % 8 != 0) return;
    compress(word_);
    word_ = 0;
  }

  void compress(std::uint64_t word) {
    v3_ ^= word;
    round();
    round();
    v0_ ^= word;
  }

  void round() {
    v0_ += v1_;
    v2_ += v3_;
    v1_ = rotate(v1_, 13) ^ v0_;
    v3_ = rotate(v3_, 16) ^ v2_;
    v0_ = rotate(v0_, 32);
    v2_ += v1_;
    v0_ += v3_;
    v1_ = rotate(v1_, 17) ^ v2_;
    v3_ = rotate(v3_, 21) ^ v0_;
    v2_ = rotate(v2_, 32);
  }

  std::uint64_t v0_, v1_, v2_, v3_;
  std::uint64_t word_ = 0;  // of bytes that do not make a whole one yet
  std::uint64_t total_ = 0;
};

// What a frame's tag is over: its number in the stream, from 0, so that none can be left out or repeated; then header
// and payload.
inline void begin_tag(SipHash& hash, std::uint64_t number) {
  unsigned char bytes[8];
  for (int i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(number >> (56 - 8 * i));
  hash.update(bytes, sizeof bytes);
}

inline void write_tag(std::uint64_t tag, unsigned char (&bytes)[kTagBytes]) {
  for (std::size_t i = 0; i < kTagBytes; ++i) bytes[i] = static_cast<unsigned char>(tag >> 8 * i);
}

}  // namespace guard::init_protocol
