#include "nightly/worth/kept_tests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace guard::nightly {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr const char* kA = "sandbox/a.test.ts";
constexpr const char* kB = "sandbox/b.test.ts";

// As guard reads it of a run: the count of a file is the larger one of bun's and guard's own.
struct PassedTest {
  std::string file;
  std::string name;
  std::uint64_t assertions;
};
TestSummary summary(const std::vector<PassedTest>& passed, std::uint64_t seen_by_guard_alone = 0) {
  TestSummary summary;
  for (const auto& test : passed)
    summary.cases.push_back({test.file, test.name, TestState::passed, 1, test.assertions});
  for (const auto& test : passed) {
    if (summary.files.empty() || summary.files.back().file != test.file)
      summary.files.push_back({test.file, 0, 0, 0, seen_by_guard_alone});
    ++summary.files.back().tests;
    summary.files.back().assertions += test.assertions;
  }
  return summary;
}

const TestSummary kBefore = summary({{kA, "adds", 2}, {kA, "group > zero", 1}, {kA, "twice", 1}, {kA, "twice", 1}});

TEST(KeptTests, LosesNothingWhereTestsAreAdded) {
  EXPECT_EQ(lost_tests(kBefore, kBefore), "");
  EXPECT_EQ(lost_tests(kBefore,
                summary({{kA, "new", 1}, {kA, "twice", 3}, {kA, "twice", 1}, {kA, "adds", 2}, {kA, "group > zero", 1},
                    {kB, "other", 1}})),
      "");
  EXPECT_EQ(lost_tests({}, kBefore), "");
}

TEST(KeptTests, NamesATestThatDoesNotPassAnyMore) {
  const std::string lost = lost_tests(kBefore, summary({{kA, "adds", 2}, {kA, "twice", 1}, {kA, "twice", 1}}));
  EXPECT_THAT(lost,
      AllOf(HasSubstr("sandbox/a.test.ts > group > zero"), Not(HasSubstr("> adds")),
          HasSubstr("keep every existing test")));
}

TEST(KeptTests, CountsEqualTitles) {
  EXPECT_THAT(lost_tests(kBefore, summary({{kA, "adds", 2}, {kA, "group > zero", 1}, {kA, "twice", 2}})),
      HasSubstr("sandbox/a.test.ts > twice (1 of 2 tests with this title)"));
}

TEST(KeptTests, LetsATestMoveToAnotherFile) {
  EXPECT_EQ(
      lost_tests(kBefore, summary({{kA, "adds", 2}, {kA, "group > zero", 1}, {kB, "twice", 1}, {kB, "twice", 1}})), "");
}

// A test of the same title elsewhere was there before: it stands for itself alone.
TEST(KeptTests, TakesNoOtherTestOfTheSameTitleForTheLostOne) {
  const TestSummary before = summary({{kA, "adds", 2}, {kB, "adds", 2}});
  EXPECT_THAT(lost_tests(before, summary({{kB, "adds", 4}})),
      AllOf(HasSubstr("sandbox/a.test.ts > adds"), Not(HasSubstr("b.test.ts"))));
}

TEST(KeptTests, NamesATestThatAssertsLess) {
  const std::string lost = lost_tests(kBefore,
      summary({{kA, "adds", 1}, {kA, "group > zero", 1}, {kA, "twice", 1}, {kA, "twice", 1}, {kA, "padding", 9}}));
  EXPECT_THAT(lost, HasSubstr("sandbox/a.test.ts > adds (1 of 2 assertions left)"));
}

// Those of node:assert and of concurrent tests are in guard's own count alone.
TEST(KeptTests, NamesAFileWhoseAssertionsOnlyGuardCounts) {
  const std::vector<PassedTest> tests = {{kA, "adds", 0}};
  EXPECT_THAT(
      lost_tests(summary(tests, 3), summary(tests, 2)), HasSubstr("sandbox/a.test.ts (2 of 3 assertions left)"));
  EXPECT_EQ(lost_tests(summary(tests, 3), summary(tests, 3)), "");
}

TEST(KeptTests, ShowsTheFirstOfManyAndCutsLongTitles) {
  std::vector<PassedTest> many;
  for (int i = 0; i < 30; ++i) many.push_back({kA, std::to_string(i) + std::string(5000, 'x') + "\x1b[2J", 1});
  const std::string lost = lost_tests(summary(many), {});
  EXPECT_THAT(lost, AllOf(HasSubstr("and 10 more"), Not(HasSubstr("\x1b"))));
  EXPECT_LT(lost.size(), 6000u);
}

}  // namespace
}  // namespace guard::nightly
