// How program output travels: child pipe or engine frames -> redactor -> cap -> terminal, report, file.
#pragma once

#include <span>
#include <string>

#include "common/result.h"

namespace guard {

class ByteSink {
 public:
  virtual ~ByteSink() = default;

  // Takes all of `bytes` or fails; after a failure nothing more may be pushed.
  virtual Result<void> push(std::span<const char> bytes) = 0;

  // Once, at the end. Passed on by sinks that stand before another sink.
  virtual Result<void> finish() = 0;
};

// Drops all of it.
class NullSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char>) override { return ok(); }
  Result<void> finish() override { return ok(); }
};

// Keeps all of it.
class StringSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::string text;
};

}  // namespace guard
