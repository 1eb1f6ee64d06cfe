// A password in the address of an engine is in nothing that guard prints or keeps.
#include <gtest/gtest.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kPassword = "Pw7hunter2xyz";

class UrlUserinfo : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    project_.write("sandbox/a.test.ts", "import { test } from \"bun:test\";\ntest(\"a\", () => {});\n");
  }
  ProgramResult guard(std::vector<std::string> arguments) const {
    return project_.guard(
        std::move(arguments), {{"DOCKER_HOST", GetParam()}, {"GUARD_DOCKER_PROBE_DEADLINE_MS", "500"}});
  }
  static void expect_hidden(const std::string& text) { EXPECT_EQ(text.find(kPassword), std::string::npos) << text; }
  Project project_;
};

TEST_P(UrlUserinfo, IsNotInWhatDoctorSays) {
  for (const char* format : {"text", "json"}) {
    const auto result = guard({"doctor", "--format", format});
    EXPECT_NE((result.out + result.err).find("DOCKER_HOST"), std::string::npos) << result.out << result.err;
    expect_hidden(result.out + result.err);
  }
}

TEST_P(UrlUserinfo, IsNotInWhatARunSaysOrRecords) {
  for (const char* format : {"text", "json", "sarif", "junit", "github"}) {
    const auto record = project_.path() / "record.json";
    const auto result = guard({"run", "--format", format, "--record", record.string(), "sandbox/a.test.ts"});
    EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
    expect_hidden(result.out + result.err);
    if (std::filesystem::exists(record)) {
      const auto kept = read_file(record, 1u << 20);
      ASSERT_TRUE(kept) << kept.error().to_string();
      expect_hidden(*kept);
      std::filesystem::remove(record);
    }
  }
}

TEST_P(UrlUserinfo, IsNotInWhatOtherVerbsSay) {
  for (const std::vector<std::string>& words : std::vector<std::vector<std::string>>{
           {"clean"}, {"image", "list"}, {"exec", "--", "true"}, {"image", "build", "--backend", "docker"}}) {
    const auto result = guard(words);
    expect_hidden(result.out + result.err);
  }
}

INSTANTIATE_TEST_SUITE_P(Addresses, UrlUserinfo,
    ::testing::Values("tcp://user:Pw7hunter2xyz@host.invalid:2375", "tcp://Pw7hunter2xyz@host.invalid:2375",
        "https://user:Pw7hunter2xyz@host.invalid", "tcp://user:a/Pw7hunter2xyz@host.invalid:2375",
        "tcp://user:a@Pw7hunter2xyz@host.invalid:2375", "tcp://user:1/Pw7hunter2xyz@host.invalid",
        "user:Pw7hunter2xyz@host.invalid:2375", "tcp://user:a Pw7hunter2xyz@host.invalid:2375",
        "ssh://user:Pw7hunter2xyz@host.invalid"));

}  // namespace
}  // namespace guard::testing
