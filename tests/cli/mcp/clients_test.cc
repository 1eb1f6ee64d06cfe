// Clients of others: the protocol's SDK and its conformance suite, against guard as it is built. Skipped where npm has
// not installed them, unless GUARD_TEST_REQUIRE_CLIENTS says that they have to be there.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/environment.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::EndsWith;
using ::testing::HasSubstr;

std::string variable(const char* name) { return value_of(process_environment(), name); }

class ForeignClients : public ::testing::Test {
 protected:
  void SetUp() override {
    if (variable("GUARD_CLIENTS").empty()) {
      if (!variable("GUARD_TEST_REQUIRE_CLIENTS").empty()) FAIL() << "GUARD_CLIENTS is not set";
      GTEST_SKIP() << "GUARD_CLIENTS is not set";
    }
    GUARD_NEEDS(Needs::namespace_sandbox);
    project_.build_image("namespace");
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from 'bun:test';\ntest('one', () => { expect(1 + 1).toBe(2); });\n");
    ASSERT_EQ(::chmod(state_.path().c_str(), 0711), 0);
  }
  void TearDown() override {
    if (serve_ <= 0) return;
    ::kill(serve_, SIGTERM);
    ::waitpid(serve_, nullptr, 0);
  }

  // Starts `guard serve` on a port, and sets address_.
  void serve() {
    const int port = 20'000 + ::getpid() % 20'000;
    address_ = "127.0.0.1:" + std::to_string(port);
    serve_ = start_guard({"serve", "--state", state_.path(), "--backend", "namespace", "--project", project_.path(),
                             "--listen", address_},
        project_.environment());
    for (int i = 0; i < 400 && token().empty(); ++i) std::this_thread::sleep_for(milliseconds(50));
    for (int i = 0; i < 400 && !fs::exists(state_.path() / "sessions/socket"); ++i)
      std::this_thread::sleep_for(milliseconds(50));
  }
  std::string token() const {
    const std::string text = read_file(state_.path() / "sessions/token", 1000).value_or("");
    return text.substr(0, text.find('\n'));
  }

  ProgramResult script(std::vector<std::string> words) const {
    ProcessSpec spec;
    spec.argv = {variable("GUARD_BUN")};
    spec.argv.insert(spec.argv.end(), words.begin(), words.end());
    spec.cwd = project_.path();
    spec.env = project_.environment();
    spec.deadline = Deadline::after(std::chrono::minutes(4));
    return run_program(spec);
  }
  std::vector<std::string> sdk(std::vector<std::string> more = {}) const {
    std::vector<std::string> words = {GUARD_SOURCE_DIR "/tests/cli/mcp/sdk_client.mjs", variable("GUARD_CLIENTS"),
        GUARD_PROGRAM, state_.path(), project_.path()};
    words.insert(words.end(), more.begin(), more.end());
    return words;
  }

  Project project_;
  const TempDir state_ = *TempDir::create();
  pid_t serve_ = -1;
  std::string address_;
};

TEST_F(ForeignClients, TheSdkCallsEveryToolOverPipes) {
  const auto result = script(sdk());
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

TEST_F(ForeignClients, TheSdkCallsEveryToolOverHttp) {
  serve();
  const auto result = script(sdk({address_, token()}));
  EXPECT_EQ(result.out, "ok\n") << result.err;
}

// The other scenarios of the suite want tools, prompts and texts of their own, which a test server offers.
TEST_F(ForeignClients, TheConformanceSuiteFindsNothing) {
  serve();
  const auto result = script({GUARD_SOURCE_DIR "/tests/cli/mcp/conformance.mjs", variable("GUARD_CLIENTS"), address_,
      token(), "server-initialize", "ping", "tools-list", "resources-list", "server-sse-multiple-streams"});
  EXPECT_THAT(result.out, EndsWith("ok\n")) << result.err;
}

}  // namespace
}  // namespace guard::testing
