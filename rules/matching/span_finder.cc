#include "rules/matching/span_finder.h"

#include <algorithm>

namespace guard {

SpanFinder::SpanFinder(const Re2Matcher& exact, const Pattern& pattern, std::string_view text)
    : exact_(exact),
      pattern_(pattern),
      text_(text),
      bounded_(pattern.bytes_max != Pattern::kUnbounded),
      width_(bounded_ ? pattern.bytes_max : kWindowBytes) {}

std::size_t SpanFinder::ahead(std::size_t offset) const { return offset + std::min(width_, text_.size() - offset); }

void SpanFinder::advance(Progress& progress, const ExactSpan& span) {
  progress.any = true;
  progress.begin = span.begin;
  progress.end = span.end;
  ++progress.hits;
}

// A match that begins inside the last hit and ends behind it. Those that end inside it are stepped over.
Result<bool> SpanFinder::overlapping(std::size_t lowest, std::size_t to, Progress& progress, ExactSpan& span) const {
  if (!progress.any) return false;
  std::size_t from = std::max(lowest, progress.begin + 1);
  for (std::uint32_t i = 0; i < kNestedMax && progress.nested < kNestedInAllMax && from < progress.end; ++i) {
    GUARD_TRY_ASSIGN(const bool found, find(from, to, span));
    if (!found || span.begin >= progress.end) return false;
    if (span.end > progress.end) return true;
    from = span.begin + 1;
    ++progress.nested;
  }
  return false;
}

Result<bool> SpanFinder::explain(std::size_t end, Progress& progress, ExactSpan& span) const {
  const std::size_t back = end > width_ ? end - width_ : 0;
  const std::size_t to = ahead(end);
  GUARD_TRY_ASSIGN(bool found, overlapping(back, to, progress, span));
  if (!found) {
    // Without a bound: from the last hit on. All such windows together are hardly more than the text.
    GUARD_TRY_ASSIGN(found, find(std::max(bounded_ ? back : 0, progress.any ? progress.end : 0), to, span));
  }
  found = found && span.begin < end && span.end >= end;
  if (!found) {
    span.end = end;
    span.begin = end > kUnconfirmedBytes ? end - kUnconfirmedBytes : 0;
    if (bounded_) span.begin = std::max(span.begin, back);
    if (progress.any) span.begin = std::max(span.begin, progress.end);
    span.captured_begin = span.begin;
    span.captured_end = span.end;
  }
  advance(progress, span);
  return found;
}

Result<bool> SpanFinder::next(Progress& progress, ExactSpan& span) const {
  const std::size_t back = progress.end > width_ ? progress.end - width_ : 0;
  GUARD_TRY_ASSIGN(bool found, overlapping(back, ahead(progress.end), progress, span));
  if (!found) {
    // In growing windows: RE2 reads to the end of its window to learn which match is the longest, and a text of many
    // matches would be read as many times.
    const std::size_t from = progress.any ? progress.end : 0;
    std::size_t size = std::max(2 * width_, kFirstReadBytes);
    std::size_t to = from;
    while (!found && to < text_.size()) {
      to = from + std::min(size, text_.size() - from);
      size *= 8;
      GUARD_TRY_ASSIGN(found, find(from, to, span));
    }
    // A longer match, or an earlier one that is longer, may have been cut by the window.
    if (found && to < text_.size()) {
      GUARD_TRY_ASSIGN(found, find(from, std::max(to, ahead(span.end)), span));
    }
  }
  if (found) advance(progress, span);
  return found;
}

}  // namespace guard
