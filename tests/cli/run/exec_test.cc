// `guard exec` as the executor of scripts: what the command reads, where it starts, how guard ends with it.
#include <gtest/gtest.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

class Exec : public ::testing::TestWithParam<const char*> {
 protected:
  static Needs needs() { return std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox; }
  void SetUp() override {
    GUARD_NEEDS(needs());
    project_.build_image(GetParam());
  }

  ProgramResult exec(std::vector<std::string> options, const std::string& script, const std::string& input = {}) {
    ProgramCall call;
    call.arguments = {"exec", "--backend", GetParam()};
    call.arguments.insert(call.arguments.end(), options.begin(), options.end());
    call.arguments.insert(call.arguments.end(), {"--", "bun", "-e", script});
    call.stdin_text = input;
    return project_.guard(call);
  }
  Project project_;
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Exec, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

constexpr const char* kCopy = "process.stdout.write(await Bun.stdin.text())";

TEST_P(Exec, ReadsWhatItIsGiven) {
  EXPECT_EQ(exec({"--stdin", "-"}, kCopy, "hi").out, "hi");
  project_.write("input.txt", "from a file\n");
  EXPECT_EQ(exec({"--stdin", "input.txt"}, kCopy, "not this").out, "from a file\n");
  EXPECT_EQ(exec({}, kCopy, "nothing without the option").out, "");
}

TEST_P(Exec, SaysWhichInputCannotBeRead) {
  const auto result = exec({"--stdin", "missing.txt"}, kCopy);
  EXPECT_EQ(result.exit_status, 2) << result.err;
  EXPECT_NE(result.err.find("missing.txt"), std::string::npos) << result.err;
  EXPECT_EQ(exec({"--stdin", "."}, kCopy).exit_status, 2) << "a folder";
}

TEST_P(Exec, StartsInAFolderOfTheProject) {
  project_.write("src/deep/a.ts", "export {};\n");
  const auto result = exec({"--cwd", "src/deep"}, "console.log(process.cwd(), require('fs').readdirSync('.').join())");
  EXPECT_EQ(result.out, "/app/src/deep a.ts\n") << result.err;
  EXPECT_EQ(exec({"--cwd", "./"}, "console.log(process.cwd())").out, "/app\n");
  for (const char* folder : {"..", "src/../..", "/app", "nothing", "src/deep/a.ts"}) {
    const auto refused = exec({"--cwd", folder}, "1");
    EXPECT_EQ(refused.exit_status, 2) << folder << refused.err;
    EXPECT_NE(refused.err.find("is no folder of the project"), std::string::npos) << refused.err;
  }
}

TEST_P(Exec, EndsAsTheCommandDoesWhereThatIsAskedFor) {
  EXPECT_EQ(exec({}, "process.exit(7)").exit_status, 1);
  EXPECT_EQ(exec({"--exit-code", "program"}, "process.exit(7)").exit_status, 7);
  EXPECT_EQ(exec({"--exit-code", "program"}, "1").exit_status, 0);
  EXPECT_EQ(exec({"--exit-code", "program"}, "process.kill(process.pid, 'SIGKILL')").exit_status, 1)
      << "no end of its own";
  EXPECT_EQ(exec({"--exit-code", "program", "--timeout", "1"}, "for (;;);").exit_status, 1);
  EXPECT_EQ(exec({"--exit-code", "mine"}, "1").exit_status, 64);
}

}  // namespace
}  // namespace guard::testing
