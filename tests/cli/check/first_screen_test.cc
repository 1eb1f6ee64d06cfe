// The questions of people who read guard's output, answered by what fits on the last screen of it: 24 rows of 80
// columns.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

using ::testing::AllOf;
using ::testing::ContainsRegex;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::size_t kRows = 24;
constexpr std::size_t kColumns = 80;

// What stands there once the command has ended, in plain ASCII.
std::string last_screen(const std::string& output) {
  std::istringstream lines(output);
  std::vector<std::string> rows;
  for (std::string line; std::getline(lines, line);) {
    for (std::size_t at = 0; at == 0 || at < line.size(); at += kColumns)
      rows.push_back(line.substr(at, kColumns) + (at + kColumns < line.size() ? "" : "\n"));
  }
  std::string screen;
  for (std::size_t i = rows.size() > kRows ? rows.size() - kRows : 0; i < rows.size(); ++i) screen += rows[i];
  return screen;
}

const std::string kBun = "import { expect, test } from \"bun:test\";\n";

class FirstScreen : public ::testing::Test {
 protected:
  std::string run(const std::string& test) {
    project_.write("sandbox/a.test.ts", kBun + test);
    project_.build_image("namespace");
    const auto done = project_.guard({"run", "--backend", "namespace", "sandbox/a.test.ts"});
    return last_screen(done.err + done.out);
  }
  Project project_;
};

TEST_F(FirstScreen, WhichTestFailedAndWhyAndWhatNow) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  EXPECT_THAT(run("test(\"adds small numbers\", () => { expect(1 + 1).toBe(3); });\n"),
      AllOf(HasSubstr("failed: sandbox/a.test.ts:2:"), HasSubstr("adds small numbers"), HasSubstr("Expected: 3"),
          HasSubstr("Received: 2"), HasSubstr("verdict: rejected (tests_failed)"), HasSubstr("next:")));
  EXPECT_THAT(run("import { z } from \"zod\";\ntest(\"z\", () => { expect(z).toBe(1); });\n"),
      AllOf(HasSubstr("failed: sandbox/a.test.ts"), HasSubstr("(missing package)"), HasSubstr("'zod'"),
          HasSubstr("guard image build")));
  project_.write("guard.toml", "[limits]\ntimeout = 2\n");
  EXPECT_THAT(run("test(\"quick\", () => { expect(1).toBe(1); });\ntest(\"hangs\", () => { for (;;) {} });\n"),
      AllOf(HasSubstr("(timed out)"), HasSubstr("after \"quick\""), HasSubstr("verdict: rejected (timed_out)"),
          HasSubstr("next:")));
}

TEST_F(FirstScreen, WhetherASecretWasPrinted) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const std::string said =
      run("test(\"tells\", () => { console.log([\"ghp\", \"0123456789abcdefghijABCDEFGHIJ456789\"].join(\"_\")); "
          "expect(1).toBe(1); });\n");
  EXPECT_THAT(said,
      AllOf(HasSubstr("1 secret"), HasSubstr("masked"), HasSubstr("verdict: allowed"),
          Not(HasSubstr("0123456789abcdefghij"))));
}

TEST(FirstScreenOfACheck, WhyAnHonestFileWasRefusedAndHowToWriteItInstead) {
  const Repository repository;
  repository.write("sandbox/a.test.ts",
      kBun + "test(\"saves\", () => { const before = process.env; expect(before).toBeDefined(); });\n");
  const auto done = repository.guard({"check", "--mode", "docker", "sandbox/a.test.ts"});
  EXPECT_THAT(last_screen(done.err + done.out),
      AllOf(HasSubstr("sandbox/a.test.ts:2:"), HasSubstr("always.env_dump"), HasSubstr("process.env"), HasSubstr("^~"),
          HasSubstr("instead: "), HasSubstr("verdict: rejected (findings)")));
}

TEST(FirstScreenOfACheck, WhatWasNotLookedAt) {
  const Repository repository;
  repository.write("src/b.ts", "export const b = eval(\"1\");\n");
  repository.write("sandbox/a.test.ts", kBun + "test(\"a\", () => { expect(1).toBe(1); });\n");
  repository.must("git add -A");
  const auto done = repository.guard({"check", "--staged"});
  EXPECT_THAT(last_screen(done.err + done.out),
      AllOf(HasSubstr("secrets only: 1 of them, outside [check] paths"), HasSubstr("in 1 file outside"),
          HasSubstr("verdict: allowed")));
}

}  // namespace
}  // namespace guard::testing
