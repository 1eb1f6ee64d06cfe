#include "common/text/glob.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

TEST(Glob, StarStaysWithinOneSegment) {
  EXPECT_TRUE(glob_matches("src/*.ts", "src/a.ts"));
  EXPECT_FALSE(glob_matches("src/*.ts", "src/deep/a.ts"));
  EXPECT_TRUE(glob_matches("a?c", "abc"));
  EXPECT_FALSE(glob_matches("a?c", "a/c"));
}

TEST(Glob, TwoStarsSpanSegments) {
  EXPECT_TRUE(glob_matches("sandbox/**", "sandbox/a.test.ts"));
  EXPECT_TRUE(glob_matches("sandbox/**", "sandbox/deep/er/a.test.ts"));
  EXPECT_FALSE(glob_matches("sandbox/**", "sandboxes/a.test.ts"));
  EXPECT_FALSE(glob_matches("sandbox/**", "src/sandbox/a.test.ts"));
  EXPECT_TRUE(glob_matches("**/*.test.ts", "a.test.ts"));
  EXPECT_TRUE(glob_matches("**/*.test.ts", "x/y/a.test.ts"));
  EXPECT_FALSE(glob_matches("**/b.ts", "xb.ts"));
}

TEST(Glob, BracketsAndBracesAreOrdinaryCharacters) {
  EXPECT_TRUE(glob_matches("[id].ts", "[id].ts"));
  EXPECT_FALSE(glob_matches("[id].ts", "i.ts"));
  EXPECT_TRUE(glob_matches("{a,b}", "{a,b}"));
}

// Backtracking matchers need exponential time for this one; here it only has to come to an end.
TEST(Glob, ManyStarsComeToAnEnd) {
  std::string pattern;
  for (int i = 0; i < 200; ++i) pattern += "*a";
  EXPECT_FALSE(glob_matches(pattern + "b", std::string(2000, 'a')));
}

}  // namespace
}  // namespace guard
