// `guard session exec --tty` as somebody at a terminal sees it, with `guard serve` and without.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <memory>
#include <tuple>

#include "tests/support/program/guard_program.h"
#include "tests/support/program/terminal_program.h"

namespace guard::testing {
namespace {

constexpr const char* kCtrlC = "\x03";
constexpr const char* kCtrlD = "\x04";

using Where = std::tuple<const char*, bool>;  // backend; whether `guard serve` runs

class Terminal : public ::testing::TestWithParam<Where> {
 protected:
  static std::string backend() { return std::get<0>(GetParam()); }

  void SetUp() override {
    GUARD_NEEDS(backend() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(backend());
    auto state = TempDir::create();
    ASSERT_TRUE(state) << state.error().to_string();
    state_ = std::make_unique<TempDir>(std::move(*state));
    ASSERT_EQ(::chmod(state_->path().c_str(), 0711), 0);
    if (!std::get<1>(GetParam())) return;
    serve_ = start_guard(
        {"serve", "--state", state_->path().string(), "--backend", backend(), "--project", project_.path().string()},
        project_.environment());
    ASSERT_TRUE(listens_at(state_->path() / "sessions/socket"));
  }

  void TearDown() override {
    if (serve_ <= 0) return;
    ::kill(serve_, SIGTERM);
    int status = 0;
    ::waitpid(serve_, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }

  std::unique_ptr<TerminalProgram> bun(const std::string& script, std::vector<std::string> options = {}) {
    std::vector<std::string> words = {
        "session", "exec", "me/first", "--tty", "--state", state_->path().string(), "--backend", backend()};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "bun", "-e", script});
    return std::make_unique<TerminalProgram>(words, project_.path(), project_.environment());
  }

  Project project_;
  std::unique_ptr<TempDir> state_;
  pid_t serve_ = -1;
};

INSTANTIATE_TEST_SUITE_P(Where, Terminal,
    ::testing::Values(Where("namespace", false), Where("namespace", true), Where("docker", true)),
    [](const auto& parameter) {
      return std::string(std::get<0>(parameter.param)) + (std::get<1>(parameter.param) ? "_served" : "");
    });

TEST_P(Terminal, HasTheSizeOfOursAndFollowsIt) {
  auto guard =
      bun("const say = () => console.log(`size ${process.stdout.rows} ${process.stdout.columns} ${process.env.TERM}`);"
          "process.stdout.on('resize', say); say(); setTimeout(() => {}, 1e6)");
  EXPECT_TRUE(guard->prints("size 24 80 xterm")) << guard->printed();
  guard->resize(50, 132);
  EXPECT_TRUE(guard->prints("size 50 132")) << guard->printed();
}

TEST_P(Terminal, PassesKeysOnAndEndsWithTheCommandsStatus) {
  auto guard =
      bun("process.stdout.write('ready'); for await (const line of console) { console.log('got ' + line); }"
          "process.exit(7)");
  EXPECT_TRUE(guard->prints("ready")) << guard->printed();
  EXPECT_TRUE(guard->is_raw());
  guard->type("hello\r");
  EXPECT_TRUE(guard->prints("hello\r\n")) << "no echo: " << guard->printed();
  EXPECT_TRUE(guard->prints("got hello\r\n")) << guard->printed();
  guard->type(kCtrlD);
  EXPECT_EQ(guard->wait(), 7) << guard->printed();
  EXPECT_FALSE(guard->is_raw());
}

TEST_P(Terminal, CtrlCReachesTheCommandAndNotGuard) {
  auto guard =
      bun("process.on('SIGINT', () => { console.log('caught'); }); console.log('ready');"
          "process.on('SIGTSTP', () => { console.log('stopped'); process.exit(3) }); setTimeout(() => {}, 1e6)");
  EXPECT_TRUE(guard->prints("ready")) << guard->printed();
  guard->type(kCtrlC);
  EXPECT_TRUE(guard->prints("caught")) << guard->printed();
  guard->type("\x1a");
  EXPECT_TRUE(guard->prints("stopped")) << guard->printed();
  EXPECT_EQ(guard->wait(), 3);
  auto killed = bun("console.log('ready'); setTimeout(() => {}, 1e6)");
  EXPECT_TRUE(killed->prints("ready")) << killed->printed();
  killed->type(kCtrlC);
  EXPECT_EQ(killed->wait(), 128 + SIGINT);
}

TEST_P(Terminal, IsAsItWasBeforeHoweverGuardEnds) {
  for (const int number : {SIGTERM, SIGHUP, SIGQUIT, SIGSEGV}) {
    auto guard = bun("console.log('ready'); for (;;) console.log('x'.repeat(1000))");
    EXPECT_TRUE(guard->prints("ready")) << guard->printed();
    EXPECT_TRUE(guard->is_raw());
    ::kill(guard->pid(), number);
    EXPECT_EQ(guard->wait(), number == SIGTERM ? 143 : number == SIGHUP ? 130 : 128 + number);
    EXPECT_FALSE(guard->is_raw()) << number;
  }
}

// What a command does not read does not keep guard from being stopped, nor what it prints from being seen.
TEST_P(Terminal, IsNotHeldUpByACommandThatDoesNotRead) {
  auto guard = bun("console.log('ready'); setInterval(() => console.log('tick'), 100)");
  EXPECT_TRUE(guard->prints("ready")) << guard->printed();
  for (int i = 0; i < 40; ++i) guard->type(std::string(4000, 'x'));
  EXPECT_TRUE(guard->prints("tick")) << guard->printed().size();
  ::kill(guard->pid(), SIGTERM);
  EXPECT_EQ(guard->wait(), 143);
}

TEST_P(Terminal, KeepsItsLimitOfTime) {
  auto guard = bun("setTimeout(() => {}, 1e6)", {"--timeout", "300ms"});
  EXPECT_EQ(guard->wait(), 124) << guard->printed();
}

TEST(TerminalOption, NeedsATerminal) {
  Project project;
  const auto result = project.guard({"session", "exec", "me/first", "--tty", "--", "bun", "--version"});
  EXPECT_EQ(result.exit_status, 64) << result.err;
  EXPECT_NE(result.err.find("needs a terminal"), std::string::npos) << result.err;
}

}  // namespace
}  // namespace guard::testing
