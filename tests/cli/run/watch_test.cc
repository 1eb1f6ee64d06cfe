// `guard run --watch`: as a person at a terminal uses it.
#include <gtest/gtest.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

// Runs until both verdicts have been seen, and is interrupted then.
constexpr std::string_view kScript = R"(
guard_says() { for i in $(seq 400); do grep -q "$1" out && return 0; sleep 0.1; done; cat out; return 1; }
"$GUARD" run --backend namespace --watch sandbox/a.test.ts > out 2>&1 &
pid=$!
guard_says "verdict: allowed" && guard_says "waiting for a change" || exit 1
printf '%s' "$FAILING" > sandbox/a.test.ts
guard_says "verdict: rejected" || exit 2
kill -INT $pid
wait $pid
)";

TEST(Watch, RunsAgainWhereAFileIsChangedAndEndsWithAnInterrupt) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  Project project;
  project.build_image("namespace");
  project.write(
      "sandbox/a.test.ts", "import { expect, test } from \"bun:test\";\ntest(\"a\", () => { expect(1).toBe(1); });\n");
  ProcessSpec spec;
  spec.argv = {"bash", "-c", std::string(kScript)};
  spec.env = project.environment();
  spec.env["GUARD"] = GUARD_PROGRAM;
  spec.env["FAILING"] = "import { expect, test } from \"bun:test\";\ntest(\"a\", () => { expect(1).toBe(2); });\n";
  spec.cwd = project.path().string();
  spec.deadline = Deadline::after(std::chrono::minutes(2));
  const auto result = run_program(spec);
  EXPECT_EQ(result.exit_status, 130) << result.out << result.err;
}

TEST(Watch, IsForAPersonAlone) {
  Project project;
  EXPECT_EQ(project.guard({"run", "--watch", "--format", "json"}).exit_status, 64);
  EXPECT_EQ(project.guard({"run", "--watch", "--record", "x"}).exit_status, 64);
}

}  // namespace
}  // namespace guard::testing
