// The three states of the container engine, through the binary: where it runs, or that it runs nowhere.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "common/unique_fd.h"
#include "tests/support/engine/fake_engine.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";

class Probe : public ::testing::Test {
 protected:
  void SetUp() override { project_.write("sandbox/a.test.ts", kPassing); }

  // Exit 3, and nothing was run anywhere: neither in the embedded sandbox nor on the host.
  void expect_nowhere(const std::string& docker_host, bool ordinary_user = false) {
    ProgramCall call;
    call.arguments = {"run", "--format", "json", "sandbox/a.test.ts"};
    call.environment = {{"DOCKER_HOST", docker_host}, {"GUARD_DOCKER_PROBE_DEADLINE_MS", "500"}};
    call.ordinary_user = ordinary_user;
    if (ordinary_user) call.environment["GUARD_CACHE_DIR"] = project_.path() / "cache";
    const auto result = project_.guard(call);
    EXPECT_EQ(result.exit_status, 3) << docker_host << result.out << result.err;
    const auto document = result.document();
    EXPECT_EQ(document["verdict"], "unavailable");
    EXPECT_EQ(document["error"]["code"], "ENVIRONMENT_UNAVAILABLE");
    EXPECT_EQ(document["error"]["details"]["environmentType"], "docker");
    EXPECT_FALSE(document["error"]["hint"].get<std::string>().empty());
    EXPECT_FALSE(document.contains("exec"));
    // Not even where the host would be allowed.
    call.environment["GUARD_FALLBACK"] = "host";
    EXPECT_EQ(project_.guard(call).exit_status, 3) << docker_host;
  }

  Project project_;
  FakeEngine engine_;
};

TEST_F(Probe, DockerHostThatPointsNowhereIsUnknown) { expect_nowhere("unix:///nonexistent/engine.sock"); }
TEST_F(Probe, DockerHostOfAnotherKindIsUnknown) { expect_nowhere("ssh://somebody@example.invalid"); }
TEST_F(Probe, DockerHostThatIsNonsenseIsUnknown) { expect_nowhere("::::"); }

TEST_F(Probe, HangingEngineIsUnknown) {
  engine_.otherwise(FakeReply{"", FakeReply::Then::stay_silent, FakeReply::When::after_request});
  expect_nowhere("unix://" + engine_.socket());
}

TEST_F(Probe, EngineThatAnswers500IsUnknown) {
  engine_.otherwise(fake_answer(500, "{\"message\":\"boom\"}"));
  expect_nowhere("unix://" + engine_.socket());
}

TEST_F(Probe, HalfAnAnswerIsUnknown) {
  engine_.otherwise(
      FakeReply{"HTTP/1.1 200 OK\r\nContent-Le", FakeReply::Then::hang_up, FakeReply::When::after_request});
  expect_nowhere("unix://" + engine_.socket());
}

TEST_F(Probe, SocketWithoutPermissionIsUnknown) {
  if (::geteuid() != 0) GTEST_SKIP() << "needs root to make a socket of another user";
  engine_.otherwise(fake_answer(200, "OK"));
  ASSERT_EQ(::chmod(engine_.socket().c_str(), 0600), 0);
  expect_nowhere("unix://" + engine_.socket(), true);
}

// No socket anywhere: proved absent, so the embedded sandbox takes over, with all three tiers.
TEST_F(Probe, AbsentEngineFallsBackToTheNamespace) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  if (std::filesystem::exists("/var/run/docker.sock"))
    GTEST_SKIP() << "this machine has an engine at the default place";
  project_.build_image("namespace");
  const auto result = project_.guard({"run", "--format", "json", "sandbox/a.test.ts"}, {{"DOCKER_HOST", "(unset)"}});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  const auto document = result.document();
  EXPECT_EQ(document["backend"], "namespace");
  EXPECT_EQ(document["tiers"], (std::vector<std::string>{"always", "docker", "host"}));
}

TEST_F(Probe, AvailableEngineRunsInAContainerWithoutTheHostTier) {
  GUARD_NEEDS(Needs::docker);
  project_.build_image("docker");
  const auto result = project_.guard({"run", "--format", "json", "sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.document()["backend"], "docker");
  EXPECT_EQ(result.document()["tiers"], (std::vector<std::string>{"always", "docker"}));
}

TEST_F(Probe, DoctorTellsStateReasonAndRemedy) {
  engine_.otherwise(fake_answer(500, "{}"));
  const auto result = project_.guard({"doctor", "--format", "json"}, {{"DOCKER_HOST", "unix://" + engine_.socket()}});
  EXPECT_EQ(result.exit_status, 3);
  const auto document = result.document();
  EXPECT_FALSE(document["ready"].get<bool>());
  bool seen = false;
  for (const auto& part : document["parts"]) {
    if (part["name"] != "docker") continue;
    seen = true;
    EXPECT_EQ(part["state"], "unknown");
    EXPECT_FALSE(part["reason"].get<std::string>().empty());
    EXPECT_FALSE(part["remedy"].get<std::string>().empty());
  }
  EXPECT_TRUE(seen);
}

TEST_F(Probe, HostBackendNeedsTheConfiguration) {
  const auto refused = project_.guard({"run", "--format", "json", "--backend", "host", "sandbox/a.test.ts"});
  EXPECT_EQ(refused.exit_status, 3) << refused.out;
  project_.configure("backend = \"host\"\n");
  const auto allowed = project_.guard({"run", "--format", "json", "sandbox/a.test.ts"});
  EXPECT_EQ(allowed.exit_status, 0) << allowed.out << allowed.err;
  EXPECT_EQ(allowed.document()["tiers"], (std::vector<std::string>{"always", "docker", "host"}));
  EXPECT_FALSE(allowed.document()["relaxations"].empty());
}

}  // namespace
}  // namespace guard::testing
