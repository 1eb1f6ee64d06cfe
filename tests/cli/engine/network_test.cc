// A network for the code is a relaxation: loud on the terminal, in the document and in the evidence, and never granted
// by half.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";

bool has_relaxation(const nlohmann::json& document, const std::string& beginning) {
  const auto& relaxations = document["relaxations"];
  return std::any_of(relaxations.begin(), relaxations.end(),
      [&](const auto& one) { return one.template get<std::string>().starts_with(beginning); });
}

class NetworkOfARun : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    project_.configure("[docker]\nnetwork = \"" + GetParam() + "\"\n");
    project_.write("sandbox/a.test.ts", kPassing);
  }
  Project project_;
};

TEST_P(NetworkOfARun, IsToldEverywhere) {
  GUARD_NEEDS(Needs::docker);
  const char* const address = std::getenv("GUARD_TEST_BRIDGE_ADDRESS");
  if (GetParam() == "bridge" && (address == nullptr || *address == '\0')) {
    if (std::getenv("GUARD_TEST_REQUIRE_BRIDGE") != nullptr) FAIL() << "GUARD_TEST_BRIDGE_ADDRESS is not set";
    GTEST_SKIP() << "needs an engine with a bridge: set GUARD_TEST_BRIDGE_ADDRESS";
  }
  const auto result = project_.run("docker", {"sandbox/a.test.ts"}, {"--record", "record.json"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("guard: warning: docker.network = " + GetParam()), std::string::npos) << result.err;
  const auto document = result.document();
  EXPECT_TRUE(has_relaxation(document, "docker.network = " + GetParam())) << document["relaxations"];
  EXPECT_EQ(document["exec"]["enforced_by"]["network"], "open") << document["exec"];

  const auto text = read_file(project_.path() / "record.json", 64u << 20);
  ASSERT_TRUE(text);
  const auto record = nlohmann::json::parse(*text, nullptr, false);
  EXPECT_EQ(record["network"], GetParam());
  EXPECT_EQ(record["enforced_by"]["network"], "open");
  EXPECT_TRUE(has_relaxation(record, "docker.network = " + GetParam())) << record["relaxations"];
  const auto verified = project_.guard({"verify", "record.json"});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;

  const auto command = project_.guard({"exec", "--", "/usr/local/bin/bun", "-e",
      "console.log(Object.keys(require(\"node:os\").networkInterfaces()).length > 0)"});
  EXPECT_NE(command.err.find("guard: warning: docker.network = " + GetParam()), std::string::npos) << command.err;
}

// There is no image, and none is asked for: the configuration alone decides.
TEST_P(NetworkOfARun, IsRefusedByTheEmbeddedSandboxBeforeAnythingIsBuilt) {
  const std::map<std::string, std::string> environment = {{"GUARD_CACHE_DIR", project_.path() / "empty-cache"}};
  for (const std::vector<std::string>& command :
      {std::vector<std::string>{"run", "--backend", "namespace", "sandbox/a.test.ts"},
          std::vector<std::string>{"exec", "--backend", "namespace", "--", "true"}}) {
    const auto result = project_.guard(command, environment);
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    const std::string said = result.out + result.err;
    EXPECT_NE(said.find("docker.network is " + GetParam()), std::string::npos) << said;
    EXPECT_NE(said.find("docker.network = \"none\""), std::string::npos) << said;
    EXPECT_EQ(said.find("image build"), std::string::npos) << said;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Modes, NetworkOfARun, ::testing::Values("bridge", "host"), [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
