// guard is killed with SIGKILL at ten random moments of a run. After the next start nothing of it may be left: no
// container, no process, no mount, no folder.
#include <dirent.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <random>
#include <thread>

#include "common/cancel.h"
#include "common/own_entry.h"
#include "docker/engine_client.h"
#include "runner/sandbox/docker_sweep.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

// Processes whose command line or environment names our cache folder or the marker of this test.
std::vector<std::string> processes_with(const std::string& marker) {
  std::vector<std::string> found;
  for (const auto& entry : fs::directory_iterator("/proc")) {
    const std::string name = entry.path().filename();
    if (name.find_first_not_of("0123456789") != std::string::npos || name == std::to_string(::getpid())) continue;
    for (const char* part : {"cmdline", "environ"}) {
      std::ifstream file(entry.path() / part, std::ios::binary);
      const std::string text((std::istreambuf_iterator<char>(file)), {});
      if (text.find(marker) != std::string::npos) {
        found.push_back(name + ": " + text.substr(0, 200));
        break;
      }
    }
  }
  return found;
}

bool mounts_mention(const std::string& text) {
  std::ifstream file("/proc/self/mountinfo");
  const std::string mounts((std::istreambuf_iterator<char>(file)), {});
  return mounts.find(text) != std::string::npos;
}

class Kill : public ::testing::TestWithParam<std::string> {};

TEST_P(Kill, LeavesNothingBehindAfterTheNextStart) {
  GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
  const std::string marker = fmt::format("guard-kill-marker-{}-{}", ::getpid(), GetParam());
  Project project;
  project.configure("trust_namespace = true\n");
  project.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"lasts\", async () => { const child = Bun.spawn([\"/usr/local/bin/bun\", \"-e\", \"setTimeout(() => {}, "
      "600000)\"]); await Bun.sleep(600000); expect(child.pid).toBe(0); }, 1e9);\n");
  project.build_image(GetParam());
  auto environment = project.environment();
  environment["GUARD_RUN_GRACE_S"] = "1";

  std::random_device seed;
  const unsigned value = seed();
  SCOPED_TRACE(fmt::format("seed {}", value));
  std::mt19937 random(value);
  std::uniform_int_distribution<int> moment_ms(1, 900);

  for (int i = 0; i < 10; ++i) {
    const pid_t pid = start_guard({"run", "--quiet", "--backend", GetParam(), "--env", "MARK=" + marker, "--project",
                                      project.path().string(), (project.path() / "sandbox/a.test.ts").string()},
        environment);
    ASSERT_GT(pid, 0);
    std::this_thread::sleep_for(std::chrono::milliseconds(moment_ms(random)));
    ::kill(pid, SIGKILL);
    int status = 0;
    ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    // Killed by us, or over before we came: in no case a pass.
    EXPECT_FALSE(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  }

  // Whatever notices the death of guard needs a moment to do so; the engine may still be starting a container.
  std::string clean_output;
  for (int i = 0; i < 60; ++i) {
    std::this_thread::sleep_for(250ms);
    clean_output = project.guard({"clean"}).out;
    const bool folders = fs::exists(shared_cache() / "runs") && !fs::is_empty(shared_cache() / "runs");
    if (!folders && processes_with(marker).empty() && i > 8) break;
  }
  EXPECT_TRUE(processes_with(marker).empty()) << ::testing::PrintToString(processes_with(marker));
  EXPECT_TRUE(!fs::exists(shared_cache() / "runs") || fs::is_empty(shared_cache() / "runs")) << clean_output;
  EXPECT_FALSE(mounts_mention((shared_cache() / "runs").string()));
  if (GetParam() == "docker") {
    ASSERT_EQ(::setenv("GUARD_CACHE_DIR", shared_cache().c_str(), 1), 0);
    const auto ours = docker_cache_label();
    ASSERT_TRUE(ours);
    const CancelToken never;
    docker::EngineClient engine(docker_socket(), never);
    const auto containers = engine.list_containers(
        fmt::format("{}={}", docker_label::kCache, *ours), Deadline::after(milliseconds(10'000)));
    ASSERT_TRUE(containers) << containers.error().to_string();
    EXPECT_TRUE(containers->empty()) << containers->size() << " containers are left";
  }
}

std::vector<std::string> ours_in(const fs::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (is_own_name(entry.path().filename().native())) names.push_back(entry.path().filename());
  }
  return names;
}

// Killed while it brings back what the tests wrote: the next start in that project takes away what it left, and so does
// `guard clean`.
TEST(KillLate, WhileFilesAreBroughtBackLeavesNothingAfterTheNextStartOrAClean) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const Project project;
  project.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { mkdirSync, writeFileSync } from \"node:fs\";\n"
      "test(\"writes\", () => { mkdirSync(\"/app/sandbox/out\");\n"
      "  for (let i = 0; i < 40; i++) writeFileSync(`/app/sandbox/out/f${i}.txt`, \"a line of "
      "text\\n\".repeat(2000));\n"
      "  expect(1).toBe(1); });\n");
  project.build_image("namespace");
  const fs::path sandbox = project.path() / "sandbox";
  int left = 0;
  for (int round = 0; round < 15; ++round) {
    const pid_t pid = start_guard({"run", "--quiet", "--backend", "namespace", "--collect", "all", "--project",
                                      project.path().string(), (sandbox / "a.test.ts").string()},
        project.environment());
    ASSERT_GT(pid, 0);
    int status = 0;
    bool over = false;
    while (!over && ours_in(sandbox).empty()) over = ::waitpid(pid, &status, WNOHANG) == pid;
    if (!over) {
      std::this_thread::sleep_for(std::chrono::milliseconds(round));
      ::kill(pid, SIGKILL);
      ASSERT_EQ(::waitpid(pid, &status, 0), pid);
    }
    left += ours_in(sandbox).empty() ? 0 : 1;
    fs::remove_all(sandbox / "out");
    if (round % 2 == 0) {
      EXPECT_EQ(project.guard({"run", "--quiet", "--backend", "namespace", "sandbox/a.test.ts"}).exit_status, 0);
    } else {
      static_cast<void>(project.guard({"clean", "--project", project.path().string()}));
    }
    EXPECT_TRUE(ours_in(sandbox).empty()) << ::testing::PrintToString(ours_in(sandbox));
  }
  EXPECT_GT(left, 0) << "none was killed where it would have left something";
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Kill, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
