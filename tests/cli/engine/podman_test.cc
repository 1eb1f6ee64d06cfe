// podman's socket through the binary: image, run, exec, clean, and a guard that is killed in the middle.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <thread>

#include "common/cancel.h"
#include "docker/engine_client.h"
#include "runner/sandbox/docker_sweep.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

using namespace std::chrono_literals;

std::string podman_socket() {
  const char* socket = std::getenv("GUARD_TEST_PODMAN_SOCKET");
  return socket == nullptr ? "" : socket;
}

class Podman : public ::testing::Test {
 protected:
  void SetUp() override {
    if (podman_socket().empty()) {
      if (std::getenv("GUARD_TEST_REQUIRE_PODMAN") != nullptr) FAIL() << "GUARD_TEST_PODMAN_SOCKET is not set";
      GTEST_SKIP() << "needs a private podman service: set GUARD_TEST_PODMAN_SOCKET";
    }
    environment_ = {{"DOCKER_HOST", "unix://" + podman_socket()}, {"GUARD_DOCKER_PROBE_DEADLINE_MS", "10000"}};
    const auto built = guard({"image", "build", "--engine"});
    ASSERT_EQ(built.exit_status, 0) << built.out << built.err;
  }

  ProgramResult guard(std::vector<std::string> arguments) const {
    return project_.guard(std::move(arguments), environment_);
  }

  void expect_run(
      int exit_status, std::string_view reason, std::string_view body, std::vector<std::string> more = {}) const {
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\ntest(\"runs\", "
        "async () => { " +
            std::string(body) + " }, 1e9);\n");
    more.insert(more.begin(), {"run", "--format", "json", "--timeout", "5", "sandbox/a.test.ts"});
    const auto result = guard(std::move(more));
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    EXPECT_EQ(result.document().value("reason", ""), reason) << result.out;
  }

  Project project_;
  std::map<std::string, std::string> environment_;
};

TEST_F(Podman, RunsAreJudgedAsWithDocker) {
  project_.write("guard.toml", "[run]\ngrace_s = 1\n[limits]\nmemory = \"512m\"\n");
  expect_run(0, "tests_passed", "expect(add(1, 2)).toBe(3); await Bun.write(\"/app/sandbox/new\", \"x\");",
      {"--record", "record.json"});
  const auto verified = guard({"verify", "record.json"});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
  expect_run(1, "tests_failed", "expect(add(1, 2)).toBe(4);");
  expect_run(1, "timed_out", "for (;;);");
  expect_run(1, "out_of_memory",
      "const held: Uint8Array[] = []; for (let i = 0; i < 64; i++) held.push(new Uint8Array(16 << 20).fill(i)); "
      "expect(held.length).toBe(64);");
  const auto command = guard({"exec", "--", "/usr/local/bin/bun", "-e", "console.log(6 * 7)"});
  EXPECT_EQ(command.exit_status, 0) << command.err;
  EXPECT_EQ(command.out, "42\n");
}

TEST_F(Podman, TheNextStartRemovesWhatAKilledGuardLeft) {
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest(\"lasts\", async () => { await Bun.sleep(600000); }, 1e9);\n");
  ASSERT_EQ(::setenv("GUARD_CACHE_DIR", shared_cache().c_str(), 1), 0);
  const auto ours = docker_cache_label();
  ASSERT_TRUE(ours);
  const std::string label = std::string(docker_label::kCache) + "=" + *ours;
  const CancelToken never;
  docker::EngineClient engine(podman_socket(), never);

  auto variables = project_.environment();
  for (const auto& [name, value] : environment_) variables[name] = value;
  const pid_t pid = start_guard(
      {"run", "--quiet", "--project", project_.path().string(), (project_.path() / "sandbox/a.test.ts").string()},
      variables);
  ASSERT_GT(pid, 0);
  bool running = false;
  for (int waited = 0; waited < 600 && !running; ++waited) {
    std::this_thread::sleep_for(50ms);
    const auto containers = engine.list_containers(label, Deadline::after(10s));
    running = containers && !containers->empty() && containers->front().state == "running";
  }
  ::kill(pid, SIGKILL);
  ::waitpid(pid, nullptr, 0);
  ASSERT_TRUE(running);
  const auto cleaned = guard({"clean"});
  EXPECT_EQ(cleaned.exit_status, 0) << cleaned.out << cleaned.err;
  const auto containers = engine.list_containers(label, Deadline::after(10s));
  ASSERT_TRUE(containers) << containers.error().to_string();
  EXPECT_TRUE(containers->empty());
}

}  // namespace
}  // namespace guard::testing
