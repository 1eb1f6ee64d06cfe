#include "common/timeline.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

// One after another, without a gap.
void expect_whole(const Timeline& timeline) {
  Timeline::Micros next{0};
  for (const auto& stage : timeline.stages()) {
    EXPECT_EQ(stage.at, next) << stage.name;
    EXPECT_GE(stage.took.count(), 0) << stage.name;
    next = stage.at + stage.took;
  }
}

TEST(Timeline, StagesFollowOneAnotherWithoutAGap) {
  Timeline timeline;
  timeline.end();
  for (const char* name : {"rules", "check", "rules"}) timeline.begin(name);
  timeline.end();
  timeline.end();
  ASSERT_EQ(timeline.stages().size(), 3u);
  EXPECT_EQ(timeline.stages()[1].name, "check");
  EXPECT_EQ(timeline.stages()[2].name, "rules");
  expect_whole(timeline);
}

// Each sandbox has some, and a run may need very many sandboxes.
TEST(Timeline, WhatThereIsNoRoomForIsAPartOfTheStageBefore) {
  Timeline timeline;
  for (int i = 0; i < 3000; ++i) timeline.begin("create");
  timeline.end();
  EXPECT_EQ(timeline.stages().size(), 1000u);
  expect_whole(timeline);
}

}  // namespace
}  // namespace guard
