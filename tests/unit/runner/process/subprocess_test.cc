#include "runner/process/subprocess.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <thread>

#include "runner/process/child_process.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard {
namespace {

using testing::case_program;
using testing::KeepingSink;
using testing::processes_with;

class Subprocess : public ::testing::Test {
 protected:
  ProcessSpec spec(std::vector<std::string> argv) {
    ProcessSpec made;
    made.argv = std::move(argv);
    made.env = {{"PATH", "/usr/bin:/bin"}};
    made.grace = milliseconds(1000);
    return made;
  }
  Result<CollectedProcess> collect(const ProcessSpec& wanted) { return collect_process(wanted, 1 << 20, cancel_); }

  CancelToken cancel_;
};

TEST_F(Subprocess, CollectsBothStreamsAndTheCode) {
  auto got = collect(spec({"sh", "-c", "echo out; echo err >&2; exit 3"}));
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(got->out, "out\n");
  EXPECT_EQ(got->err, "err\n");
  EXPECT_EQ(got->result.outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(got->result.outcome.value, 3);
}

TEST_F(Subprocess, GivesInputFolderAndOnlyTheEnvironmentNamed) {
  ProcessSpec wanted = spec({"sh", "-c", "cat; pwd; env"});
  wanted.stdin_text = std::string(300'000, 'i') + "\n";
  wanted.cwd = "/usr";
  wanted.env["ONLY"] = "this";
  auto got = collect(wanted);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  ASSERT_GT(got->out.size(), wanted.stdin_text.size());
  EXPECT_EQ(got->out.substr(0, wanted.stdin_text.size()), wanted.stdin_text);
  EXPECT_NE(got->out.find("\n/usr\n"), std::string::npos);
  EXPECT_NE(got->out.find("ONLY=this\n"), std::string::npos);
  EXPECT_EQ(got->out.find("HOME="), std::string::npos);
}

TEST_F(Subprocess, HandsDownNoDescriptorButThoseNamed) {
  const UniqueFd leaked(::open("/dev/null", O_RDONLY));  // not close-on-exec, on purpose
  const UniqueFd named(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  ProcessSpec wanted = spec({case_program("lists_fds").string()});
  wanted.descriptors = {{named.get(), 7}};
  auto got = collect(wanted);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(got->out, "fd 0\nfd 1\nfd 2\nfd 7\n");
}

// Each is to get the number the other one has.
TEST_F(Subprocess, KeepsSwappedDescriptorsApart) {
  int first[2];
  int second[2];
  ASSERT_EQ(::pipe2(first, O_CLOEXEC), 0);
  ASSERT_EQ(::pipe2(second, O_CLOEXEC), 0);
  ProcessSpec wanted = spec({"sh", "-c", fmt::format("echo a >&{}; echo b >&{}", second[1], first[1])});
  wanted.descriptors = {{first[1], second[1]}, {second[1], first[1]}};
  auto got = collect(wanted);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  char text[3] = {};
  EXPECT_EQ(::read(first[0], text, 2), 2);
  EXPECT_STREQ(text, "a\n");
  EXPECT_EQ(::read(second[0], text, 2), 2);
  EXPECT_STREQ(text, "b\n");
  for (const int fd : {first[0], first[1], second[0], second[1]}) ::close(fd);
}

TEST_F(Subprocess, SaysThatAProgramIsMissing) {
  for (const char* name : {"no-such-program", "/no/such/program"}) {
    auto got = collect(spec({name}));
    ASSERT_FALSE(got.has_value());
    EXPECT_EQ(got.error().code(), ErrorCode::file_not_found) << got.error().to_string();
  }
}

TEST_F(Subprocess, SaysThatAProgramCannotRunOrAFolderIsMissing) {
  auto got = collect(spec({"/etc/passwd"}));
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), ErrorCode::execution_failed);
  EXPECT_EQ(got.error().sys_errno(), EACCES);
  ProcessSpec nowhere = spec({"true"});
  nowhere.cwd = "/no/such/folder";
  got = collect(nowhere);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), ErrorCode::execution_failed);
  EXPECT_NE(got.error().message().find("working folder"), std::string::npos);
}

// "." in PATH would run what lies in a checked folder.
TEST_F(Subprocess, LooksOnlyIntoAbsoluteFoldersOfPath) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  ASSERT_TRUE(write_file_atomically(folder->path() / "planted", "#!/bin/sh\n", 0755));
  ProcessSpec wanted = spec({"planted"});
  wanted.cwd = folder->path();
  wanted.env["PATH"] = ".::";
  EXPECT_FALSE(collect(wanted).has_value());
  wanted.env["PATH"] = folder->path();
  EXPECT_TRUE(collect(wanted).has_value());
}

TEST_F(Subprocess, TellsASignalFromACode) {
  auto got = collect(spec({"sh", "-c", "kill -SEGV $$"}));
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->result.outcome.kind, OutcomeKind::signaled);
  EXPECT_EQ(got->result.outcome.value, SIGSEGV);
}

TEST_F(Subprocess, TruncatesAndSaysSo) {
  auto got = collect_process(spec({case_program("floods").string(), "300000"}), 1000, cancel_);
  ASSERT_TRUE(got.has_value());
  EXPECT_TRUE(got->truncated);
  EXPECT_EQ(got->out.size(), 1000u);
  EXPECT_EQ(got->err.size(), 1000u);
  EXPECT_EQ(got->result.outcome.value, 0);
}

TEST_F(Subprocess, TimesOutTheWholeGroupAndKillsTheDeaf) {
  const std::string marker = "marker-subprocess-" + std::to_string(::getpid());
  ProcessSpec wanted = spec({"sh", "-c",
      "'" + case_program("ignores_term").string() + "' " + marker + " & exec '" +
          case_program("ignores_term").string() + "' " + marker});
  wanted.deadline = Deadline::after(milliseconds(2000));
  auto got = collect(wanted);
  ASSERT_TRUE(got.has_value()) << got.error().to_string();
  EXPECT_EQ(got->result.outcome.kind, OutcomeKind::timed_out);
  EXPECT_NE(got->out.find("TERM\n"), std::string::npos) << got->out;
  // What was killed leaves the process table a moment later on a busy machine.
  for (int i = 0; i < 100 && processes_with(marker) != 0; ++i) std::this_thread::sleep_for(milliseconds(50));
  EXPECT_EQ(processes_with(marker), 0);
}

TEST_F(Subprocess, EndsWhenCancelled) {
  std::thread later([this] {
    std::this_thread::sleep_for(milliseconds(100));
    cancel_.cancel(SIGTERM);
  });
  auto got = collect(spec({case_program("sleeps").string()}));
  later.join();
  ASSERT_TRUE(got.has_value());
  EXPECT_EQ(got->result.outcome.kind, OutcomeKind::cancelled);
  EXPECT_EQ(got->out, "started\n");
}

// What stays in the group goes with its leader; what left the group can hold the pipe, but not us.
TEST_F(Subprocess, IsNotHeldUpByBackgroundProcesses) {
  const std::string marker = "marker-background-" + std::to_string(::getpid());
  auto got = collect(spec({"sh", "-c", "'" + case_program("sleeps").string() + "' " + marker + " & echo done"}));
  ASSERT_TRUE(got.has_value());
  EXPECT_NE(got->out.find("done\n"), std::string::npos);
  EXPECT_EQ(processes_with(marker), 0);
}

// Of a guard that is killed: a program that has to clean up behind itself is asked to, all others just end.
TEST_F(Subprocess, GetsItsDeathSignalWhenItsStarterIsKilled) {
  for (const int death_signal : {SIGTERM, SIGKILL}) {
    auto folder = TempDir::create();
    ASSERT_TRUE(folder.has_value());
    const std::string marker = "marker-orphan-" + std::to_string(::getpid());
    const pid_t starter = ::fork();
    if (starter == 0) {
      ProcessSpec wanted = spec(
          {"sh", "-c", ": " + marker + "; trap 'echo > told; exit' TERM; echo > ready; while :; do sleep 0.05; done"});
      wanted.cwd = folder->path();
      wanted.death_signal = death_signal;
      auto ignored = collect(wanted);
      ::_exit(0);
    }
    while (!std::filesystem::exists(folder->path() / "ready")) std::this_thread::sleep_for(milliseconds(5));
    ::kill(starter, SIGKILL);
    ::waitpid(starter, nullptr, 0);
    while (processes_with(marker) != 0) std::this_thread::sleep_for(milliseconds(5));
    EXPECT_EQ(std::filesystem::exists(folder->path() / "told"), death_signal == SIGTERM);
  }
}

TEST_F(Subprocess, ComesToItsEndWithoutADeathSignal) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  const pid_t starter = ::fork();
  if (starter == 0) {
    ProcessSpec wanted =
        spec({"sh", "-c", "echo > ready; until [ -e killed ]; do sleep 0.02; done; sleep 0.1; echo > done"});
    wanted.cwd = folder->path();
    wanted.death_signal = 0;
    auto ignored = collect(wanted);
    ::_exit(0);
  }
  while (!std::filesystem::exists(folder->path() / "ready")) std::this_thread::sleep_for(milliseconds(5));
  ::kill(starter, SIGKILL);
  ::waitpid(starter, nullptr, 0);
  ASSERT_TRUE(write_file_atomically(folder->path() / "killed", "", 0600));
  const Deadline deadline = Deadline::after(milliseconds(20'000));
  while (!std::filesystem::exists(folder->path() / "done") && !deadline.passed())
    std::this_thread::sleep_for(milliseconds(5));
  EXPECT_TRUE(std::filesystem::exists(folder->path() / "done"));
}

TEST_F(Subprocess, KillsTheGroupWhenASinkFails) {
  const std::string marker = "marker-sink-" + std::to_string(::getpid());
  KeepingSink out;
  KeepingSink err;
  out.fail_after = 1;
  auto got = run_process(spec({case_program("floods").string(), "900000000", marker}), out, err, cancel_);
  ASSERT_FALSE(got.has_value());
  EXPECT_EQ(got.error().code(), ErrorCode::withheld);
  EXPECT_EQ(processes_with(marker), 0);
}

TEST_F(Subprocess, LeaksNoDescriptorsWhateverHappens) {
  const auto count = [] {
    return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
  };
  const auto before = count();
  static_cast<void>(collect(spec({"true"})));
  static_cast<void>(collect(spec({"no-such-program"})));
  static_cast<void>(collect(spec({"/etc/passwd"})));
  EXPECT_EQ(count(), before);
}

// Descriptors run out at every point in turn: an error each time, never a hang or a leak.
TEST_F(Subprocess, FailsCleanlyWhereverDescriptorsRunOut) {
  testing::run_as(testing::As::ourselves, [this] {
    rlimit before{};
    ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &before), 0);
    const auto used =
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator());
    bool succeeded = false;
    int failures = 0;
    ProcessSpec wanted = spec({case_program("talks").string()});
    wanted.stdin_text = "x";
    for (rlim_t room = 0; room < 40 && !succeeded; ++room) {
      const rlimit tight{static_cast<rlim_t>(used) + room, before.rlim_max};
      ::setrlimit(RLIMIT_NOFILE, &tight);
      auto got = collect(wanted);
      ::setrlimit(RLIMIT_NOFILE, &before);
      succeeded = got.has_value();
      failures += succeeded ? 0 : 1;
    }
    EXPECT_TRUE(succeeded);
    EXPECT_GT(failures, 3);
    EXPECT_EQ(
        std::distance(std::filesystem::directory_iterator("/proc/self/fd"), std::filesystem::directory_iterator()),
        used);
  });
}

}  // namespace
}  // namespace guard
