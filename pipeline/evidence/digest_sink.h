// Digests bytes on their way to the next sink.
#pragma once

#include <string>

#include "common/byte_sink.h"
#include "common/hash.h"

namespace guard {

// Not thread-safe. `next` must outlive it.
class DigestSink final : public ByteSink {
 public:
  explicit DigestSink(ByteSink& next) : next_(next) {}
  Result<void> push(std::span<const char> bytes) override {
    hash_.update(bytes);
    return next_.push(bytes);
  }
  Result<void> finish() override { return next_.finish(); }

  // SHA-256 of all that was pushed. Call once, last.
  std::string finish_hex() { return hash_.finish_hex(); }

 private:
  ByteSink& next_;
  Sha256 hash_;
};

}  // namespace guard
