#include "pipeline/report/line_coverage.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

LineCoverage lines_of(std::string_view report) {
  return parse_lcov(report, [](const std::string& file) -> std::uint32_t {
    return file == "src/add.ts" ? 10 : file == "src/more.ts" ? 3 : 0;
  });
}

TEST(LineCoverage, TellsTheLinesThatRan) {
  EXPECT_THAT(lines_of("TN:\nSF:src/add.ts\nFNF:2\nFNH:1\nDA:1,4\nDA:2,0\nDA:10,1\nLF:3\nLH:2\nend_of_record\nTN:\n"
                       "SF:src/more.ts\nDA:3,1\nend_of_record\n"),
      ElementsAre(Pair("src/add.ts", ElementsAre(Pair(1u, true), Pair(2u, false), Pair(10u, true))),
          Pair("src/more.ts", ElementsAre(Pair(3u, true)))));
}

TEST(LineCoverage, TakesNothingInThatIsNotThere) {
  EXPECT_THAT(lines_of("SF:../.guard-attestation.mjs\nDA:1,1\nend_of_record\n"), IsEmpty());
  EXPECT_THAT(lines_of("SF:src/add.ts\nDA:11,1\nDA:0,1\nDA:4294967297,1\nDA:18446744073709551617,1\n"), IsEmpty());
  EXPECT_THAT(lines_of("SF:src/add.ts\nend_of_record\nDA:1,1\n"), IsEmpty());
  EXPECT_THAT(lines_of("DA:1,1\n"), IsEmpty());
}

TEST(LineCoverage, ReadsAnyBytes) {
  EXPECT_THAT(lines_of(""), IsEmpty());
  EXPECT_THAT(lines_of("SF:src/add.ts\nDA:\nDA:1\nDA:1,\nDA:,1\nDA:1,1,x\nDA:1,-1\nDA:-1,1\nDA: 1,1\nDA:1,1\r\n\n\xff"),
      IsEmpty());
  EXPECT_THAT(lines_of("SF:src/add.ts\nDA:1,1"), ElementsAre(Pair("src/add.ts", ElementsAre(Pair(1u, true)))));
}

TEST(LineCoverage, CountsWhatIsNew) {
  const LineCoverage now = {{"src/add.ts", {{1, true}, {2, true}, {3, true}}}, {"src/more.ts", {{1, true}}}};
  EXPECT_EQ(count_lines(now), 4u);
  EXPECT_EQ(count_lines(now, {{"src/add.ts", {{2, true}, {9, true}}}}), 3u);
  EXPECT_EQ(count_lines(now, now), 0u);
}

}  // namespace
}  // namespace guard
