// `--backend container-use` through the binary, with a scripted cu: what shows its sandbox from inside may be allowed,
// nothing else is.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "runner/image/bun_binary.h"
#include "tests/support/engine/container_use_script.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n"
    "test(\"adds\", () => { expect(add(1, 2)).toBe(3); });\n";

class ContainerUseRun : public ::testing::Test {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::namespace_sandbox);
    const auto bun = find_bun();
    ASSERT_TRUE(bun) << bun.error().to_string();
    // Where the unprivileged user of the script can read it.
    std::error_code failure;
    std::filesystem::create_directories(folder() / "bun", failure);
    std::filesystem::copy_file(*bun, folder() / "bun" / "bun", failure);
    ASSERT_FALSE(failure) << failure.message();
    script_.emplace(folder());
    behave("", "sandbox");
    project_.write("sandbox/a.test.ts", kPassing);
  }

  std::filesystem::path folder() const { return project_.path() / "tools"; }
  void behave(std::string_view fault, std::string_view inside) const {
    script_->behave(fault, inside, (folder() / "bun" / "bun").string());
  }

  ProgramResult run(std::vector<std::string> more = {}, std::map<std::string, std::string> environment = {}) const {
    std::vector<std::string> words = {"run", "--format", "json"};
    words.insert(words.end(), more.begin(), more.end());
    words.emplace_back("sandbox/a.test.ts");
    environment.try_emplace("GUARD_CONTAINER_USE_PROGRAM", script_->program().string());
    return project_.guard(std::move(words), std::move(environment));
  }

  void expect_verdict(
      const ProgramResult& result, int exit_status, std::string_view verdict, std::string_view reason) const {
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    const auto document = result.document();
    EXPECT_EQ(document.value("verdict", ""), verdict) << result.out;
    EXPECT_EQ(document.value("reason", ""), reason) << result.out;
  }

  Project project_;
  std::optional<ContainerUseScript> script_;
};

bool holds(const nlohmann::json& list, std::string_view start) {
  return std::any_of(
      list.begin(), list.end(), [&](const nlohmann::json& text) { return text.get<std::string>().starts_with(start); });
}

TEST_F(ContainerUseRun, AllowsHonestTestsInAnEnvironmentThatShowsItsSandbox) {
  project_.write("sandbox/b.test.ts", kPassing);
  const auto result = run({"--backend", "container-use", "--record", "record.json", "sandbox/b.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto document = result.document();
  EXPECT_EQ(document["backend"], "container-use");
  EXPECT_EQ(document["tiers"], (std::vector<std::string>{"always", "docker", "host"}));
  EXPECT_TRUE(holds(document["relaxations"], "container-use: isolation as the cu program gives it"))
      << document["relaxations"];
  EXPECT_EQ(document["tests"]["passed"], 2);
  EXPECT_EQ(document["exec"]["enforced_by"]["memory"], "none") << document["exec"];
  EXPECT_EQ(script_->environments(), 0);

  // The record holds what a record of it must; which bun it was is not known, and that is what it lacks.
  const auto verified = project_.guard({"verify", "--format", "json", "record.json"});
  EXPECT_EQ(verified.exit_status, 2) << verified.out;
  const auto found = verified.document();
  EXPECT_EQ(found["result"], "undecided");
  for (const auto& check : found["checks"])
    EXPECT_EQ(check["state"], check["name"] == "bun" ? "unknown" : "ok") << check;
}

TEST_F(ContainerUseRun, RefusesFailingTests) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", () => { expect(1).toBe(2); });\n");
  expect_verdict(run({"--backend", "container-use"}), 1, "rejected", "tests_failed");
}

// Nobody proved a boundary to the gate.
TEST_F(ContainerUseRun, AllThreeTiersApply) {
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\nimport { execSync } from \"node:child_process\";\ntest(\"x\", () "
      "=> { execSync(\"true\"); });\n");
  expect_verdict(run({"--backend", "container-use"}), 1, "rejected", "findings");
  EXPECT_EQ(script_->calls_of("environment"), 0);
}

TEST_F(ContainerUseRun, AnEnvironmentThatShowsNoSandboxIsUndecided) {
  behave("", "plain");
  const auto result = run({"--backend", "container-use", "--record", "record.json"});
  expect_verdict(result, 2, "undecided", "sandbox_unproved");
  EXPECT_EQ(script_->environments(), 0);
  const auto verified = project_.guard({"verify", "record.json"});
  EXPECT_NE(verified.exit_status, 0);
  EXPECT_EQ(verified.out.find("did not end as exited"), std::string::npos) << verified.out;
}

TEST_F(ContainerUseRun, WhatGoesWrongIsNeverAllowed) {
  for (const char* fault : {"create-fails", "create-nonsense", "create-option", "run-fails", "run-noise",
           "run-dies-late", "run-cut", "run-status"}) {
    behave(fault, "sandbox");
    const auto result = run({"--backend", "container-use"});
    expect_verdict(result, 2, "undecided", "error");
    EXPECT_EQ(script_->environments(), 0) << fault;
    if (!std::string_view(fault).starts_with("create-")) continue;
    const auto error = result.document()["error"];
    EXPECT_EQ(error["code"], "ENVIRONMENT_CREATION_FAILED") << error;
    EXPECT_TRUE(error["details"].contains("stderr")) << error;
  }
}

TEST_F(ContainerUseRun, AnEnvironmentThatStaysIsANote) {
  behave("delete-fails", "sandbox");
  const auto result = run({"--backend", "container-use"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_TRUE(holds(result.document()["notes"], "container-use: the environment fancy-cat.1/x_Y could not be deleted"))
      << result.out;
}

TEST_F(ContainerUseRun, AReusedEnvironmentIsTold) {
  const auto result = run({}, {{"GUARD_BACKEND", "container-use"}, {"GUARD_CONTAINER_USE_ENV_ID", "mine"}});
  // What an earlier run has left there may be another init, or other tests: no pass comes out of it.
  expect_verdict(result, 2, "undecided", "sandbox_unproved");
  EXPECT_TRUE(holds(result.document()["relaxations"], "container_use.env_id = mine")) << result.out;
  EXPECT_EQ(script_->calls_of("environment create"), 0);
  EXPECT_EQ(script_->calls_of("environment delete"), 0);
}

// A command is not what the gate stands for; that others were there before is told.
TEST_F(ContainerUseRun, AReusedEnvironmentMayServeACommand) {
  const auto result = project_.guard({"exec", "--backend", "container-use", "--format", "json", "--", "true"},
      {{"GUARD_CONTAINER_USE_PROGRAM", script_->program().string()}, {"GUARD_CONTAINER_USE_ENV_ID", "mine"}});
  expect_verdict(result, 0, "allowed", "command_succeeded");
  EXPECT_TRUE(holds(result.document()["relaxations"], "container_use.env_id = mine")) << result.out;
}

TEST_F(ContainerUseRun, AnEngineMayTakeOverWhereThereIsNone) {
  GUARD_NEEDS(Needs::docker);
  project_.build_image("docker");
  const auto result = project_.guard({"run", "--format", "json", "sandbox/a.test.ts"},
      {{"GUARD_BACKEND", "container-use"}, {"GUARD_FALLBACK", "docker,namespace"}});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_EQ(result.document()["backend"], "docker");
  EXPECT_TRUE(holds(result.document()["relaxations"], "fallback: the container engine in place of container-use"))
      << result.out;
}

// One that does not answer is unknown: nothing runs, whatever the fallback.
TEST_F(ContainerUseRun, AProgramThatDoesNotAnswerIsUnavailable) {
  behave("version-fails", "sandbox");
  for (const char* fallback : {"namespace", "host", "none"}) {
    const auto result = run({}, {{"GUARD_BACKEND", "container-use"}, {"GUARD_FALLBACK", fallback}});
    expect_verdict(result, 3, "unavailable", "no_environment");
    EXPECT_EQ(result.document()["error"]["code"], "ENVIRONMENT_UNAVAILABLE");
    EXPECT_EQ(result.document()["error"]["details"]["environmentType"], "container-use");
  }
  EXPECT_EQ(script_->calls_of("environment"), 0);
}

TEST_F(ContainerUseRun, AnImageIsRefusedRatherThanPassedOver) {
  const auto result = run({"--backend", "container-use"}, {{"GUARD_CONTAINER_USE_IMAGE", "node:20"}});
  expect_verdict(result, 3, "unavailable", "no_environment");
}

TEST_F(ContainerUseRun, DoctorListsIt) {
  const auto result =
      project_.guard({"doctor", "--format", "json"}, {{"GUARD_CONTAINER_USE_PROGRAM", script_->program().string()}});
  const auto document = result.document();
  bool seen = false;
  for (const auto& part : document["parts"]) {
    if (part["name"] != "container-use") continue;
    seen = true;
    EXPECT_EQ(part["state"], "available");
    EXPECT_NE(part["reason"].get<std::string>().find("0.4.2"), std::string::npos) << part;
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace guard::testing
