// The long runs of a stream, however it was cut.
#include "redact/stream/long_runs.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <utility>
#include <vector>

namespace guard {
namespace {

std::vector<std::pair<Offset, Offset>> list(const LongRuns& runs) {
  std::vector<std::pair<Offset, Offset>> all;
  for (auto run = runs.from(0); run != runs.end(); ++run) all.emplace_back(run->begin, run->end);
  return all;
}

TEST(LongRuns, SameForEveryCut) {
  const ByteSet letters = *ByteSet::parse("a-z");
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    std::string text;
    while (text.size() < 1500) text += std::string(random() % 120, 'x') + std::string(1 + random() % 90, ' ');
    if (round % 2 == 0) text += std::string(random() % 60, 'x');
    LongRuns whole(letters);
    whole.advance(StreamText(text, 0, true));
    LongRuns in_parts(letters);
    for (std::size_t size = 0; size < text.size(); size += 1 + random() % (round % 3 == 0 ? 2 : 400)) {
      in_parts.advance(StreamText(std::string_view(text).substr(0, size), 0, false));
    }
    in_parts.advance(StreamText(text, 0, true));
    ASSERT_EQ(list(in_parts), list(whole)) << "round " << round;
    // The last one reaches the end; all others are long and end before a blank.
    const auto all = list(whole);
    EXPECT_EQ(all.back().second, text.size());
    for (std::size_t i = 0; i + 1 < all.size(); ++i) {
      EXPECT_GE(all[i].second - all[i].first, ByteScan::kLongRun);
      EXPECT_EQ(text[all[i].second], ' ');
    }
  }
}

TEST(LongRuns, ForgetsWhatEndsBeforeAPlaceButNotTheLast) {
  LongRuns runs(*ByteSet::parse("a-z"));
  const std::string text = std::string(50, 'x') + " " + std::string(60, 'y') + " z";
  runs.advance(StreamText(text, 0, false));
  runs.forget_before(51);
  EXPECT_EQ(list(runs), (std::vector<std::pair<Offset, Offset>>{{51, 111}, {112, 113}}));
  runs.forget_before(113);
  EXPECT_EQ(list(runs), (std::vector<std::pair<Offset, Offset>>{{112, 113}}));
}

}  // namespace
}  // namespace guard
