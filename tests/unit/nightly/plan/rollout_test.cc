#include "nightly/plan/queue.h"

#include <gtest/gtest.h>

#include <string>

namespace guard::nightly {
namespace {

Config with(std::uint64_t percent) {
  Config config;
  config.rollout.percent = percent;
  return config;
}

TEST(RolloutOf, ChoosesEveryTaskByDefault) {
  for (int i = 0; i < 1000; ++i) EXPECT_EQ(rollout_of(Config(), "task-" + std::to_string(i)), Rollout::sandbox);
}

TEST(RolloutOf, ChoosesAboutAsManyAsAreAskedFor) {
  int chosen = 0;
  for (int i = 0; i < 10'000; ++i)
    chosen += rollout_of(with(30), "task-" + std::to_string(i)) == Rollout::sandbox ? 1 : 0;
  EXPECT_NEAR(chosen, 3'000, 200);
}

// Whoever raises the percentage keeps those that were chosen.
TEST(RolloutOf, NeverTakesATaskOutWhenThePercentageGrows) {
  for (int i = 0; i < 500; ++i) {
    const std::string id = "task-" + std::to_string(i);
    bool before = false;
    for (std::uint64_t percent = 0; percent <= 100; ++percent) {
      const bool now = rollout_of(with(percent), id) == Rollout::sandbox;
      EXPECT_TRUE(now || !before) << id << " at " << percent;
      before = now;
    }
  }
}

// The numbers are a promise: the same task falls the same way in every night and on every machine.
TEST(RolloutOf, TheBucketOfAnIdIsFixed) {
  EXPECT_EQ(rollout_bucket("add-negative"), rollout_bucket("add-negative"));
  EXPECT_EQ(rollout_bucket(""), 0xe3b0c44u % 100);  // SHA-256 of nothing begins with e3b0c44
}

TEST(RolloutOf, WhatIsNotChosenRunsNowhereUnlessTheHostIsAllowed) {
  Config config = with(0);
  EXPECT_EQ(rollout_of(config, "a"), Rollout::none);
  config.fallback = {Backend::host};
  EXPECT_EQ(rollout_of(config, "a"), Rollout::host);
  config.fallback = {};
  config.backend = Backend::host;
  EXPECT_EQ(rollout_of(config, "a"), Rollout::host);
}

TEST(RolloutOf, ForcedTasksAreChosenEvenWhereItIsSwitchedOff) {
  Config config = with(0);
  config.rollout.enabled = false;
  config.rollout.force = {"a"};
  EXPECT_EQ(rollout_of(config, "a"), Rollout::sandbox);
  EXPECT_EQ(rollout_of(config, "b"), Rollout::none);
}

}  // namespace
}  // namespace guard::nightly
