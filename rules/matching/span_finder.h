// From "a match ends here" (Hyperscan) or from nothing (RE2 alone) to the spans of one pattern in one text.
//
// What counts as a hit is the same either way: going from left to right, the next hit is the match with the smallest
// begin behind the last hit's begin whose longest end lies behind the last hit's end. So a match inside another is
// folded into it, and one that overlaps is not: a rule that asks for a delimiter on both sides must not lose every
// second name of a list.
//
// Time on hostile text is bounded: every question to RE2 is about a window, the questions that overlaps cost are
// limited (kNestedMax, kNestedInAllMax), and the caller stops after a number of hits. An end that RE2 does not explain
// within these bounds is a hit all the same, marked unconfirmed. Spans of unbounded patterns are exact up to
// kWindowBytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/result.h"
#include "rules/matching/re2_matcher.h"
#include "rules/rule.h"

namespace guard {

class SpanFinder {
 public:
  // How far back from an end, and how far on, a match of unbounded length is followed. The largest honest line seen was
  // 32 KB, the largest statement much smaller.
  static constexpr std::size_t kWindowBytes = 4096;
  // Matches inside the last hit that are stepped over while looking for one that overlaps it: for one hit, and for all
  // hits of one text. Delimiters, which overlaps are about, need one step.
  static constexpr std::uint32_t kNestedMax = 64;
  static constexpr std::uint32_t kNestedInAllMax = 16384;
  // What next() reads at first; most files are read at once.
  static constexpr std::size_t kFirstReadBytes = 64u << 10;
  // Where the begin of an unconfirmed hit is unknown, it shows at most this many bytes before its end.
  static constexpr std::size_t kUnconfirmedBytes = 64;

  // Where the work on one pattern in one text has come to.
  struct Progress {
    bool any = false;
    std::size_t begin = 0;  // of the last hit
    std::size_t end = 0;
    std::uint32_t hits = 0;
    std::uint32_t nested = 0;  // steps taken
    bool rest_told = false;    // for the caller: that there are more hits than it wants was said

    bool covers(std::size_t offset) const { return any && offset <= end; }
  };

  // All must outlive this.
  SpanFinder(const Re2Matcher& exact, const Pattern& pattern, std::string_view text);

  // The hit that the end at `end` belongs to; progress.covers(end) must be false. False: RE2 knows of none, and `span`
  // shows the bytes before the end.
  Result<bool> explain(std::size_t end, Progress& progress, ExactSpan& span) const;

  // The next hit, without help. False: there is none.
  Result<bool> next(Progress& progress, ExactSpan& span) const;

 private:
  Result<bool> overlapping(std::size_t lowest, std::size_t to, Progress& progress, ExactSpan& span) const;
  Result<bool> find(std::size_t from, std::size_t to, ExactSpan& span) const {
    return exact_.find(text_, from, to, pattern_.capture, span);
  }
  std::size_t ahead(std::size_t offset) const;
  static void advance(Progress& progress, const ExactSpan& span);

  const Re2Matcher& exact_;
  const Pattern& pattern_;
  std::string_view text_;
  bool bounded_;
  std::size_t width_;  // no match is longer, or none is followed further
};

}  // namespace guard
