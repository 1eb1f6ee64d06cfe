#include "common/text/time_text.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

using namespace std::chrono_literals;

TEST(TimeText, ReadsSecondsAndMilliseconds) {
  const auto read = [](std::string_view text) {
    milliseconds time{-1};
    return parse_time(text, time) ? time : -1ms;
  };
  EXPECT_EQ(read("90"), 90s);
  EXPECT_EQ(read("90s"), 90s);
  EXPECT_EQ(read("2.5"), 2500ms);
  EXPECT_EQ(read("0.001s"), 1ms);
  EXPECT_EQ(read("2.500s"), 2500ms);
  EXPECT_EQ(read("100ms"), 100ms);
  EXPECT_EQ(read("0"), 0ms);
  for (const char* wrong : {"", "s", "ms", "-1", "+1", " 1", "1 ", "1.", ".5", "1.2345", "1.5ms", "1m", "1h", "1e3",
           "1ss", "99999999999999999999"})
    EXPECT_EQ(read(wrong), -1ms) << wrong;
}

TEST(TimeText, WritesWhatPeopleReadMostEasily) {
  EXPECT_EQ(time_text(300s), "300 s");
  EXPECT_EQ(time_text(86'400s), "86400 s");
  EXPECT_EQ(time_text(2500ms), "2.5 s");
  EXPECT_EQ(time_text(100ms), "100 ms");
  EXPECT_EQ(time_text(0ms), "0 s");
}

}  // namespace
}  // namespace guard
