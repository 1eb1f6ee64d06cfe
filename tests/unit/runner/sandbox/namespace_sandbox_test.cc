#include "runner/sandbox/namespace_sandbox.h"

#include <gmock/gmock.h>
#include <signal.h>
#include <sys/resource.h>

#include <cerrno>
#include <cstring>
#include <thread>

#include "runner/sandbox/bwrap_args.h"
#include "runner/sandbox/cgroup.h"
#include "tests/support/runner/collected_tree.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::answers;
using testing::As;
using testing::processes_with;
using testing::run_as;

// Every one of these runs twice: as whoever runs the tests (root in a container: with control groups) and as an
// ordinary user.
class NamespaceSandbox : public testing::SandboxFixture, public ::testing::WithParamInterface<As> {
 protected:
  void SetUp() override {
    SandboxFixture::SetUp();
    SandboxProbe probe;
    // The probe's trial run shows whether there is anything to test here.
    probe = make_namespace_sandbox()->probe(Deadline::after(milliseconds(20'000)));
    if (probe.state == ProbeState::available) return;
    if (std::getenv("GUARD_TEST_REQUIRE_NAMESPACE") != nullptr) FAIL() << probe.reason;
    GTEST_SKIP() << "no embedded sandbox here: " << probe.reason;
  }

  Result<ExecResult> run(const SandboxSpec& spec) { return make_namespace_sandbox()->run(spec, out_, err_, cancel_); }

  void each(const std::function<void()>& body) { run_as(GetParam(), body); }
};

INSTANTIATE_TEST_SUITE_P(As, NamespaceSandbox, ::testing::Values(As::ourselves, As::ordinary_user),
    [](const auto& tested) { return tested.param == As::ourselves ? "Ourselves" : "OrdinaryUser"; });

#define ASSERT_OK(result) ASSERT_TRUE((result).has_value()) << (result).error().to_string()

TEST_P(NamespaceSandbox, GivesArgumentsEnvironmentFolderAndTakesBackStreamsReportAndCode) {
  each([this] {
    SandboxSpec wanted = spec({"talks", "7", "a b", ""});
    wanted.env["NAME"] = "value with\nnewline";
    wanted.report = ReportChannel::on;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(result->outcome.value, 7);
    EXPECT_NE(out_.text.find("arg 7\narg a b\narg \n"), std::string::npos) << out_.text;
    EXPECT_NE(out_.text.find("env NAME=value with\nnewline\n"), std::string::npos);
    EXPECT_NE(out_.text.find("cwd /app\n"), std::string::npos);
    EXPECT_NE(out_.text.find("stdin empty\n"), std::string::npos);
    EXPECT_EQ(err_.text, "to stderr\n");
    EXPECT_EQ(result->stdout_bytes, out_.text.size());
    EXPECT_EQ(result->stderr_bytes, err_.text.size());
    EXPECT_EQ(result->report.value_or("none"), "the report");
  });
}

TEST_P(NamespaceSandbox, StartsNothingWhereAnotherFolderWasMounted) {
  const TempDir shared = *TempDir::create();
  ASSERT_EQ(::chmod(shared.path().c_str(), 0755), 0);
  struct stat there {};
  ASSERT_EQ(::stat(shared.path().c_str(), &there), 0);
  each([&] {
    SandboxSpec wanted = spec({"talks", "0"});
    wanted.shared = {{shared.path(), "/app/shared", {there.st_dev, there.st_ino}}};
    ASSERT_OK(run(wanted));
    EXPECT_NE(out_.text, "");
    out_.text.clear();
    wanted = spec({"talks", "0"});
    wanted.shared = {{shared.path(), "/app/shared", {there.st_dev, there.st_ino + 1}}};
    const auto refused = run(wanted);
    ASSERT_FALSE(refused);
    EXPECT_NE(refused.error().message().find("replaced"), std::string::npos) << refused.error().to_string();
    EXPECT_EQ(out_.text, "");
  });
}

// Nothing of our environment may come along, and bubblewrap adds PWD alone.
TEST_P(NamespaceSandbox, PassesOnNoEnvironmentOfOurs) {
  const testing::ScopedEnv planted("GUARD_TEST_PLANTED_SECRET", "visible");
  each([this] {
    auto result = run(spec({"talks", "0"}));
    ASSERT_OK(result);
    int variables = 0;
    for (std::size_t at = out_.text.find("env "); at != std::string::npos; at = out_.text.find("\nenv ", at + 1))
      ++variables;
    EXPECT_EQ(out_.text.find("PLANTED"), std::string::npos);
    EXPECT_EQ(variables, 3) << out_.text;
  });
}

// The checked files are in the folder, too; none of them comes back.
TEST_P(NamespaceSandbox, HandsOutPlainFilesAndTellsOfTheRest) {
  each([this] {
    SandboxSpec wanted = spec({"writes_files", "tree", "/app/scratch"});
    wanted.limits.file_bytes = 1ull << 41;  // else the sparse file could not be made
    wanted.collect = collecting::collect_all("/app/scratch");
    auto result = run(wanted);
    ASSERT_OK(result);
    ASSERT_EQ(result->outcome.value, 0) << err_.text;
    ASSERT_TRUE(result->collected.has_value());
    collecting::expect_collected_tree(*result->collected);
  });
}

TEST_P(NamespaceSandbox, HandsOutNamesOnlyWhereNoMoreIsAskedForOrTheProgramFailed) {
  each([this] {
    SandboxSpec wanted = spec({"writes_files", "tree", "/app/scratch"});
    wanted.limits.file_bytes = 1ull << 41;
    wanted.collect = CollectRequest{"/app/scratch", 0, 0, 0};
    auto asked = run(wanted);
    ASSERT_OK(asked);
    wanted = spec({"writes_files", "tree", "/app/scratch", "1"});
    wanted.limits.file_bytes = 1ull << 41;  // else the sparse file could not be made
    wanted.collect = collecting::collect_all("/app/scratch");
    auto failed = run(wanted);
    ASSERT_OK(failed);
    EXPECT_EQ(failed->outcome.value, 1);
    for (const auto* result : {&*asked, &*failed}) {
      ASSERT_TRUE(result->collected.has_value());
      EXPECT_TRUE(result->collected->files.empty());
      auto told = collecting::reasons(*result->collected);
      EXPECT_EQ(told["plain.txt"], "not_asked");
      EXPECT_EQ(told["link"], "link");
      EXPECT_FALSE(told.contains("given"));
    }
  });
}

TEST_P(NamespaceSandbox, GivesEachOfSeveralProgramsAFreshWorld) {
  each([this] {
    SandboxSpec wanted = spec({"leaves_a_mess", "/app/scratch"});
    wanted.each = {"one", "fails", "three"};
    wanted.collect = CollectRequest{"/app/scratch", 0, 0, 0};
    std::vector<std::string> printed;
    wanted.program_ended = [&] { printed.push_back(out_.text); };
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(out_.text, "one fresh\nfails fresh\nthree fresh\n") << err_.text;
    EXPECT_EQ(printed, (std::vector<std::string>{"one fresh\n", "one fresh\nfails fresh\n"}));
    ASSERT_EQ(result->earlier.size(), 2u);
    EXPECT_EQ(result->earlier[0].outcome.value, 0);
    EXPECT_EQ(result->earlier[1].outcome.value, 1);
    EXPECT_EQ(result->outcome.value, 0);
    for (const ExecResult* one : {&result->earlier[0], &result->earlier[1], &*result}) EXPECT_TRUE(one->collected);
  });
}

TEST_P(NamespaceSandbox, EndsSeveralProgramsTogetherWhenTheirTimeIsOver) {
  each([this] {
    SandboxSpec wanted = spec({"sleeps"});
    wanted.each = {"one", "two"};
    wanted.timeout = milliseconds(500);
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
    EXPECT_TRUE(result->earlier.empty());
  });
}

// A TERM that comes before init listens is lost. Where it were not sent again, this would last as long as the grace.
TEST_P(NamespaceSandbox, EndsAtOnceWhereTheTimeIsOverWhileItStarts) {
  each([this] {
    for (const int limit_ms : {1, 3, 6, 10, 15, 20, 30, 50}) {
      SandboxSpec wanted = spec({"sleeps"});
      wanted.timeout = milliseconds(limit_ms);
      wanted.grace = std::chrono::minutes(10);
      const auto result = run(wanted);
      if (result) {
        EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out) << limit_ms;
        EXPECT_EQ(result->outcome.value, limit_ms);
      } else {
        EXPECT_EQ(result.error().code(), ErrorCode::execution_timeout) << result.error().to_string();
        EXPECT_EQ(result.error().details().at("timeout"), std::to_string(limit_ms));
      }
    }
  });
}

TEST_P(NamespaceSandbox, CollectsNothingUnasked) {
  each([this] {
    auto result = run(spec({"writes_files", "tree", "/app/scratch"}));
    ASSERT_OK(result);
    EXPECT_FALSE(result->collected.has_value());
  });
}

// None of these hangs, and none of them makes guard hold more than it said it would.
TEST_P(NamespaceSandbox, CollectsWithinItsLimits) {
  each([this] {
    const auto collected = [this](const char* how) -> Collection {
      SandboxSpec wanted = spec({"writes_files", how, "/app/scratch"});
      wanted.scratch.front().bytes_max = 1 << 30;
      wanted.scratch.front().files_max = 200'000;
      wanted.collect = collecting::collect_all("/app/scratch");
      auto result = run(wanted);
      EXPECT_TRUE(result && result->collected) << how << err_.text;
      return result && result->collected ? std::move(*result->collected) : Collection();
    };
    const Collection many = collected("many");
    EXPECT_EQ(many.files.size(), CollectRequest::kFilesMax);
    EXPECT_EQ(many.left_behind.size(), 1000u);
    EXPECT_EQ(many.left_behind_count, 100'000u - CollectRequest::kFilesMax);
    EXPECT_TRUE(many.complete);

    const Collection deep = collected("deep");
    EXPECT_EQ(deep.files.size(), 17u);
    ASSERT_EQ(deep.left_behind.size(), 1u);
    EXPECT_EQ(to_string(deep.left_behind.front().reason), "too_deep");

    const Collection heavy = collected("heavy");
    EXPECT_EQ(heavy.files.size(), 4u);  // 28 of 32 MB
    ASSERT_EQ(heavy.left_behind.size(), 4u);
    EXPECT_EQ(to_string(heavy.left_behind.front().reason), "too_many");
    EXPECT_EQ(heavy.files.front().bytes, std::string(7 << 20, '\0'));
  });
}

TEST_P(NamespaceSandbox, ShowsFromInsideThatItHolds) {
  each([this] {
    auto result = run(spec({"talks", "0"}));
    ASSERT_OK(result);
    const auto& seen = result->seen_inside;
    EXPECT_EQ(seen.at("pid"), "1");
    EXPECT_EQ(seen.at("uid"), "1000");
    EXPECT_EQ(seen.at("gid"), "1000");
    for (const char* set : {"cap_inh", "cap_prm", "cap_eff", "cap_bnd", "cap_amb"})
      EXPECT_EQ(seen.at(set), "0000000000000000") << set;
    EXPECT_EQ(seen.at("no_new_privs"), "1");
    EXPECT_EQ(seen.at("seccomp"), "2");
    EXPECT_EQ(seen.at("rlimit_core"), "0");
    EXPECT_EQ(seen.at("rlimit_nofile"), "4096");
    // Groups of ours that the namespace does not map show as the overflow group; as root there are none at all.
    EXPECT_EQ(seen.at("groups").find("0"), std::string::npos) << seen.at("groups");
  });
}

TEST_P(NamespaceSandbox, RefusesWhatASandboxMustRefuse) {
  each([this] {
    auto result = run(spec({"probes"}));
    ASSERT_OK(result);
    ASSERT_EQ(result->outcome.kind, OutcomeKind::exited) << out_.text;
    auto said = answers(out_.text);
    const auto refused = [&said](const char* what, std::initializer_list<int> with) {
      ASSERT_TRUE(said.contains(what)) << what;
      bool found = false;
      for (const int number : with) found = found || said[what] == std::to_string(number);
      EXPECT_TRUE(found) << what << " answered " << said[what] << " (" << std::strerror(std::atoi(said[what].c_str()))
                         << ")";
    };
    for (const char* place : {"write:/", "write:/app", "write:/bin", "write:/dev"}) refused(place, {EROFS, EACCES});
    refused("write:/proc", {ENOENT, EACCES});
    refused("write:/proc/sys/kernel", {ENOENT, EACCES, EROFS});
    refused("open:/app/scratch/given", {EACCES});
    refused("open:/staged/given", {EROFS});
    refused("unlink:staged", {EROFS});
    EXPECT_EQ(result->touched, "") << "what was refused has changed nothing";
    for (const char* absent : {"open:/etc/shadow", "open:/var/run/docker.sock", "open:/root", "open:/home",
             "open:/dev/mem", "open:/dev/kmsg", "open:/dev/kvm", "open:/dev/fuse"}) {
      refused(absent, {ENOENT});
    }
    for (const char* masked :
        {"open:/proc/kcore", "open:/proc/kmsg", "open:/proc/keys", "open:/proc/timer_list", "open:/proc/kallsyms"}) {
      refused(masked, {ENOENT, EACCES});
    }
    // Not every kernel has the former.
    refused("open:/proc/sysrq-trigger", {EROFS, EACCES, ENOENT});
    refused("open:/proc/sys/kernel/core_pattern", {EROFS, EACCES});
    for (const char* call : {"mount", "remount", "umount", "mknod", "chroot", "unshare_user", "unshare_mount",
             "clone_user", "setns", "setuid0", "bpf", "userfaultfd", "perf_event_open", "io_uring_setup", "keyctl",
             "add_key", "open_by_handle_at", "modify_ldt", "personality", "ptrace_me", "raise_nofile",
             "socket:inet_raw", "socket:netlink", "socket:packet", "socket:vsock", "socket:alg", "socket:bluetooth"}) {
      refused(call, {EPERM, EINVAL});
    }
    refused("setpriority", {EACCES, EPERM});
    refused("clone3", {ENOSYS});
    EXPECT_EQ(said["write:/tmp"], "0");
    EXPECT_EQ(said["write:scratch"], "0");
    EXPECT_EQ(said["socket:unix"], "0");
    EXPECT_EQ(said["personality_query"], "0");
#ifdef __x86_64__
    EXPECT_NE(said["i386_call"], "worked");
    EXPECT_NE(said["x32_call"], "worked");
#endif
  });
}

TEST_P(NamespaceSandbox, ShowsNothingOfTheHost) {
  each([this] {
    ASSERT_OK(run(spec({"probes"})));
    std::set<std::string> top;
    std::istringstream lines(out_.text);
    int processes = 0;
    for (std::string line; std::getline(lines, line);) {
      if (!line.starts_with("seen /")) continue;
      const std::string path = line.substr(5);
      if (path.rfind('/') == 0) top.insert(path);
      if (path.starts_with("/proc/") && path.find_first_not_of("0123456789", 6) == std::string::npos) ++processes;
    }
    EXPECT_EQ(top, (std::set<std::string>{"/app", "/bin", "/dev", "/guard-init", "/proc", "/staged", "/tmp"}));
    EXPECT_EQ(processes, 2) << "init and the program";
  });
}

TEST_P(NamespaceSandbox, HandsNoDescriptorsDown) {
  each([this] {
    ASSERT_OK(run(spec({"lists_fds"})));
    EXPECT_EQ(out_.text, "fd 0\nfd 1\nfd 2\n");
    out_.text.clear();
    SandboxSpec wanted = spec({"lists_fds"});
    wanted.report = ReportChannel::on;
    ASSERT_OK(run(wanted));
    EXPECT_EQ(out_.text, "fd 0\nfd 1\nfd 2\nfd 3\n");
  });
}

TEST_P(NamespaceSandbox, KeepsItsInitOutOfReach) {
  each([this] {
    auto result = run(spec({"attacks_init"}));
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited) << out_.text;
    auto said = answers(out_.text);
    EXPECT_EQ(said["opened"], "0");
    EXPECT_EQ(said["list_fds"], std::to_string(EACCES));
    EXPECT_EQ(said["open_mem"], std::to_string(EACCES));
    EXPECT_EQ(said["open_environ"], std::to_string(EACCES));
    EXPECT_EQ(said["ptrace"], std::to_string(EPERM));
    EXPECT_EQ(said["process_vm_readv"], std::to_string(EPERM));
    EXPECT_EQ(said["pidfd_getfd"], std::to_string(EPERM));
    EXPECT_TRUE(out_.text.ends_with("done\n"));
  });
}

TEST_P(NamespaceSandbox, TakesTermFromInsideForAViolation) {
  each([this] {
    for (const auto& argv : {std::vector<std::string>{"terms_init"}, std::vector<std::string>{"terms_init", "queue"}}) {
      auto result = run(spec(argv));
      ASSERT_OK(result);
      EXPECT_EQ(result->outcome.kind, OutcomeKind::violation) << out_.text;
      EXPECT_NE(result->outcome.detail.find("a process of the run"), std::string::npos) << result->outcome.detail;
    }
  });
}

TEST_P(NamespaceSandbox, ReportsTheSignalThatEndedTheProgram) {
  each([this] {
    auto result = run(spec({"crashes"}));
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::signaled);
    EXPECT_EQ(result->outcome.value, SIGSEGV);
  });
}

TEST_P(NamespaceSandbox, SaysThatAProgramIsNotThere) {
  each([this] {
    auto result = run(spec({"no-such-program"}));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::file_not_found);
  });
}

TEST_P(NamespaceSandbox, TimesOutWithTermFirst) {
  each([this] {
    SandboxSpec wanted = spec({"sleeps"});
    wanted.timeout = milliseconds(2000);
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(result->outcome.value, 2000);
    EXPECT_EQ(out_.text, "started\n");
  });
}

TEST_P(NamespaceSandbox, KillsWhatDoesNotHeedTerm) {
  each([this] {
    SandboxSpec wanted = spec({"ignores_term", "marker-" + std::to_string(::getpid()) + "-immune"});
    wanted.timeout = milliseconds(2000);
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
    EXPECT_EQ(out_.text, "started\nTERM\n");
    EXPECT_EQ(processes_with(wanted.argv[1]), 0);
  });
}

TEST_P(NamespaceSandbox, EndsWhenCancelled) {
  each([this] {
    std::thread later([this] {
      std::this_thread::sleep_for(milliseconds(200));
      cancel_.cancel(SIGINT);
    });
    auto result = run(spec({"sleeps"}));
    later.join();
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::cancelled);
    EXPECT_EQ(result->outcome.value, SIGINT);
  });
}

TEST_P(NamespaceSandbox, DoesNotWaitForDaemonsThatHoldThePipes) {
  each([this] {
    const std::string marker = "marker-" + std::to_string(::getpid()) + "-daemon";
    auto result = run(spec({"leaves_daemons", marker}));
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(out_.text, "left\n");
    EXPECT_EQ(processes_with(marker), 0);
  });
}

TEST_P(NamespaceSandbox, ContainsAForkBomb) {
  each([this] {
    SandboxSpec wanted = spec({"forks", "marker-" + std::to_string(::getpid()) + "-bomb"});
    wanted.limits.pids = 40;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::pids_limit);
    EXPECT_EQ(processes_with(wanted.argv[1]), 0);
  });
}

TEST_P(NamespaceSandbox, EndsAMemoryHog) {
  each([this] {
    SandboxSpec wanted = spec({"eats_memory", std::to_string(256u << 20)});
    wanted.limits.memory_bytes = 64u << 20;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
  });
}

// As under a shell: the exit code says nothing.
TEST_P(NamespaceSandbox, SeesMemoryRunOutInAChildWhateverTheExitCode) {
  each([this] {
    SandboxSpec wanted = spec({"eats_memory", std::to_string(256u << 20), "child"});
    wanted.limits.memory_bytes = 64u << 20;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
  });
}

TEST_P(NamespaceSandbox, LetsMemoryBelowTheLimitBe) {
  each([this] {
    SandboxSpec wanted = spec({"eats_memory", std::to_string(32u << 20)});
    wanted.limits.memory_bytes = 128u << 20;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_GE(result->memory_peak_bytes, 32u << 20);
  });
}

TEST_P(NamespaceSandbox, PassesOnHundredMegabytesInFlatMemory) {
  each([this] {
    rusage before{};
    ::getrusage(RUSAGE_SELF, &before);
    auto result = run(spec({"floods", std::to_string(50u << 20)}));
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
    EXPECT_EQ(out_.seen, 50u << 20);
    EXPECT_EQ(err_.seen, 50u << 20);
    EXPECT_EQ(result->stdout_bytes + result->stderr_bytes, 100u << 20);
    rusage after{};
    ::getrusage(RUSAGE_SELF, &after);
    EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 16 * 1024) << "KiB more than before";
  });
}

TEST_P(NamespaceSandbox, EndsAFlood) {
  each([this] {
    SandboxSpec wanted = spec({"floods", std::to_string(500u << 20)});
    wanted.limits.output_flood_bytes = 1u << 20;
    auto result = run(wanted);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::output_flood);
    EXPECT_LE(out_.seen + err_.seen, 1u << 20);
  });
}

TEST_P(NamespaceSandbox, EndsTheRunWhenASinkFails) {
  each([this] {
    out_.fail_after = 1000;
    auto result = run(spec({"floods", std::to_string(500u << 20), "marker-sink-" + std::to_string(::getpid())}));
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::withheld);
    EXPECT_EQ(processes_with("marker-sink-" + std::to_string(::getpid())), 0);
  });
}

TEST_P(NamespaceSandbox, LeaksNoDescriptors) {
  each([this] {
    const auto count = [] {
      return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    };
    ASSERT_OK(run(spec({"talks", "0"})));
    const auto before = count();
    for (int i = 0; i < 3; ++i) ASSERT_OK(run(spec({"talks", "0"})));
    static_cast<void>(run(spec({"no-such-program"})));
    EXPECT_EQ(count(), before);
  });
}

// Descriptors run out at every point in turn: an error each time, and nothing stays behind.
TEST_P(NamespaceSandbox, FailsCleanlyWhereverDescriptorsRunOut) {
  run_as(GetParam(), [this] {
    const auto count = [] {
      return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    };
    ASSERT_OK(run(spec({"talks", "0"})));
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const auto used = count();
    const std::string marker = "marker-starved-" + std::to_string(::getpid());
    bool succeeded = false;
    int failures = 0;
    for (rlim_t room = 0; room < 60 && !succeeded; ++room) {
      const SandboxSpec wanted = spec({"talks", "0", marker});
      const rlimit tight{static_cast<rlim_t>(used) + room, before.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &tight);
      auto result = run(wanted);
      ::setrlimit(RLIMIT_NOFILE, &before);
      succeeded = result.has_value();
      failures += succeeded ? 0 : 1;
      EXPECT_EQ(count(), used);
      EXPECT_EQ(processes_with(marker), 0);
    }
    EXPECT_TRUE(succeeded);
    EXPECT_GT(failures, 5);
  });
}

// Whoever kills guard itself must not be left with its processes.
TEST_P(NamespaceSandbox, LeavesNoProcessWhenGuardIsKilled) {
  each([this] {
    const std::string marker = "marker-" + std::to_string(::getpid()) + "-orphan";
    const SandboxSpec wanted = spec({"ignores_term", marker});
    const pid_t guard = ::fork();
    if (guard == 0) {
      static_cast<void>(run(wanted));
      ::_exit(0);
    }
    const Deadline give_up = Deadline::after(milliseconds(30'000));
    // bubblewrap outside, the one that became init, and the program.
    while (processes_with(marker) < 3 && !give_up.passed()) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_GE(processes_with(marker), 3);
    ::kill(guard, SIGKILL);
    ASSERT_EQ(::waitpid(guard, nullptr, 0), guard);
    while (processes_with(marker) > 0 && !give_up.passed()) std::this_thread::sleep_for(milliseconds(10));
    EXPECT_EQ(processes_with(marker), 0);
    const auto swept = remove_cgroups_of(wanted.run_id, cgroup_places_here());
    EXPECT_TRUE(swept.has_value());
    for (const auto& [controller, place] : cgroup_places_here()) {
      for (const auto& parent : place.parents)
        EXPECT_FALSE(std::filesystem::exists(parent / ("guard-" + wanted.run_id)));
    }
  });
}

TEST_P(NamespaceSandbox, RemovesItsControlGroups) {
  each([this] {
    const SandboxSpec wanted = spec({"talks", "0"});
    ASSERT_OK(run(wanted));
    for (const auto& [controller, place] : cgroup_places_here()) {
      for (const auto& parent : place.parents)
        EXPECT_FALSE(std::filesystem::exists(parent / ("guard-" + wanted.run_id)));
    }
  });
}

TEST_P(NamespaceSandbox, SaysHowEachLimitWasEnforced) {
  each([this] {
    NamespaceOptions without;
    without.cgroups.clear();
    auto result = make_namespace_sandbox_with(without)->run(spec({"talks", "0"}), out_, err_, cancel_);
    ASSERT_OK(result);
    EXPECT_EQ(result->enforced_by.at("memory"), "watched");
    EXPECT_EQ(result->enforced_by.at("cpus"), "none");
    SandboxSpec strict = spec({"talks", "0"});
    strict.require_cgroups = true;
    auto refused = make_namespace_sandbox_with(without)->run(strict, out_, err_, cancel_);
    ASSERT_FALSE(refused.has_value());
    EXPECT_EQ(refused.error().code(), ErrorCode::environment_unavailable);
  });
}

// Without control groups the same programs end the same way.
TEST_P(NamespaceSandbox, WatchesWhereThereAreNoControlGroups) {
  each([this] {
    NamespaceOptions without;
    without.cgroups.clear();
    SandboxSpec hog = spec({"eats_memory", std::to_string(256u << 20), "child"});
    hog.limits.memory_bytes = 64u << 20;
    auto result = make_namespace_sandbox_with(without)->run(hog, out_, err_, cancel_);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::out_of_memory);
    SandboxSpec bomb = spec({"forks"});
    bomb.limits.pids = 40;
    result = make_namespace_sandbox_with(without)->run(bomb, out_, err_, cancel_);
    ASSERT_OK(result);
    EXPECT_EQ(result->outcome.kind, OutcomeKind::pids_limit);
  });
}

TEST_P(NamespaceSandbox, RefusesANetworkItDoesNotHave) {
  SandboxSpec wanted = spec({"talks", "0"});
  wanted.network = Network::host;
  auto result = run(wanted);
  ASSERT_FALSE(result.has_value());
  EXPECT_EQ(result.error().code(), ErrorCode::input_invalid);
}

TEST_P(NamespaceSandbox, SaysWithBubblewrapsWordsWhyItCouldNotStart) {
  each([this] {
    SandboxSpec wanted = spec({"talks", "0"});
    wanted.working_dir = "/no/such/folder";
    auto result = run(wanted);
    ASSERT_FALSE(result.has_value());
    EXPECT_EQ(result.error().code(), ErrorCode::environment_creation_failed);
    EXPECT_NE(result.error().details().at("stderr").find("/no/such/folder"), std::string::npos);
  });
}

TEST(NamespaceProbe, CallsAMissingBubblewrapAbsent) {
  NamespaceOptions nowhere;
  nowhere.bwrap_folders = {"/nonexistent"};
  const SandboxProbe probe = make_namespace_sandbox_with(nowhere)->probe(Deadline::after(milliseconds(2000)));
  EXPECT_EQ(probe.state, ProbeState::absent);
  EXPECT_FALSE(probe.remedy.empty());
}

// There, but failing: that is not "absent", and its words are kept.
TEST(NamespaceProbe, CallsAFailingBubblewrapUnknown) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  ::chmod(folder->path().c_str(), 0755);
  ASSERT_TRUE(
      write_file_atomically(folder->path() / "bwrap", "#!/bin/sh\necho no namespaces today >&2\nexit 1\n", 0755));
  NamespaceOptions failing;
  failing.bwrap_folders = {folder->path()};
  SandboxProbe probe = make_namespace_sandbox_with(failing)->probe(Deadline::after(milliseconds(5000)));
  EXPECT_EQ(probe.state, ProbeState::unknown);
  EXPECT_NE(probe.reason.find("no namespaces today"), std::string::npos) << probe.reason;

  ASSERT_TRUE(write_file_atomically(folder->path() / "bwrap", "#!/bin/sh\nexec sleep 1000\n", 0755));
  probe = make_namespace_sandbox_with(failing)->probe(Deadline::after(milliseconds(200)));
  EXPECT_EQ(probe.state, ProbeState::unknown);
}

// As Ubuntu's kernels say it; the others have no such file.
TEST(NamespaceProbe, SaysWhatToDoWhereAppArmorRestrictsUserNamespaces) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  ::chmod(folder->path().c_str(), 0755);
  ASSERT_TRUE(write_file_atomically(folder->path() / "bwrap", "#!/bin/sh\nexit 1\n", 0755));
  NamespaceOptions options;
  options.bwrap_folders = {folder->path()};
  options.apparmor_restriction = folder->path() / "restriction";
  const auto probed = [&options] {
    return make_namespace_sandbox_with(options)->probe(Deadline::after(milliseconds(60'000)));
  };

  SandboxProbe probe = probed();
  EXPECT_FALSE(probe.facts.contains("userns_by_apparmor"));
  EXPECT_THAT(probe.remedy, ::testing::HasSubstr("user.max_user_namespaces"));

  ASSERT_TRUE(write_file_atomically(options.apparmor_restriction, "0\n", 0644));
  probe = probed();
  EXPECT_EQ(probe.facts["userns_by_apparmor"], "not restricted");
  EXPECT_THAT(probe.remedy, ::testing::HasSubstr("user.max_user_namespaces"));

  ASSERT_TRUE(write_file_atomically(options.apparmor_restriction, "1\n", 0644));
  probe = probed();
  EXPECT_EQ(probe.facts["userns_by_apparmor"], "programs with a profile");
  EXPECT_THAT(probe.remedy, ::testing::HasSubstr("packaging/debian/apparmor"));

  // A program with a profile works all the same, and nothing is left to do.
  ASSERT_TRUE(write_file_atomically(folder->path() / "bwrap", "#!/bin/sh\necho bubblewrap 0.8.0\n", 0755));
  probe = probed();
  EXPECT_EQ(probe.state, ProbeState::available);
  EXPECT_EQ(probe.facts["userns_by_apparmor"], "programs with a profile");
  EXPECT_TRUE(probe.remedy.empty());
}

}  // namespace
}  // namespace guard
