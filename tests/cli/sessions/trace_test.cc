// What `guard serve --trace` says of commands, in real sandboxes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <sstream>
#include <thread>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

class TracedServe : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == std::string("docker") ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(GetParam());
    ASSERT_EQ(::chmod(state_.path().c_str(), 0711), 0);
  }
  void TearDown() override { stop(); }

  void serve(std::vector<std::string> more = {}) {
    std::vector<std::string> words = {
        "serve", "--state", state_.path(), "--backend", GetParam(), "--project", project_.path(), "--trace", trace()};
    words.insert(words.end(), more.begin(), more.end());
    serve_ = start_guard(words, project_.environment());
    for (int i = 0; i < 600 && !fs::exists(state_.path() / "sessions/socket"); ++i)
      std::this_thread::sleep_for(milliseconds(50));
  }
  void stop() {
    if (serve_ <= 0) return;
    ::kill(serve_, SIGTERM);
    ::waitpid(serve_, nullptr, 0);
    serve_ = -1;
  }
  ProgramResult session(std::vector<std::string> words) const {
    words.insert(words.begin(), "session");
    words.insert(words.begin() + 2, {"--state", state_.path()});
    return project_.guard(words);
  }
  ProgramResult runs(const std::string& script) const { return session({"exec", "t/a", "--", "bun", "-e", script}); }

  std::string trace() const { return state_.path() / "trace.jsonl"; }
  std::vector<std::string> told() const {
    std::vector<std::string> told;
    std::istringstream lines(read_file(trace(), 64u << 20).value_or(""));
    for (std::string line; std::getline(lines, line);) {
      const json event = json::parse(line, nullptr, false);
      told.push_back(event["event"] == "ARTIFACT_GENERATED"
              ? event["path"].get<std::string>() + " " + event["size_bytes"].dump()
              : event["step"].dump() + " " + event["exit_code"].dump() + " " + event["stdout"].get<std::string>());
    }
    return told;
  }

  Project project_;
  const TempDir state_ = *TempDir::create();
  pid_t serve_ = -1;
};
INSTANTIATE_TEST_SUITE_P(In, TracedServe, ::testing::Values("namespace", "docker"));

TEST_P(TracedServe, TellsWhatSessionsRun) {
  serve();
  EXPECT_EQ(runs("await Bun.write('a/b.txt', '123'); console.log('said'); process.exit(3)").exit_status, 3);
  EXPECT_EQ(session({"upload", "t/a", "--", project_.path() / "package.json", "in.json"}).exit_status, 0);
  EXPECT_EQ(runs("1").exit_status, 0);
  const auto begun = session({"exec", "t/a", "--background", "--", "bun", "-e", "await Bun.write('late', '1')"});
  EXPECT_THAT(begun.out, HasSubstr("command"));
  for (int i = 0; i < 200 && told().size() < 5; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_THAT(told(), ElementsAre("1 3 said\n", "/workspace/a/b.txt 3", "2 0 ", "3 0 ", "/workspace/late 1"));
}

}  // namespace
}  // namespace guard::testing
