#include "serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "runner/process/subprocess.h"

namespace guard::serve {
namespace {

using ::testing::HasSubstr;

sessions::Stats example() {
  sessions::Stats stats;
  stats.pooled = 4;
  stats.starting = 1;
  stats.sessions = {{sessions::SessionState::idle, 2}, {sessions::SessionState::terminated, 7}};
  sessions::Latencies& reused = stats.starts[sessions::Way::reused];
  reused.counts[0] = 5;
  reused.counts[2] = 2;
  reused.counts.back() = 1;
  reused.count = 8;
  reused.sum_us = 12'345'678;
  stats.starts[sessions::Way::cold];
  stats.commands = {{"exited", 3}, {"ENVIRONMENT_UNAVAILABLE", 1}, {"a \"quoted\\one\"\n", 2}};
  stats.last_sweep = {3, 2, 1};
  return stats;
}

// What the format asks of every line, whether promtool is here or not.
TEST(Metrics, AreLinesOfTheTextFormat) {
  const std::string text = metrics_text(example());
  const std::regex line(
      R"((# (HELP|TYPE) guard_[a-z_]+ .+)|(guard_[a-z_]+(\{[a-z]+="([^"\\\n]|\\.)*"(,[a-z]+="([^"\\\n]|\\.)*")*\})? -?[0-9.e+-]+))");
  std::set<std::string> series;
  std::string rest = text;
  for (std::size_t end = 0; (end = rest.find('\n')) != std::string::npos; rest.erase(0, end + 1)) {
    const std::string one = rest.substr(0, end);
    EXPECT_TRUE(std::regex_match(one, line)) << one;
    EXPECT_TRUE(series.insert(one.substr(0, one.rfind(' '))).second) << "twice: " << one;
  }
  EXPECT_EQ(rest, "") << "the last line has an end";
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_bucket{way=\"reused\",le=\"0.005\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_bucket{way=\"reused\",le=\"+Inf\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_sum{way=\"reused\"} 12.345678\n"));
  EXPECT_THAT(text, HasSubstr("guard_sessions{state=\"TERMINATED\"} 7\n"));
}

TEST(Metrics, AreTakenByPromtoolWithoutAWord) {
  if (::access("/usr/bin/promtool", X_OK) != 0) {
    if (std::getenv("GUARD_TEST_REQUIRE_PROMTOOL") != nullptr) FAIL() << "no promtool";
    GTEST_SKIP() << "no promtool on this machine: apt-get install prometheus";
  }
  for (const sessions::Stats& stats : {sessions::Stats(), example()}) {
    ProcessSpec spec;
    spec.argv = {"/usr/bin/promtool", "check", "metrics"};
    spec.env = {{"PATH", "/usr/bin:/bin"}};
    spec.stdin_text = metrics_text(stats);
    spec.deadline = Deadline::after(std::chrono::seconds(60));
    const auto ran = collect_process(spec, 1u << 20, CancelToken());
    ASSERT_TRUE(ran);
    EXPECT_EQ(ran->result.outcome.value, 0);
    EXPECT_EQ(ran->out + ran->err, "");
  }
}

}  // namespace
}  // namespace guard::serve
