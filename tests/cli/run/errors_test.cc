// The typed errors of the command line, each from a situation that a user can meet.
#include <gtest/gtest.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

class TypedErrors : public ::testing::Test {
 protected:
  void SetUp() override { GUARD_NEEDS(Needs::namespace_sandbox); }

  nlohmann::json error_of(int exit_status, std::vector<std::string> command,
      std::map<std::string, std::string> environment = {}, std::vector<std::string> options = {}) const {
    environment.try_emplace("GUARD_BACKEND", "namespace");
    std::vector<std::string> words = {"exec", "--format", "json"};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    const auto result = project_.guard(words, environment);
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    return result.document()["error"];
  }

  Project project_;
};

const std::vector<std::string> kVersion = {"bun", "--version"};

TEST_F(TypedErrors, EnvironmentUnavailable) {
  const auto error = error_of(3, kVersion, {{"GUARD_BACKEND", "docker"}, {"DOCKER_HOST", "unix:///nowhere"}});
  EXPECT_EQ(error["code"], "ENVIRONMENT_UNAVAILABLE") << error;
  EXPECT_EQ(error["details"]["environmentType"], "docker");
}

TEST_F(TypedErrors, DependencyUnsatisfied) {
  const auto error = error_of(3, kVersion, {{"GUARD_BUN", "/nowhere/bun"}});
  EXPECT_EQ(error["code"], "DEPENDENCY_UNSATISFIED") << error;
}

TEST_F(TypedErrors, FileNotFound) {
  project_.build_image("namespace");
  const auto error = error_of(2, {"no-such-program"});
  EXPECT_EQ(error["code"], "FILE_NOT_FOUND") << error;
  EXPECT_NE(error.dump().find("no-such-program"), std::string::npos) << error;
}

TEST_F(TypedErrors, ExecutionFailed) {
  project_.build_image("namespace");
  const auto error = error_of(2, {"./package.json"});
  EXPECT_EQ(error["code"], "EXECUTION_FAILED") << error;
}

TEST_F(TypedErrors, FileTooLarge) {
  project_.write("secrets.list", std::string(2u << 20, '\n'));
  const auto error = error_of(2, kVersion, {{"GUARD_REDACT_MASK_FILE", "secrets.list"}});
  EXPECT_EQ(error["code"], "FILE_TOO_LARGE") << error;
}

// IMAGE_PULL_FAILED {image, stderr}: Pull.WhatCannotBePulledIsUnavailable; ENVIRONMENT_CREATION_FAILED {stderr}:
// ContainerUseRun.WhatGoesWrongIsNeverAllowed.

}  // namespace
}  // namespace guard::testing
