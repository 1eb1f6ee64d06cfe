// Runs under gVisor, through the binary: verdicts are right, and what a program can do to its init there is held
// against it.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

class Gvisor : public ::testing::Test {
 protected:
  void SetUp() override {
    GUARD_NEEDS(Needs::docker);
    project_.configure("[run]\ngrace_s = 1\n[docker]\nruntime = \"runsc\"\ntimeout = 60\n");
    project_.build_image("docker");
    const auto tried = project_.guard(
        {"exec", "--quiet", "--backend", "docker", "--format", "json", "--", "/usr/local/bin/bun", "--version"});
    if (tried.exit_status == 0) return;
    if (std::getenv("GUARD_TEST_REQUIRE_RUNSC") != nullptr) FAIL() << tried.out << tried.err;
    GTEST_SKIP() << "the engine has no runsc that works: " << tried.out;
  }

  void expect_verdict(std::string_view body, std::string_view verdict, std::string_view reason) {
    project_.write("sandbox/a.test.ts",
        fmt::format("import {{ expect, test }} from \"bun:test\";\nimport * as fs from \"node:fs\";\nimport {{ add }} "
                    "from \"../src/add\";\n"
                    "test(\"adds\", () => {{ {} }});\n",
            body));
    const auto result = project_.run("docker", {"sandbox/a.test.ts"}, {"--quiet"});
    const auto document = result.document();
    EXPECT_EQ(document["verdict"], verdict) << result.out << result.err;
    EXPECT_EQ(document["reason"], reason) << result.out;
  }

  Project project_;
};

TEST_F(Gvisor, AllowsAndRejects) {
  expect_verdict("expect(add(1, 2)).toBe(3);", "allowed", "tests_passed");
  expect_verdict("expect(add(1, 2)).toBe(4);", "rejected", "tests_failed");
}

// Its kernel lets a program reach both; neither makes a failure anything better than one. Without the gate, which
// refuses to let such code run at all.
TEST_F(Gvisor, HoldsWhatWasDoneToItsInitAgainstTheRun) {
  for (const char* body : {"process.kill(1, 'SIGKILL'); process.exit(1);",
           "for (let fd = 16; fd < 32; ++fd) { try { require('fs').writeFileSync('/proc/1/fd/' + fd, "
           "'X\\0\\0\\0\\0\\0\\0\\0'); } catch {} } setTimeout(() => {}, 3000);"}) {
    const auto result = project_.guard(
        {"exec", "--quiet", "--backend", "docker", "--format", "json", "--", "/usr/local/bin/bun", "-e", body});
    const auto document = result.document();
    EXPECT_EQ(document["verdict"], "rejected") << result.out;
    EXPECT_EQ(document["reason"], "violation") << result.out;
  }
}

}  // namespace
}  // namespace guard::testing
