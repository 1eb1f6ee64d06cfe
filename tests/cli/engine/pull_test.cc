// docker.pull through the binary: what is pulled runs and is told, and what can't be pulled is exit 3, whatever it was.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>

#include "tests/support/engine/image_registry.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";

class Pull : public ::testing::Test {
 protected:
  void SetUp() override {
    GUARD_NEEDS_TEST_REGISTRY();
    project_.write("sandbox/a.test.ts", kPassing);
  }

  ProgramResult run(const std::string& image, std::string_view pull) const {
    project_.configure(fmt::format("[docker]\nimage = \"{}\"\npull = \"{}\"\n", image, pull));
    return project_.guard(
        {"run", "--format", "json", "--backend", "docker", "--record", "record.json", "sandbox/a.test.ts"});
  }

  // Exit 3, and nothing has run.
  nlohmann::json unavailable(const ProgramResult& result, std::string_view code) const {
    EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
    auto document = result.document();
    EXPECT_EQ(document["verdict"], "unavailable");
    EXPECT_EQ(document["error"]["code"], code);
    EXPECT_FALSE(document.contains("exec"));
    return document["error"];
  }

  Project project_;
};

TEST_F(Pull, WhatIsMissingIsPulledRunAndTold) {
  const auto registry = ImageRegistry::start(RegistryLogin::none);
  ASSERT_TRUE(registry);
  project_.build_image("docker");
  const auto config = project_.path() / "docker-config";
  const auto built = project_.guard({"image", "build", "--engine", "--format", "json"}).document();
  const std::string image = fmt::format("{}/tools/runner-{}:1", registry->host(), ::getpid());
  docker_command(config, {"tag", built["reference"], image});
  docker_command(config, {"push", "--quiet", image});
  docker_command(config, {"rmi", image});

  const auto error = unavailable(run(image, "never"), "IMAGE_MISSING");
  EXPECT_NE(error["hint"].get<std::string>().find("docker pull " + image), std::string::npos) << error;

  const auto result = run(image, "missing");
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("pulling " + image), std::string::npos) << result.err;
  const auto relaxations = result.document()["relaxations"].get<std::vector<std::string>>();
  const auto told = [&](std::string_view start) {
    return std::any_of(
        relaxations.begin(), relaxations.end(), [&](const std::string& text) { return text.starts_with(start); });
  };
  EXPECT_TRUE(told("docker.image = " + image));
  EXPECT_TRUE(told("docker.pull = missing: " + image));
  // The record holds; what is in a foreign image, bun too, is what nobody can compare.
  const auto verified = project_.guard({"verify", "--format", "json", "record.json"}).document();
  EXPECT_EQ(verified["result"], "undecided");
  for (const auto& check : verified["checks"]) {
    const bool foreign = check["name"] == "bun" || check["name"] == "image";
    EXPECT_EQ(check["state"], foreign ? "unknown" : "ok") << check;
  }
  docker_command(config, {"rmi", image});
}

TEST_F(Pull, WhatCannotBePulledIsUnavailable) {
  const std::string image = ImageRegistry::host_of_nobody() + "/tools/runner:1";
  const auto error = unavailable(run(image, "missing"), "IMAGE_PULL_FAILED");
  EXPECT_EQ(error["details"]["image"], image);
  EXPECT_FALSE(error["details"]["stderr"].get<std::string>().empty());
}

TEST_F(Pull, ANameWithoutATagIsNotPulled) {
  const auto error = unavailable(run("example.invalid/tools/runner", "missing"), "IMAGE_PULL_FAILED");
  EXPECT_NE(error["hint"].get<std::string>().find("example.invalid/tools/runner:latest"), std::string::npos) << error;
}

}  // namespace
}  // namespace guard::testing
