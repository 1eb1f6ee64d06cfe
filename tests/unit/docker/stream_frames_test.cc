#include "docker/stream_frames.h"

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace guard::docker {
namespace {

std::string frame(int stream, const std::string& payload) {
  std::string bytes = {static_cast<char>(stream), 0, 0, 0};
  for (int shift = 24; shift >= 0; shift -= 8) bytes += static_cast<char>(payload.size() >> shift & 0xff);
  return bytes + payload;
}

struct Collector {
  std::map<int, std::string> streams;
  StreamFrames frames{[this](int stream, std::span<const char> bytes) -> Result<void> {
    streams[stream].append(bytes.data(), bytes.size());
    return ok();
  }};
};

TEST(StreamFrames, SeparatesTheStreamsHoweverTheyAreCut) {
  const std::string bytes =
      frame(1, "out one ") + frame(2, "err") + frame(1, "") + frame(1, std::string(300, 'x')) + frame(0, "in");
  for (std::size_t size = 1; size <= bytes.size(); ++size) {
    Collector collector;
    for (std::size_t at = 0; at < bytes.size(); at += size) {
      ASSERT_TRUE(collector.frames.push(std::string_view(bytes).substr(at, size)));
    }
    ASSERT_TRUE(collector.frames.finish());
    EXPECT_EQ(collector.streams[1], "out one " + std::string(300, 'x')) << size;
    EXPECT_EQ(collector.streams[2], "err");
    EXPECT_EQ(collector.streams[0], "in");
  }
}

TEST(StreamFrames, TakesAPayloadLargerThanAnyBuffer) {
  Collector collector;
  ASSERT_TRUE(collector.frames.push(frame(1, std::string(1 << 20, 'y'))));
  ASSERT_TRUE(collector.frames.finish());
  EXPECT_EQ(collector.streams[1].size(), 1u << 20);
}

TEST(StreamFrames, RefusesStreamNumbersAndPaddingThatDoNotExist) {
  for (int at = 0; at < 4; ++at) {
    std::string bytes = frame(1, "x");
    bytes[static_cast<std::size_t>(at)] = 3;
    Collector collector;
    const auto pushed = collector.frames.push(bytes);
    ASSERT_FALSE(pushed) << at;
    EXPECT_EQ(pushed.error().code(), ErrorCode::protocol_error);
    EXPECT_TRUE(collector.streams.empty());
  }
}

// What a container with a terminal would send: no frames at all.
TEST(StreamFrames, RefusesTextWithoutFrames) {
  Collector collector;
  EXPECT_FALSE(collector.frames.push(std::string_view("12 pass\n 0 fail\n")));
}

TEST(StreamFrames, FailsWhenTheStreamEndsInsideAFrame) {
  const std::string bytes = frame(1, "payload");
  for (std::size_t size = 1; size < bytes.size(); ++size) {
    Collector collector;
    ASSERT_TRUE(collector.frames.push(std::string_view(bytes).substr(0, size)));
    const auto finished = collector.frames.finish();
    ASSERT_FALSE(finished) << size;
    EXPECT_EQ(finished.error().code(), ErrorCode::protocol_error);
  }
}

TEST(StreamFrames, HandsOnTheHandlersError) {
  StreamFrames frames([](int, std::span<const char>) -> Result<void> { return Error(ErrorCode::io_error, "full"); });
  const auto pushed = frames.push(frame(1, "x"));
  ASSERT_FALSE(pushed);
  EXPECT_EQ(pushed.error().code(), ErrorCode::io_error);
}

}  // namespace
}  // namespace guard::docker
