#include "nightly/workers/sizing.h"

#include <gtest/gtest.h>

namespace guard::nightly {
namespace {

using std::chrono::milliseconds;

const std::vector<TaskTimes> kSame = {{milliseconds(900), milliseconds(100)}};

TEST(Sizing, OneWorkerGoesAheadOfTheJudge) {
  const NightSize size = size_night(kSame, 10, 1);
  EXPECT_EQ(size.wall, milliseconds(10 * 900 + 100));
  EXPECT_EQ(size.worker_busy, milliseconds(9'000));
  EXPECT_EQ(size.judge_busy, milliseconds(1'000));
}

TEST(Sizing, MoreWorkersHelpUntilTheJudgeIsTheLimit) {
  EXPECT_EQ(size_night(kSame, 900, 3).wall, milliseconds(300 * 900 + 300));
  EXPECT_EQ(workers_until_judge(kSame), 9U);
  EXPECT_EQ(size_night(kSame, 10'000, 9).wall, milliseconds(900 + 10'000 * 100));
  EXPECT_EQ(size_night(kSame, 10'000, 90).wall, milliseconds(900 + 10'000 * 100)) << "ten times the workers, no faster";
  EXPECT_EQ(size_night(kSame, 10'000, 90).worker_paid, milliseconds(90 * (900 + 10'000 * 100)));
}

TEST(Sizing, WhatIsNotJudgedCostsTheJudgeNothing) {
  const std::vector<TaskTimes> refused = {{milliseconds(900), milliseconds(0)}};
  EXPECT_EQ(workers_until_judge(refused), 0U);
  EXPECT_EQ(size_night(refused, 1'000, 100).wall, milliseconds(10 * 900));
}

TEST(Sizing, UsesTheTimesInTurn) {
  const std::vector<TaskTimes> mixed = {{milliseconds(100), milliseconds(0)}, {milliseconds(500), milliseconds(50)}};
  EXPECT_EQ(size_night(mixed, 4, 1).worker_busy, milliseconds(1'200));
  EXPECT_EQ(size_night(mixed, 4, 2).wall, milliseconds(700 + 50));
}

}  // namespace
}  // namespace guard::nightly
