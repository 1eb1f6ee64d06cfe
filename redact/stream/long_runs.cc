#include "redact/stream/long_runs.h"

#include <algorithm>
#include <iterator>

namespace guard {

void LongRuns::advance(const StreamText& text) {
  if (!runs_.empty()) {
    Run& open = runs_.back();
    if (open.size() < ByteScan::kLongRun) {
      read_ = open.begin;
      runs_.pop_back();
    } else {
      open.end += scan_.find_other(text.from(open.end));
      if (open.end == text.end()) return;
      read_ = open.end;
    }
  }
  do {
    const Offset begin = read_ + scan_.find_long_run(text.from(read_));
    const Offset seen = std::min(begin + ByteScan::kLongRun, text.end());
    read_ = seen + scan_.find_other(text.from(seen));
    runs_.push_back({begin, read_});
  } while (read_ < text.end());
}

void LongRuns::forget_before(Offset at) { runs_.erase(runs_.begin(), from(at)); }

std::vector<LongRuns::Run>::const_iterator LongRuns::from(Offset at) const {
  const auto ends_before = [](const Run& run, Offset offset) { return run.end <= offset; };
  const auto first = std::lower_bound(runs_.begin(), runs_.end(), at, ends_before);
  return first == runs_.end() && !runs_.empty() ? std::prev(first) : first;
}

}  // namespace guard
