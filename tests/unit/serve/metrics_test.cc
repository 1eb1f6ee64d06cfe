#include "serve/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>
#include <set>

#include "common/file_io.h"
#include "runner/process/subprocess.h"

namespace guard::serve {
namespace {

using ::testing::HasSubstr;

sessions::Stats example() {
  sessions::Stats stats;
  stats.probe = {sessions::Probe::violation, 1'700'000'000'500};
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
  Counts counts;
  counts.add(Counts::Family::runs, "allowed");
  counts.add(Counts::Family::findings, "always.eval");
  counts.add(Counts::Family::findings, "always.eval");
  counts.add(Counts::Family::redactions, "github", 3);
  counts.add(Counts::Family::connections, "not_listed", 4);
  const std::string text = metrics_text(example(), counts);
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
  EXPECT_THAT(text, HasSubstr("guard_runs_total{verdict=\"allowed\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("guard_findings_total{rule=\"always.eval\"} 2\n"));
  EXPECT_THAT(text, HasSubstr("guard_redactions_total{kind=\"github\"} 3\n"));
  EXPECT_THAT(text, HasSubstr("guard_egress_connections_total{decision=\"not_listed\"} 4\n"));
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_bucket{way=\"reused\",le=\"0.005\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_bucket{way=\"reused\",le=\"+Inf\"} 8\n"));
  EXPECT_THAT(text, HasSubstr("guard_session_start_seconds_sum{way=\"reused\"} 12.345678\n"));
  EXPECT_THAT(text, HasSubstr("guard_sessions{state=\"TERMINATED\"} 7\n"));
  EXPECT_THAT(text, HasSubstr("guard_probe_state{state=\"violation\"} 1\n"));
  EXPECT_THAT(text, HasSubstr("guard_probe_state{state=\"allowed\"} 0\n"));
  EXPECT_THAT(text, HasSubstr("guard_probe_since_timestamp_seconds 1700000000.500\n"));
}

struct Promtool : ::testing::Test {
  void SetUp() override {
    if (::access("/usr/bin/promtool", X_OK) == 0) return;
    if (std::getenv("GUARD_TEST_REQUIRE_PROMTOOL") != nullptr) FAIL() << "no promtool";
    GTEST_SKIP() << "no promtool on this machine: apt-get install prometheus";
  }
  static std::pair<std::int64_t, std::string> says(std::vector<std::string> words, const std::string& input = {}) {
    ProcessSpec spec;
    spec.argv = {"/usr/bin/promtool"};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.env = {{"PATH", "/usr/bin:/bin"}};
    spec.cwd = GUARD_SOURCE_DIR "/monitoring";
    spec.stdin_text = input;
    spec.deadline = Deadline::after(std::chrono::seconds(60));
    const auto ran = collect_process(spec, 1u << 20, CancelToken());
    EXPECT_TRUE(ran);
    return {ran->result.outcome.value, ran->out + ran->err};
  }
};

TEST_F(Promtool, TakesTheMetricsWithoutAWord) {
  for (const sessions::Stats& stats : {sessions::Stats(), example()})
    EXPECT_EQ(says({"check", "metrics"}, metrics_text(stats)), std::pair(std::int64_t{0}, std::string()));
}

TEST_F(Promtool, HoldsTheAlertsAgainstWhatTheyAreFor) {
  for (const char* how : {"check", "test"}) {
    const auto [status, text] = says({how, "rules", how == std::string("check") ? "alerts.yml" : "alerts.test.yml"});
    EXPECT_EQ(status, 0) << text;
  }
}

TEST(Monitoring, AsksForMetricsThatThereAre) {
  const std::string offered = metrics_text(example());
  std::size_t asked = 0;
  for (const char* file : {"alerts.yml", "grafana.json"}) {
    const auto text = read_file(std::string(GUARD_SOURCE_DIR "/monitoring/") + file, 1u << 20);
    ASSERT_TRUE(text);
    const std::regex name(R"(guard_[a-z_]+)");
    for (auto found = std::sregex_iterator(text->begin(), text->end(), name); found != std::sregex_iterator();
         ++found) {
      EXPECT_THAT(offered, HasSubstr("\n" + found->str())) << file;
      ++asked;
    }
  }
  EXPECT_GT(asked, 10U);
}

}  // namespace
}  // namespace guard::serve
