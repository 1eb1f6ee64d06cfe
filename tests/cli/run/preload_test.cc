// What the project's bunfig.toml preloads: taken as HEAD has it, after guard's own script, and told in the record.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "tests/support/program/git_repository.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view kTest =
    "import { expect, test } from \"bun:test\";\n"
    "test(\"has what was set up\", () => { expect((globalThis as any).page).toBe(\"ready\"); });\n";

class Preload : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.write("sandbox/a.test.ts", kTest);
    project_.write("setup.ts", "(globalThis as any).page = \"ready\";\n");
    project_.write("bunfig.toml", "[test]\npreload = [\"./setup.ts\"]\n");
  }

  void commit() const {
    const auto git = [&](std::vector<std::string> arguments) {
      arguments.insert(arguments.begin(),
          {"/usr/bin/git", "-C", project_.path().string(), "-c", "user.name=t", "-c", "user.email=t@localhost"});
      ProcessSpec spec;
      spec.argv = std::move(arguments);
      spec.env = project_.environment();
      EXPECT_EQ(run_program(spec).exit_status, 0);
    };
    git({"init", "-q"});
    git({"add", "-A"});
    git({"commit", "-q", "--allow-empty", "-m", "as it is"});
  }

  nlohmann::json run(int exit_status, std::vector<std::string> more = {}) const {
    const auto result = project_.run(GetParam(), {"sandbox/a.test.ts"}, std::move(more));
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    return result.document();
  }

  void expect_undecided(std::string_view why) const {
    const auto document = run(2);
    EXPECT_THAT(document.value("message", ""), HasSubstr(std::string(why)));
    EXPECT_FALSE(document.contains("exec"));
  }

  Project project_;
};

TEST_P(Preload, RunsBeforeTheTestsAndIsTold) {
  commit();
  const auto document = run(0, {"--record", "record.json"});
  EXPECT_EQ(document["preload"], nlohmann::json{"./setup.ts"});
  EXPECT_TRUE(document["hashes"].contains("setup.ts"));
  EXPECT_TRUE(document["hashes"].contains("bunfig.toml"));
  const auto verified = project_.guard({"verify", "record.json"});
  EXPECT_EQ(verified.exit_status, 0) << verified.out << verified.err;
  project_.write("setup.ts", "(globalThis as any).page = \"other\";\n");
  EXPECT_EQ(project_.guard({"verify", "record.json"}).exit_status, 1);
}

// Hooks of what is preloaded run after those of the tests, and what fails in them counts.
TEST_P(Preload, HooksOfItRunToTheirEnd) {
  project_.write("setup.ts",
      "import { afterAll, afterEach, expect } from \"bun:test\";\n(globalThis as any).page = \"ready\";\n"
      "afterEach(() => { expect((globalThis as any).page).toBe(\"ready\"); });\n"
      "afterAll(async () => { await Bun.sleep(5); expect((globalThis as any).page).toBe(\"ready\"); console.log(\"all "
      "is put away\"); });\n");
  commit();
  const auto result = project_.run(GetParam(), {"sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_THAT(result.err, HasSubstr("all is put away"));
  project_.write("setup.ts",
      "import { afterAll, expect } from \"bun:test\";\n(globalThis as any).page = \"ready\";\n"
      "afterAll(() => { try { expect(1).toBe(2); } catch {} });\n");
  commit();
  run(1);
}

// Whoever writes tests can write these, too.
TEST_P(Preload, WhatIsNotCommittedAsItLiesThereIsNotTaken) {
  expect_undecided("whether it is committed can't be told");
  commit();
  run(0);
  project_.write("setup.ts", "(globalThis as any).page = \"ready\"; // more\n");
  expect_undecided("setup.ts");
  commit();
  run(0);
  project_.write("bunfig.toml", "[test]\npreload = [\"./setup.ts\", \"./more.ts\"]\n");
  project_.write("more.ts", "");
  expect_undecided("bunfig.toml");
  project_.write("bunfig.toml", "[test]\npreload = [\"./setup.ts\"]\ntimeout = 1\n");
  expect_undecided("bunfig.toml");
}

TEST_P(Preload, OnlyFilesOfTheProjectAndPackagesAreTaken) {
  for (const char* name :
      {"../outside.ts", "/etc/hostname", "./absent.ts", "./link.ts", "./linked/setup.ts", "./twice"}) {
    project_.write("bunfig.toml", "[test]\npreload = \"" + std::string(name) + "\"\n");
    if (::symlink("setup.ts", (project_.path() / "link.ts").c_str()) == 0) {
      ASSERT_EQ(::symlink("src", (project_.path() / "linked").c_str()), 0);
    }
    project_.write("src/setup.ts", "");
    project_.write("twice.ts", "");
    project_.write("twice.js", "");
    commit();
    expect_undecided("bunfig.toml");
  }
  fs::remove(project_.path() / "bunfig.toml");
  project_.write("other.toml", "[test]\npreload = [\"./setup.ts\"]\n");
  ASSERT_EQ(::symlink("other.toml", (project_.path() / "bunfig.toml").c_str()), 0);
  commit();
  expect_undecided("bunfig.toml");
}

TEST_P(Preload, IsFoundHoweverItIsWritten) {
  for (const char* text : {"test.preload = \"./setup\"\n", "test = { preload = ['./setup.ts'] }\n",
           "[\"test\"]\n\"pre\\u006coad\" = [\"./setup.ts\"]\ntimeout = 9000\n",
           "smol = true\n[install.scopes]\nmine = \"http://localhost:1\"\n[test]\npreload = [\n  "
           "\"./src/../setup.ts\",\n]\n[define]\n\"A.B\" = \"'\\\"'\"\n"}) {
    project_.write("bunfig.toml", text);
    commit();
    EXPECT_EQ(run(0)["preload"], nlohmann::json{"./setup.ts"}) << text;
  }
}

// An alias would be read from a file that nobody compares; what it means is a file of the project.
TEST_P(Preload, AnAliasIsTheFileThatItMeans) {
  project_.write("bunfig.toml", "[test]\npreload = [\"@/prepare\"]\n");
  project_.write("tsconfig.json", "{\"compilerOptions\": {\"paths\": {\"@/*\": [\"./src/*\"]}}}\n");
  project_.write("src/prepare.ts", "(globalThis as any).page = \"ready\";\n");
  commit();
  EXPECT_EQ(run(0)["preload"], nlohmann::json{"./src/prepare.ts"});
  project_.write("src/prepare.ts", "(globalThis as any).page = \"ready\" as string;\n");
  expect_undecided("src/prepare.ts");
}

// It comes after guard's own script, so it has no more power than a test.
TEST_P(Preload, CannotForgeWhatIsCounted) {
  project_.configure("trust_namespace = true\n");
  for (const char* text :
      {"import { readFileSync } from \"node:fs\";\nlet key; try { key = readFileSync(\"/dev/fd/4\"); } catch {}\nif "
       "(key && key.length > 0) (globalThis as any).page = \"key\";\n",
          "import { expect } from \"bun:test\";\nconst p: any = Object.getPrototypeOf(expect(1)); p.toBe = () => {};\n",
          "import { mock } from \"bun:test\";\nmock.module(\"bun:test\", () => ({ test: () => {}, expect: () => ({ "
          "toBe() {} }) }));\n",
          "process.exit(0);\n",
          "import { expect } from \"bun:test\";\nexpect.extend({ toBe: () => ({ pass: true, message: () => \"\" }) "
          "});\n"}) {
    project_.write("setup.ts", text);
    commit();
    const auto result = project_.run(GetParam(), {"sandbox/a.test.ts"});
    EXPECT_NE(result.exit_status, 0) << text << result.out;
  }
}

// In the folder that tests may write to it is gated as they are, and named by bunfig.toml.
TEST_P(Preload, IsJudgedWhereItLiesAmongTheTests) {
  project_.write("bunfig.toml", "[test]\npreload = [\"./sandbox/setup.ts\"]\n");
  project_.write("sandbox/setup.ts", "(globalThis as any).page = \"ready\";\n");
  commit();
  run(0);
  project_.write(
      "sandbox/setup.ts", "(globalThis as any).page = \"ready\"; console.log(JSON.stringify(process.env));\n");
  commit();
  EXPECT_EQ(run(1).value("reason", ""), "findings");
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Preload, ::testing::Values("namespace", "docker"), [](const auto& row) { return row.param; });

}  // namespace
}  // namespace guard::testing
