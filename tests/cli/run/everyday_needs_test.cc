// What honest programs expect of the machine that they run on, and what of the real one they don't see.
#include <gtest/gtest.h>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

class EverydayNeeds : public ::testing::TestWithParam<const char*> {
 protected:
  static Needs needs() { return std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox; }
  // The words that `script` prints under bun in the sandbox.
  std::string said_by(const std::string& script) {
    project_.build_image(GetParam());
    const auto result = project_.guard({"exec", "--backend", GetParam(), "--", "bun", "-e", script});
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
    return result.out;
  }
  Project project_;
};

TEST_P(EverydayNeeds, TheUserHasAName) {
  GUARD_NEEDS(needs());
  EXPECT_EQ(said_by("const { userInfo } = require('os'); console.log(userInfo().username, userInfo().homedir)"),
      "runner /tmp\n");
}

TEST_P(EverydayNeeds, TheLoopbackIsListedAndServesBothFamilies) {
  GUARD_NEEDS(needs());
  EXPECT_EQ(said_by("console.log(Object.keys(require('os').networkInterfaces()).join())"), "lo\n");
  EXPECT_EQ(said_by("for (const hostname of ['127.0.0.1', '::1']) {"
                    "  const server = Bun.serve({ hostname, port: 0, fetch: () => new Response(hostname) });"
                    "  console.log(await (await fetch(server.url)).text()); server.stop(true);"
                    "}"),
      "127.0.0.1\n::1\n");
}

TEST_P(EverydayNeeds, SharedMemoryIsWritableUpToItsLimit) {
  GUARD_NEEDS(needs());
  project_.configure("[limits]\ntmp_size = \"1m\"\n");
  EXPECT_EQ(said_by("const fs = require('fs'); fs.writeFileSync('/dev/shm/small', 'x'.repeat(1000));"
                    "let code = 'none'; try { fs.writeFileSync('/dev/shm/large', 'x'.repeat(2 << 20)); }"
                    "catch (error) { code = error.code; } console.log(code)"),
      "ENOSPC\n");
}

// A test file finds it as the first one did.
TEST_P(EverydayNeeds, SharedMemoryIsEmptyForEachFile) {
  GUARD_NEEDS(needs());
  for (const char* name : {"a", "b"}) {
    project_.write(std::string("sandbox/") + name + ".test.ts",
        "import { expect, test } from 'bun:test';\nimport { readdirSync, writeFileSync } from 'node:fs';\n"
        "test('is empty', () => { expect(readdirSync('/dev/shm')).toEqual([]); writeFileSync('/dev/shm/left', 'x'); "
        "});\n");
  }
  const auto result = project_.run(GetParam(), {"sandbox/a.test.ts", "sandbox/b.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
}

TEST_P(EverydayNeeds, TheHostsOwnFiguresAreHidden) {
  GUARD_NEEDS(needs());
  EXPECT_EQ(said_by("let seen = ''; for (const name of ['cmdline', 'diskstats', 'partitions', 'modules', 'vmstat']) {"
                    "  try { seen += require('fs').readFileSync('/proc/' + name, 'utf8'); } catch {}"
                    "} console.log(seen.trim().length)"),
      "0\n");
}

INSTANTIATE_TEST_SUITE_P(Backends, EverydayNeeds, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
