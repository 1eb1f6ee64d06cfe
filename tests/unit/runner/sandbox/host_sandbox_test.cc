#include <signal.h>

#include "runner/files/scratch_file.h"
#include "runner/sandbox/cgroup.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::As;
using testing::case_program;
using testing::processes_with;
using testing::run_as;

class HostSandbox : public testing::SandboxFixture, public ::testing::WithParamInterface<As> {
 protected:
  SandboxSpec on_host(std::vector<std::string> argv) {
    argv.front() = case_program(argv.front()).string();
    return spec(std::move(argv));
  }
  Result<ExecResult> run(const SandboxSpec& wanted) { return make_host_sandbox()->run(wanted, out_, err_, cancel_); }
};

INSTANTIATE_TEST_SUITE_P(As, HostSandbox, ::testing::Values(As::ourselves, As::ordinary_user),
    [](const auto& tested) { return tested.param == As::ourselves ? "Ourselves" : "OrdinaryUser"; });

#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << (result).error().to_string()

TEST_P(HostSandbox, RunsInTheFolderWithTheEnvironmentNamedAndNothingElse) {
  const testing::ScopedEnv planted("GUARD_TEST_PLANTED_SECRET", "visible");
  run_as(GetParam(), [this] {
    SandboxSpec wanted = on_host({"talks", "5"});
    wanted.report = ReportChannel::on;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.value, 5);
    EXPECT_NE(out_.text.find("cwd " + folder().string() + "\n"), std::string::npos) << out_.text;
    EXPECT_EQ(out_.text.find("PLANTED"), std::string::npos);
    EXPECT_EQ(result->report, "the report");
    EXPECT_EQ(result->enforced_by.at("network"), "open");
    EXPECT_EQ(result->enforced_by.at("syscalls"), "none");
    EXPECT_EQ(result->seen_inside.at("no_new_privs"), "1");
  });
}

TEST_P(HostSandbox, HandsInputOn) {
  run_as(GetParam(), [this] {
    const auto file = memory_file("input", "given\n");
    ASSERT_OK(file);
    SandboxSpec wanted = on_host({"copies_input"});
    wanted.input_descriptor = file->get();
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(out_.text, "given\n");
  });
}

TEST_P(HostSandbox, KillsWhatLeftItsSession) {
  run_as(GetParam(), [this] {
    const std::string marker = "marker-host-" + std::to_string(::getpid());
    auto result = run(on_host({"leaves_daemons", marker}));
    ASSERT_OK(result);
    EXPECT_EQ(out_.text, "left\n");
    EXPECT_EQ(processes_with(marker), 0);
  });
}

TEST_P(HostSandbox, TimesOutWithTermThenKill) {
  run_as(GetParam(), [this] {
    SandboxSpec wanted = on_host({"ignores_term", "marker-deaf-" + std::to_string(::getpid())});
    wanted.timeout = milliseconds(2000);
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(out_.text, "started\nTERM\n");
    EXPECT_EQ(processes_with(wanted.argv[1]), 0);
  });
}

TEST_P(HostSandbox, EndsAFloodAForkBombAndAMemoryHog) {
  run_as(GetParam(), [this] {
    const std::string marker = "marker-limits-" + std::to_string(::getpid());
    SandboxSpec flood = on_host({"floods", std::to_string(500u << 20), marker});
    flood.limits.output_flood_bytes = 1 << 20;
    auto result = run(flood);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::output_flood);

    SandboxSpec bomb = on_host({"forks", marker});
    bomb.limits.pids = 40;
    result = run(bomb);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::pids_limit);

    SandboxSpec hog = on_host({"eats_memory", std::to_string(256u << 20), marker});
    hog.limits.memory_bytes = 64u << 20;
    result = run(hog);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
    EXPECT_EQ(processes_with(marker), 0);
  });
}

// The life line: nobody is there any more to read what the program says.
TEST_P(HostSandbox, LeavesNoProcessWhenGuardIsKilled) {
  run_as(GetParam(), [this] {
    const std::string marker = "marker-" + std::to_string(::getpid()) + "-orphan";
    const SandboxSpec deaf = on_host({"ignores_term", marker});
    const pid_t guard = ::fork();
    if (guard == 0) {
      static_cast<void>(run(deaf));
      ::_exit(0);
    }
    const Deadline give_up = Deadline::after(milliseconds(30'000));
    while (processes_with(marker) < 2 && !give_up.passed()) ::usleep(10'000);
    EXPECT_GE(processes_with(marker), 2);
    ::kill(guard, SIGKILL);
    ASSERT_EQ(::waitpid(guard, nullptr, 0), guard);
    while (processes_with(marker) > 0 && !give_up.passed()) ::usleep(10'000);
    EXPECT_EQ(processes_with(marker), 0);
    EXPECT_TRUE(remove_cgroups_of(deaf.run_id, cgroup_places_here()).has_value());
  });
}

// A program that kills its supervisor, which is possible here, proves nothing by it.
TEST_P(HostSandbox, BelievesNothingWhenTheInitIsKilled) {
  run_as(GetParam(), [this] {
    auto result = run(on_host({"attacks_init"}));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::protocol_error);
  });
}

TEST_P(HostSandbox, TakesTermFromTheProgramForAViolation) {
  run_as(GetParam(), [this] {
    auto result = run(on_host({"terms_init"}));
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::violation);
  });
}

TEST_P(HostSandbox, NeedsAFolder) {
  SandboxSpec wanted = on_host({"talks"});
  wanted.host_folder = "/no/such/folder";
  auto result = run(wanted);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::input_invalid);
}

}  // namespace
}  // namespace guard
