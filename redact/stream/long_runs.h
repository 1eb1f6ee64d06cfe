// The long runs of one alphabet in a stream: what the finders of base64 have to look at. They share it, so that text
// without such runs is looked at once.
#pragma once

#include <vector>

#include "redact/literals/byte_scan.h"
#include "redact/stream/stream_text.h"

namespace guard {

class LongRuns {
 public:
  struct Run {
    Offset begin = 0;
    Offset end = 0;
    Offset size() const noexcept { return end - begin; }
  };

  explicit LongRuns(const ByteSet& chars) : scan_(chars) {}

  // Finds the runs of ByteScan::kLongRun or more bytes up to the end of `text`. The last one, of any size or none,
  // reaches that end and may go on.
  void advance(const StreamText& text);
  void forget_before(Offset at);

  // Those that end behind `at`, in order; and the last.
  std::vector<Run>::const_iterator from(Offset at) const;
  std::vector<Run>::const_iterator end() const { return runs_.end(); }

 private:
  ByteScan scan_;
  Offset read_ = 0;
  std::vector<Run> runs_;
};

}  // namespace guard
