#include "common/output_cap.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <string_view>
#include <vector>

namespace guard {
namespace {

class MemorySink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    text.append(bytes.data(), bytes.size());
    return ok();
  }
  Result<void> finish() override {
    ++finishes;
    return ok();
  }
  std::string text;
  int finishes = 0;
};

std::string capped(std::string_view text, std::uint64_t max, std::size_t step, OutputBudget& budget) {
  MemorySink sink;
  OutputCap cap(budget, sink);
  for (std::size_t at = 0; at < text.size(); at += step) EXPECT_TRUE(cap.push(text.substr(at, step)).has_value());
  EXPECT_TRUE(cap.finish().has_value());
  EXPECT_EQ(sink.finishes, 1);
  EXPECT_EQ(budget.kept_bytes(), sink.text.size());
  EXPECT_EQ(budget.kept_bytes() + budget.dropped_bytes(), text.size());
  if (max > 0) {
    EXPECT_LE(sink.text.size(), max);
  }
  EXPECT_EQ(sink.text, text.substr(0, sink.text.size()));
  return sink.text;
}

// Kept with a budget of `max`, the same for every size of push.
std::string kept_of(std::string_view text, std::uint64_t max) {
  OutputBudget whole(max);
  const std::string kept = capped(text, max, text.size() + 1, whole);
  for (const std::size_t step : {1u, 2u, 3u, 7u}) {
    OutputBudget budget(max);
    EXPECT_EQ(capped(text, max, step, budget), kept) << "in pushes of " << step;
  }
  return kept;
}

TEST(OutputCap, KeepsExactlyTheBudgetOfPlainText) {
  EXPECT_EQ(kept_of("0123456789", 10), "0123456789");
  EXPECT_EQ(kept_of("0123456789", 9), "012345678");
  EXPECT_EQ(kept_of("0123456789", 1), "0");
  EXPECT_EQ(kept_of("", 5), "");
}

TEST(OutputCap, ZeroIsNoCap) { EXPECT_EQ(kept_of(std::string(300000, 'x'), 0).size(), 300000u); }

TEST(OutputCap, CutsBeforeAMarker) {
  const std::string text = "key [REDACTED:env:NAME] ok";
  for (std::uint64_t max = 4; max < 23; ++max) EXPECT_EQ(kept_of(text, max), "key ") << max;
  EXPECT_EQ(kept_of(text, 23), "key [REDACTED:env:NAME]");
}

TEST(OutputCap, CutsBeforeACharacter) {
  EXPECT_EQ(kept_of("a\xe2\x9c\x93"
                    "b",
                2),
      "a");
  EXPECT_EQ(kept_of("a\xe2\x9c\x93"
                    "b",
                3),
      "a");
  EXPECT_EQ(kept_of("a\xe2\x9c\x93"
                    "b",
                4),
      "a\xe2\x9c\x93");
  EXPECT_EQ(kept_of("\xf0\x9f\x98\x80", 3), "");
  EXPECT_EQ(kept_of("\xff\xfe\x80", 2), "\xff\xfe");
}

TEST(OutputCap, CutsBeforeAnEscape) {
  EXPECT_EQ(kept_of("a\x1b[38;5;196mb", 8), "a");
  EXPECT_EQ(kept_of("a\x1b[38;5;196mb", 12), "a\x1b[38;5;196m");
  EXPECT_EQ(kept_of("a\x1b]0;title\x07"
                    "b",
                10),
      "a");
  EXPECT_EQ(kept_of("a\x1b]8;;u\x1b\\b", 8), "a");
  EXPECT_EQ(kept_of("a\x1b]8;;u\x1b\\b", 9), "a\x1b]8;;u\x1b\\");
}

// What only begins like a unit is text.
TEST(OutputCap, KeepsWhatOnlyLooksLikeAMarker) {
  EXPECT_EQ(kept_of("[REDA] [REDACTED: x] [1] end", 20), "[REDA] [REDACTED: x]");
  EXPECT_EQ(kept_of("[REDACTED:jwt", 100), "[REDACTED:jwt");
  EXPECT_EQ(kept_of("\x1b[3", 100), "\x1b[3");
}

TEST(OutputCap, EscapeBeforeAMarkerLeavesTheMarkerWhole) {
  for (std::uint64_t max = 1; max < 15; ++max) EXPECT_EQ(kept_of("\x1b[REDACTED:jwt]", max), "\x1b") << max;
  EXPECT_EQ(kept_of("\x1b[3[REDACTED:jwt]", 12), "\x1b[3");
  EXPECT_EQ(kept_of("\x1b[REDACTED:jwt]", 15), "\x1b[REDACTED:jwt]");
}

// An escape that never ends must not hold back the stream.
TEST(OutputCap, UnendingEscapeIsText) {
  const std::string text = "\x1b]0;" + std::string(5000, 'x');
  EXPECT_EQ(kept_of(text, 1000), text.substr(0, 1000));
  const std::string marker = "[REDACTED:" + std::string(5000, 'x');
  EXPECT_EQ(kept_of(marker, 1000), marker.substr(0, 1000));
}

TEST(OutputCap, NothingIsKeptAfterTheFirstDrop) {
  OutputBudget budget(6);
  MemorySink sink;
  OutputCap cap(budget, sink);
  ASSERT_TRUE(cap.push(std::string_view("1234")).has_value());
  ASSERT_TRUE(cap.push(std::string_view("[REDACTED:x]")).has_value());
  ASSERT_TRUE(cap.push(std::string_view("5")).has_value());
  ASSERT_TRUE(cap.finish().has_value());
  EXPECT_EQ(sink.text, "1234");
  EXPECT_EQ(budget.dropped_bytes(), 13u);
}

// What would still fit came later: keeping it would make what is kept no prefix.
TEST(OutputCap, DropOfOneStreamEndsTheOtherOneToo) {
  OutputBudget budget(6);
  MemorySink saved;
  OutputCap out(budget, saved);
  OutputCap err(budget, saved);
  ASSERT_TRUE(out.push(std::string_view("1234[REDACTED:x]")).has_value());
  ASSERT_TRUE(err.push(std::string_view("5")).has_value());
  EXPECT_EQ(budget.dropped_bytes(), 13u);
  ASSERT_TRUE(out.finish().has_value());
  ASSERT_TRUE(err.finish().has_value());
  EXPECT_EQ(saved.text, "1234");
}

TEST(OutputCap, TwoStreamsShareTheBudgetInOrderOfArrival) {
  OutputBudget budget(10);
  MemorySink saved;
  OutputCap out(budget, saved);
  OutputCap err(budget, saved);
  ASSERT_TRUE(out.push(std::string_view("out1 ")).has_value());
  ASSERT_TRUE(err.push(std::string_view("er1 ")).has_value());
  ASSERT_TRUE(out.push(std::string_view("ab")).has_value());
  ASSERT_TRUE(err.push(std::string_view("c")).has_value());
  ASSERT_TRUE(out.finish().has_value());
  ASSERT_TRUE(err.finish().has_value());
  EXPECT_EQ(saved.text, "out1 er1 a");
  EXPECT_EQ(budget.kept_bytes(), 10u);
  EXPECT_EQ(budget.dropped_bytes(), 2u);
}

// Half a character of one stream does not let the other one pass the end of the budget.
TEST(OutputCap, UnfinishedUnitOfOneStreamIsDroppedWhenTheOtherFillsTheBudget) {
  OutputBudget budget(4);
  MemorySink saved;
  OutputCap out(budget, saved);
  OutputCap err(budget, saved);
  ASSERT_TRUE(out.push(std::string_view("a\xe2\x9c")).has_value());
  ASSERT_TRUE(err.push(std::string_view("xyzzy")).has_value());
  ASSERT_TRUE(out.push(std::string_view("\x93")).has_value());
  ASSERT_TRUE(out.finish().has_value());
  ASSERT_TRUE(err.finish().has_value());
  EXPECT_EQ(saved.text, "axyz");
  EXPECT_EQ(budget.kept_bytes() + budget.dropped_bytes(), 9u);
}

TEST(OutputCap, PassesOnTheSinksFailure) {
  class FailingSink final : public ByteSink {
   public:
    Result<void> push(std::span<const char>) override { return Error(ErrorCode::io_error, "the disk is full"); }
    Result<void> finish() override { return ok(); }
  };
  FailingSink sink;
  OutputBudget budget(10);
  OutputCap cap(budget, sink);
  const auto pushed = cap.push(std::string_view("abc"));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_EQ(pushed.error().code(), ErrorCode::io_error);
}

// Random mixtures: never over the budget, always a prefix, the same for every cut, and never inside a unit.
TEST(OutputCap, LawsHoldForRandomText) {
  const std::vector<std::string> pieces = {"a", "text ", "\n", "[REDACTED:jwt]", "[REDACTED:", "[", "\x1b[31m", "\x1b",
      "\x1b]0;t\x07", "\xe2\x9c\x93", "\xf0\x9f\x98\x80", "\xc3", "\x80", "]", "m", "\x1b\\"};
  for (unsigned seed = 0; seed < 1500; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (auto i = random() % 30; i > 0; --i) text += pieces[random() % pieces.size()];
    SCOPED_TRACE("seed " + std::to_string(seed));
    const std::string kept = kept_of(text, 1 + random() % 60);
    const std::size_t open = kept.rfind("[REDACTED:jwt");
    EXPECT_TRUE(open == std::string::npos || kept.find(']', open) != std::string::npos) << kept;
    if (HasFailure()) return;
  }
}

}  // namespace
}  // namespace guard
