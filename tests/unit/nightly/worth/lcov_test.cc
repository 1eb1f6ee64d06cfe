#include "nightly/worth/lcov.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::map<std::string, std::uint32_t> kFiles = {{"src/add.ts", 10}, {"src/more.ts", 3}};

TEST(Lcov, TellsTheLinesThatRan) {
  const auto lines = covered_lines(
      "TN:\nSF:src/add.ts\nFNF:2\nFNH:1\nDA:1,4\nDA:2,0\nDA:10,1\nLF:3\nLH:2\nend_of_record\nTN:\nSF:src/"
      "more.ts\nDA:3,1\nend_of_record\n",
      kFiles);
  EXPECT_THAT(lines, ElementsAre(Pair("src/add.ts", ElementsAre(1u, 10u)), Pair("src/more.ts", ElementsAre(3u))));
  EXPECT_EQ(count_lines(lines), 3u);
}

TEST(Lcov, TakesNothingInThatIsNotThere) {
  EXPECT_THAT(covered_lines("SF:../.guard-attestation.mjs\nDA:1,1\nend_of_record\n", kFiles), IsEmpty());
  EXPECT_THAT(
      covered_lines("SF:src/add.ts\nDA:11,1\nDA:0,1\nDA:4294967297,1\nDA:18446744073709551617,1\n", kFiles), IsEmpty());
  EXPECT_THAT(covered_lines("SF:src/add.ts\nend_of_record\nDA:1,1\n", kFiles), IsEmpty());
  EXPECT_THAT(covered_lines("DA:1,1\n", kFiles), IsEmpty());
}

TEST(Lcov, ReadsAnyBytes) {
  EXPECT_THAT(covered_lines("", kFiles), IsEmpty());
  EXPECT_THAT(
      covered_lines(
          "SF:src/add.ts\nDA:\nDA:1\nDA:1,\nDA:,1\nDA:1,1,x\nDA:1,-1\nDA:-1,1\nDA: 1,1\nDA:1,1\r\n\n\xff", kFiles),
      IsEmpty());
  EXPECT_THAT(covered_lines("SF:src/add.ts\nDA:1,1", kFiles), ElementsAre(Pair("src/add.ts", ElementsAre(1u))));
}

TEST(Lcov, CountsWhatIsNew) {
  const CoveredLines now = {{"src/add.ts", {1, 2, 3}}, {"src/more.ts", {1}}};
  EXPECT_EQ(count_new_lines(now, {}), 4u);
  EXPECT_EQ(count_new_lines(now, {{"src/add.ts", {2, 9}}}), 3u);
  EXPECT_EQ(count_new_lines(now, now), 0u);
}

}  // namespace
}  // namespace guard::nightly
