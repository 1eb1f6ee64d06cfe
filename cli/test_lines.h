// Paints the words by which bun begins the line of a test, "(pass)" and its kin, on their way to a terminal. bun itself
// is told to print no colours: what it prints is read before it is shown.
//
// Bytes that may be the beginning of such a word are held back until the next push() or finish(): six at most.
#pragma once

#include <string>

#include "common/byte_sink.h"

namespace guard {

class TestLines final : public ByteSink {
 public:
  // `next` must outlive it.
  explicit TestLines(ByteSink& next) : next_(next) {}

  Result<void> push(std::span<const char> bytes) override;
  Result<void> finish() override;

 private:
  ByteSink& next_;
  std::string begun_;  // of a line, as long as it may become one of the words
  bool at_line_start_ = true;
};

}  // namespace guard
