// The container-use backend with a scripted cu. The real program can't be had here: what is shown is that guard keeps
// its promises whatever such a program does.
#include "runner/sandbox/container_use_sandbox.h"

#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <thread>

#include "tests/support/engine/container_use_script.h"
#include "tests/support/runner/sandbox_fixture.h"

namespace guard::testing {
namespace {

class ContainerUse : public SandboxFixture {
 protected:
  void SetUp() override {
    SandboxFixture::SetUp();
    script_.emplace(folder() / "cu");
    options_.folders = {script_->bin()};
    options_.create_limit = milliseconds(10'000);
    options_.delete_limit = milliseconds(10'000);
  }

  // Those that need it: bubblewrap is how the script keeps its promise.
  static bool can_confine() { return std::filesystem::exists("/usr/bin/bwrap"); }

  SandboxSpec in_environment(std::string shell_text) {
    static int number = 0;
    SandboxSpec wanted = spec({"sh", "-c", std::move(shell_text)});
    wanted.host_folder = folder() / ("source-" + std::to_string(++number));
    EXPECT_TRUE(make_folders(wanted.host_folder, 0755));
    wanted.mounts.clear();
    wanted.scratch.clear();
    wanted.env = {{"PATH", "/usr/bin:/bin"}};
    return wanted;
  }

  Result<ExecResult> run(const SandboxSpec& wanted) {
    return make_container_use_sandbox(options_)->run(wanted, out_, err_, cancel_);
  }
  Result<ExecResult> run(std::string shell_text) { return run(in_environment(std::move(shell_text))); }

  Error failure(const SandboxSpec& wanted) {
    const auto result = run(wanted);
    EXPECT_FALSE(result) << to_string(result->outcome.kind) << " " << result->outcome.value;
    return result ? Error(ErrorCode::internal, "it ran") : result.error();
  }
  Error failure(std::string shell_text = "echo ran") { return failure(in_environment(std::move(shell_text))); }

  SandboxProbe probe() { return make_container_use_sandbox(options_)->probe(Deadline::after(milliseconds(700))); }

  std::optional<ContainerUseScript> script_;
  ContainerUseOptions options_;
};

// ---- is it there? ---------------------------------------------------------------------------------------------------

TEST_F(ContainerUse, IsAbsentOnlyWhereNoFolderHoldsIt) {
  options_.folders = {folder() / "nowhere", folder() / "staged"};
  const auto found = probe();
  EXPECT_EQ(found.state, ProbeState::absent);
  EXPECT_FALSE(found.reason.empty());
  EXPECT_FALSE(found.remedy.empty());
  const Error error = failure();
  EXPECT_EQ(error.code(), ErrorCode::environment_unavailable);
  EXPECT_EQ(error.details().at("environmentType"), "container-use");
}

TEST_F(ContainerUse, AnswersWithItsVersion) {
  const auto found = probe();
  EXPECT_EQ(found.state, ProbeState::available) << found.reason;
  EXPECT_EQ(found.version, "container-use version 0.4.2");
  EXPECT_EQ(found.endpoint, script_->program().string());
  EXPECT_EQ(script_->calls(), std::vector<std::string>{"--version"});
}

TEST_F(ContainerUse, IsUnknownWhereItIsThereAndDoesNotAnswer) {
  for (const char* fault : {"version-fails", "version-hang", "version-flood"}) {
    script_->behave(fault, "sandbox");
    const auto began = SteadyClock::now();
    const auto found = probe();
    EXPECT_EQ(found.state, ProbeState::unknown) << fault;
    EXPECT_FALSE(found.remedy.empty());
    EXPECT_LT(SteadyClock::now() - began, milliseconds(5'000)) << fault;
  }
  // No program, though it bears the name.
  ::chmod(script_->program().c_str(), 0644);
  EXPECT_EQ(probe().state, ProbeState::unknown);
  std::filesystem::remove(script_->program());
  std::filesystem::create_directory(script_->program());
  EXPECT_EQ(probe().state, ProbeState::unknown);
  std::filesystem::remove(script_->program());
  std::filesystem::create_symlink("cu", script_->program());
  EXPECT_EQ(probe().state, ProbeState::unknown);
}

// As with DOCKER_HOST: somebody says that it is there.
TEST_F(ContainerUse, ANamedProgramThatIsNotThereIsUnknown) {
  options_.program = folder() / "nowhere" / "cu";
  EXPECT_EQ(probe().state, ProbeState::unknown);
  EXPECT_EQ(failure().code(), ErrorCode::environment_unavailable);
  options_.program = script_->program();
  options_.folders.clear();
  EXPECT_EQ(probe().state, ProbeState::available);
}

// ---- a run ----------------------------------------------------------------------------------------------------------

TEST_F(ContainerUse, RunsInAnEnvironmentOfItsOwnAndDeletesIt) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  const SandboxSpec wanted = in_environment("echo out; echo err >&2; ls -A; exit 7");
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::exited);
  EXPECT_EQ(result->outcome.value, 7);
  EXPECT_EQ(out_.text, "out\n.guard-init\n.guard-run\n");
  EXPECT_EQ(err_.text, "err\n");
  EXPECT_EQ(result->seen_inside.at("uid"), "1000");
  EXPECT_EQ(result->seen_inside.at("pid"), "1");
  EXPECT_EQ(result->enforced_by.at("memory"), "none");
  EXPECT_EQ(result->enforced_by.at("network"), "open");
  EXPECT_EQ(result->enforced_by.at("open_files"), "rlimit");
  EXPECT_TRUE(result->notes.empty());
  const std::string source = wanted.host_folder.string();
  EXPECT_EQ(script_->calls(),
      (std::vector<std::string>{"environment create --source " + source + " --title guard-" + wanted.run_id + " --json",
          "environment run --id fancy-cat.1/x_Y --source " + source + " --command exec env -i sh ./.guard-run",
          "environment delete --id fancy-cat.1/x_Y --source " + source}));
  EXPECT_EQ(script_->environments(), 0);
}

TEST_F(ContainerUse, PassesWordsAndVariablesAsTheyAreAndNothingElse) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  const ScopedEnv secret("GUARD_TEST_LEAK", "leaked");
  options_.environment = {{"HOME", "/tmp"}, {"GUARD_TEST_LEAK", "leaked"}};
  SandboxSpec wanted = in_environment("");
  wanted.argv = {"sh", "-c", "printf '<%s>' \"$0\" \"$@\"; env", "it's", "", "$(echo x)", "a\nb", "-n"};
  wanted.env["ODD"] = "'; echo \"$HOME\" \\";
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_TRUE(out_.text.starts_with("<it's><><$(echo x)><a\nb><-n>")) << out_.text;
  EXPECT_NE(out_.text.find("\nODD='; echo \"$HOME\" \\\n"), std::string::npos) << out_.text;
  EXPECT_EQ(out_.text.find("leaked"), std::string::npos) << out_.text;
  EXPECT_EQ(out_.text.find("CU_STATE"), std::string::npos) << out_.text;
  // No value stands on a command line.
  for (const auto& call : script_->calls()) EXPECT_EQ(call.find("echo"), std::string::npos) << call;
}

TEST_F(ContainerUse, AConfiguredEnvironmentIsReusedAndNeverDeleted) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  options_.environment_id = "mine";
  ASSERT_TRUE(run("true"));
  EXPECT_EQ(script_->calls().size(), 1u);
  EXPECT_EQ(script_->calls_of("environment run --id mine "), 1);
  script_->behave("run-fails", "sandbox");
  EXPECT_EQ(failure().code(), ErrorCode::environment_creation_failed);
  EXPECT_EQ(script_->calls_of("environment delete"), 0);
  options_.environment_id = "--all";
  EXPECT_EQ(failure().code(), ErrorCode::input_invalid);
}

// The script only drops its privileges: no filter of system calls, and others beside init.
TEST_F(ContainerUse, WhatDoesNotShowItsSandboxRunsNothing) {
  script_->behave("", "plain");
  const Error error = failure("echo ran");
  EXPECT_EQ(error.code(), ErrorCode::environment_creation_failed);
  EXPECT_TRUE(error.details().contains("unproved")) << error.to_string();
  EXPECT_EQ(script_->environments(), 0);
  EXPECT_EQ(script_->calls_of("environment delete"), 1);
}

TEST_F(ContainerUse, AnInitThatIsNotAloneProvesNothing) {
  std::map<std::string, std::string> hello = {{"uid", "1000"}, {"gid", "1000"}, {"no_new_privs", "1"}, {"seccomp", "2"},
      {"rlimit_core", "0"}, {"pid", "1"}, {"sources_writable", "0"}};
  for (const char* key : {"cap_inh", "cap_prm", "cap_eff", "cap_bnd", "cap_amb"}) hello[key] = "0000000000000000";
  EXPECT_TRUE(check_environment(hello));
  for (const auto& [key, value] : std::map<std::string, std::string>{{"pid", "2"}, {"pid", ""},
           {"sources_writable", "1"}, {"uid", "0"}, {"cap_bnd", "00000000a80425fb"}, {"seccomp", "0"}}) {
    auto other = hello;
    other[key] = value;
    const auto checked = check_environment(other);
    ASSERT_FALSE(checked) << key;
    EXPECT_TRUE(checked.error().details().contains("unproved"));
  }
  hello.erase("pid");
  EXPECT_FALSE(check_environment(hello));
}

TEST_F(ContainerUse, ATimeOutEndsItAndTheEnvironmentGoes) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  SandboxSpec wanted = in_environment("trap '' TERM; echo begun; sleep 613.0613; sleep 613.0613");
  wanted.timeout = milliseconds(1'500);
  wanted.grace = milliseconds(100);
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::timed_out);
  EXPECT_EQ(result->outcome.value, 1'500);
  EXPECT_EQ(out_.text, "begun\n");
  EXPECT_EQ(script_->environments(), 0);
  EXPECT_EQ(processes_with("613.0613"), 0);
}

TEST_F(ContainerUse, ACancelEndsItAndTheEnvironmentGoes) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  std::thread later([this] {
    while (script_->calls_of("environment run") == 0) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(300));
    cancel_.cancel(SIGTERM);
  });
  const auto result = run("sleep 614.0614");
  later.join();
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::cancelled);
  EXPECT_EQ(script_->environments(), 0);
  EXPECT_EQ(processes_with("614.0614"), 0);
}

TEST_F(ContainerUse, ACancelWhileItIsMadeIsHeeded) {
  script_->behave("create-hangs-late", "sandbox");
  std::thread later([this] {
    while (script_->environments() == 0) std::this_thread::sleep_for(milliseconds(20));
    std::this_thread::sleep_for(milliseconds(200));
    cancel_.cancel(SIGINT);
  });
  const Error error = failure();
  later.join();
  EXPECT_EQ(error.code(), ErrorCode::cancelled) << error.to_string();
  EXPECT_EQ(script_->environments(), 0);
}

TEST_F(ContainerUse, AFloodEndsIt) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  SandboxSpec wanted = in_environment("while :; do echo 0123456789012345678901234567890123456789; done");
  wanted.limits.output_flood_bytes = 1 << 20;
  const auto result = run(wanted);
  ASSERT_TRUE(result) << result.error().to_string();
  EXPECT_EQ(result->outcome.kind, OutcomeKind::output_flood);
  EXPECT_EQ(script_->environments(), 0);
}

// Its failure warns and forgets the id: the run counts.
TEST_F(ContainerUse, AnEnvironmentThatCannotBeDeletedIsANote) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  options_.delete_limit = milliseconds(300);
  for (const char* fault : {"delete-fails", "delete-hang"}) {
    script_->behave(fault, "sandbox");
    const auto result = run("true");
    ASSERT_TRUE(result) << result.error().to_string();
    EXPECT_EQ(result->outcome.value, 0);
    ASSERT_EQ(result->notes.size(), 1u) << fault;
    EXPECT_NE(result->notes[0].find("fancy-cat.1/x_Y"), std::string::npos) << result->notes[0];
  }
  // Beside another failure it is told with that one.
  script_->behave("delete-fails", "plain");
  EXPECT_NE(failure().to_string().find("could not be deleted"), std::string::npos);
}

// ---- what goes wrong on its side
// --------------------------------------------------------------------------------------

TEST_F(ContainerUse, AnEnvironmentThatWasNotMadeRunsNothing) {
  options_.create_limit = milliseconds(400);
  for (const char* fault : {"create-fails", "create-hang", "create-flood", "create-dies", "create-nonsense",
           "create-half", "create-twice", "create-silent", "create-list", "create-without-id", "create-number",
           "create-option", "create-blank", "create-command", "create-empty", "create-long"}) {
    SCOPED_TRACE(fault);
    script_->behave(fault, "sandbox");
    const auto began = SteadyClock::now();
    const Error error = failure();
    EXPECT_EQ(error.code(), ErrorCode::environment_creation_failed) << error.to_string();
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_TRUE(error.details().contains("stderr"));
    EXPECT_LT(SteadyClock::now() - began, milliseconds(5'000));
    if (std::string_view(fault) == "create-fails") {
      EXPECT_EQ(error.details().at("stderr"), "the engine is \\x1b[31mdown");
    }
  }
  EXPECT_EQ(script_->calls_of("environment run"), 0);
}

TEST_F(ContainerUse, AnEnvironmentThatWasMadeAllTheSameIsDeleted) {
  options_.create_limit = milliseconds(1'000);
  for (const char* fault : {"create-fails-late", "create-hangs-late"}) {
    script_->behave(fault, "sandbox");
    EXPECT_EQ(failure().code(), ErrorCode::environment_creation_failed) << fault;
    EXPECT_EQ(script_->environments(), 0) << fault;
  }
  EXPECT_EQ(script_->calls_of("environment run"), 0);
}

// Nothing of these is a result, and the environment is deleted each time.
TEST_F(ContainerUse, ACommandThatDidNotRunToItsEndIsNoResult) {
  if (!can_confine()) GTEST_SKIP() << "bubblewrap is not installed";
  const std::pair<const char*, ErrorCode> faults[] = {
      {"run-fails", ErrorCode::environment_creation_failed},
      {"run-hang", ErrorCode::environment_creation_failed},
      {"run-flood", ErrorCode::environment_creation_failed},
      {"run-complains", ErrorCode::environment_creation_failed},
      {"run-noise", ErrorCode::environment_creation_failed},
      {"run-dies", ErrorCode::environment_creation_failed},
      {"run-dies-late", ErrorCode::protocol_error},
      {"run-cut", ErrorCode::protocol_error},
      {"run-more", ErrorCode::protocol_error},
      {"run-status", ErrorCode::protocol_error},
  };
  for (const auto& [fault, code] : faults) {
    SCOPED_TRACE(fault);
    script_->behave(fault, "sandbox");
    SandboxSpec wanted = in_environment("echo " + std::string(2000, 'x'));
    wanted.timeout = milliseconds(2'000);
    wanted.grace = milliseconds(100);
    wanted.limits.output_flood_bytes = 1 << 20;
    const Error error = failure(wanted);
    EXPECT_EQ(error.code(), code) << error.to_string();
    EXPECT_EQ(error.exit_status(), 2);
    EXPECT_TRUE(error.details().contains("stderr"));
    EXPECT_EQ(script_->environments(), 0);
  }
}

TEST_F(ContainerUse, RefusesWhatItCannotKeep) {
  SandboxSpec wanted = in_environment("true");
  wanted.require_cgroups = true;
  EXPECT_EQ(failure(wanted).code(), ErrorCode::environment_unavailable);
  wanted = in_environment("true");
  wanted.host_folder.clear();
  EXPECT_EQ(failure(wanted).code(), ErrorCode::input_invalid);
  EXPECT_TRUE(script_->calls().empty());
}

TEST(ContainerUseIds, AreArgumentsThatCanBeNothingElse) {
  for (const char* id : {"a", "fancy-cat", "a/b.c_d-e", "0"}) EXPECT_TRUE(is_environment_id(id)) << id;
  for (const std::string& id : {std::string(), std::string("-a"), std::string("a b"), std::string("a\n"),
           std::string("a'"), std::string("\xc3\xa4"), std::string("a\0b", 3), std::string(129, 'a')}) {
    EXPECT_FALSE(is_environment_id(id)) << id;
  }
  EXPECT_TRUE(is_environment_id(std::string(128, 'a')));
}

}  // namespace
}  // namespace guard::testing
