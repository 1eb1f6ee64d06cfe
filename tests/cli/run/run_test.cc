// `guard run` end to end: real bun, in the real sandboxes.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <thread>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPassing =
    "import { expect, test } from \"bun:test\";\nimport { add } from \"../src/add\";\n"
    "test(\"adds\", () => { expect(add(1, 2)).toBe(3); });\n";

// Every case runs in both sandboxes.
class Run : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override { GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox); }

  ProgramResult run(std::vector<std::string> files, std::vector<std::string> more = {}) const {
    return project_.run(GetParam(), std::move(files), std::move(more));
  }

  void expect_verdict(
      const ProgramResult& result, int exit_status, std::string_view verdict, std::string_view reason) const {
    EXPECT_EQ(result.exit_status, exit_status) << result.out << result.err;
    const auto document = result.document();
    EXPECT_EQ(document.value("verdict", ""), verdict) << result.out;
    EXPECT_EQ(document.value("reason", ""), reason) << result.out;
  }

  Project project_;
};

TEST_P(Run, AllowsHonestTestsAndSaysWhatItSaw) {
  project_.write("sandbox/a.test.ts", kPassing);
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto document = result.document();
  EXPECT_EQ(document["version"], 1);
  EXPECT_EQ(document["backend"], GetParam());
  EXPECT_EQ(document["tests"]["passed"], 1);
  EXPECT_EQ(document["tests"]["files"], 1);
  EXPECT_EQ(document["check"]["verdict"], "allowed");
  EXPECT_EQ(document["exec"]["seen_inside"]["uid"], "1000");
  EXPECT_EQ(document["exec"]["seen_inside"]["no_new_privs"], "1");
  EXPECT_EQ(document["exec"]["seen_inside"]["seccomp"], "2");
  EXPECT_EQ(document["limits"]["memory_bytes"], 2147483648u);
  EXPECT_EQ(document["hashes"].size(), 4u);
}

// In order, without a gap, from the configuration to the verdict; and the same for a person's eyes.
TEST_P(Run, ItsStagesCoverIt) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.build_image(GetParam());
  const auto result =
      project_.guard({"run", "sandbox/a.test.ts", "--backend", GetParam(), "--format", "json"}, {{"GUARD_TRACE", "1"}});
  expect_verdict(result, 0, "allowed", "tests_passed");
  constexpr double kRounding = 0.11;
  double next = 0;
  std::vector<std::string> names;
  const auto document = result.document();
  for (const auto& stage : document["timeline"]) {
    names.push_back(stage["stage"]);
    EXPECT_NEAR(stage["at_ms"].get<double>(), next, kRounding) << names.back();
    EXPECT_GE(stage["ms"].get<double>(), 0) << names.back();
    next = stage["at_ms"].get<double>() + stage["ms"].get<double>();
    EXPECT_NE(result.err.find(" ms  " + names.back() + "\n"), std::string::npos) << result.err;
  }
  std::vector<std::string> expected = {"configuration", "rules", "probe", "leftovers", "settings", "files", "check",
      "image", "stage", "run", "create", "start", "program", "end", "judge", "bring_back", "tidy"};
  if (GetParam() == "docker") {
    expected.insert(expected.begin() + 10, "engine");
    expected.insert(expected.end() - 3, "removal");
  }
  EXPECT_EQ(names, expected);
  EXPECT_NE(result.err.find(" ms  report\n"), std::string::npos) << result.err;
}

// They are not told unless somebody asks, and not where several sandboxes would tell at once.
TEST_P(Run, StagesOfSandboxesSideBySideAreOne) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("sandbox/b.test.ts", kPassing);
  const auto result = run({"sandbox/a.test.ts", "sandbox/b.test.ts"}, {"--jobs", "2"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_EQ(result.err.find(" ms  check"), std::string::npos) << result.err;
  std::vector<std::string> names;
  const auto document = result.document();
  for (const auto& stage : document["timeline"]) names.push_back(stage["stage"]);
  ASSERT_EQ(std::count(names.begin(), names.end(), "run"), 1);
  EXPECT_EQ(*(std::find(names.begin(), names.end(), "run") + 1), "judge");
}

TEST_P(Run, RefusesFailingTests) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", () => { expect(1).toBe(2); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 1, "rejected", "tests_failed");
  EXPECT_EQ(result.document()["tests"]["failures"][0]["name"], "wrong");
}

// Each of these makes bare `bun test` exit with 0. Host-only rules are trusted away where they would stop it before it
// runs.
TEST_P(Run, ExitInsideATestIsNoPass) {
  project_.configure("trust_namespace = true\n");
  project_.write(
      "sandbox/a.test.ts", "import { test } from \"bun:test\";\ntest(\"leaves\", () => { process.exit(0); });\n");
  expect_verdict(run({"sandbox/a.test.ts"}), 2, "undecided", "report_missing");
}

TEST_P(Run, ExitAtTopLevelIsNoPass) {
  project_.configure("trust_namespace = true\n");
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write(
      "sandbox/b.test.ts", "import { test } from \"bun:test\";\nprocess.exit(0);\ntest(\"never\", () => {});\n");
  expect_verdict(run({"sandbox/a.test.ts", "sandbox/b.test.ts"}), 2, "undecided", "report_missing");
}

TEST_P(Run, FileWithoutTestsIsNoPass) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("sandbox/b.test.ts", "export const nothing = 1;\n");
  expect_verdict(run({"sandbox/b.test.ts"}), 2, "undecided", "no_tests");
  expect_verdict(run({"sandbox/a.test.ts", "sandbox/b.test.ts"}), 2, "undecided", "no_tests");
}

TEST_P(Run, AllSkippedIsNoPass) {
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest.skip(\"later\", () => {});\ntest.todo(\"never\");\n");
  expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "all_skipped");
}

TEST_P(Run, SyntaxErrorIsRefused) {
  project_.write("sandbox/a.test.ts", "import { test } from \"bun:test\";\ntest(\"broken\", () => {\n");
  EXPECT_EQ(run({"sandbox/a.test.ts"}).exit_status, 1);
}

TEST_P(Run, RunOutOfMemoryIsRefused) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"eats\", () => { const held: Uint8Array[] = []; for (let i = 0; i < 64; i++) held.push(new Uint8Array(16 "
      "<< 20).fill(i)); expect(held.length).toBe(64); });\n");
  expect_verdict(run({"sandbox/a.test.ts"}, {"--memory", "256m"}), 1, "rejected", "out_of_memory");
}

TEST_P(Run, TimeOutEndsTheRun) {
  project_.write("guard.toml", "[run]\ngrace_s = 1\n");
  project_.write(
      "sandbox/a.test.ts", "import { test } from \"bun:test\";\ntest(\"hangs\", () => { for (;;); }, 1e9);\n");
  expect_verdict(run({"sandbox/a.test.ts"}, {"--timeout", "2"}), 1, "rejected", "timed_out");
}

TEST_P(Run, FloodKeepsTheCapAndNothingMore) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"floods\", () => { const line = \"lorem ipsum dolor \".repeat(60) + \"\\n\"; for (let i = 0; i < 100000; "
      "i++) console.log(line); expect(1).toBe(1); }, 1e9);\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto output = result.document()["output"];
  EXPECT_LE(output["kept_bytes"].get<std::uint64_t>(), 81920u);
  EXPECT_GT(output["kept_bytes"].get<std::uint64_t>(), 80000u);
  EXPECT_GT(output["dropped_bytes"].get<std::uint64_t>(), 100'000'000u);
  EXPECT_LT(result.err.size(), 90'000u);
}

TEST_P(Run, SecretPrintedInTwoWritesIsMasked) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"leaks\", async () => { const key = [\"sk\", \"ant\", \"api03\", \"Qm7\".repeat(20)].join(\"-\");\n"
      "  process.stdout.write(\"key \" + key.slice(0, 21)); await Bun.sleep(50); process.stdout.write(key.slice(21) + "
      "\"\\n\"); expect(1).toBe(1); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_EQ(result.err.find("Qm7Qm7"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("[REDACTED:"), std::string::npos) << result.err;
  EXPECT_FALSE(result.document()["output"]["redactions"].empty());
}

TEST_P(Run, TimeOutInASecretShowsNoneOfIt) {
  project_.write("guard.toml", "[run]\ngrace_s = 1\n");
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\n"
      "test(\"hangs\", async () => { const key = [\"sk\", \"ant\", \"api03\", \"Qm7\".repeat(20)].join(\"-\");\n"
      "  process.stdout.write(\"key \" + key.slice(0, 21)); await Bun.sleep(600000); }, 1e9);\n");
  const auto result = run({"sandbox/a.test.ts"}, {"--timeout", "3"});
  expect_verdict(result, 1, "rejected", "timed_out");
  EXPECT_EQ((result.out + result.err).find("Qm7Qm7"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("key [REDACTED:"), std::string::npos) << result.err;
}

// What closes its standard output goes on writing to its standard error, and its exit status counts.
TEST_P(Run, ClosedOutputOfTheProgramChangesNoVerdict) {
  project_.configure("trust_namespace = true\n");
  for (const char* wanted : {"1", "2"}) {
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from \"bun:test\";\nimport { closeSync } from \"node:fs\";\n"
        "test(\"closes\", () => { closeSync(1); console.error([\"sk\", \"ant\", \"api03\", "
        "\"Qm7\".repeat(20)].join(\"-\"));\n"
        "  expect(1).toBe(" +
            std::string(wanted) + "); });\n");
    const auto result = run({"sandbox/a.test.ts"});
    if (*wanted == '1') expect_verdict(result, 0, "allowed", "tests_passed");
    if (*wanted == '2') expect_verdict(result, 1, "rejected", "tests_failed");
    EXPECT_EQ((result.out + result.err).find("Qm7Qm7"), std::string::npos) << result.err;
    EXPECT_NE(result.err.find("[REDACTED:anthropic]"), std::string::npos) << result.err;
  }
}

TEST_P(Run, SecretAcrossTheCapLeavesNoByte) {
  // The secret's first bytes lie before the cap, its last behind it, whatever bun prints first.
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"leaks\", () => { const key = [\"sk\", \"ant\", \"api03\", \"Qm7\".repeat(30)].join(\"-\"); \n"
      "  for (let i = 0; i < 3000; i++) console.log(\"filler \".repeat(i % 9) + key); expect(1).toBe(1); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  EXPECT_EQ((result.out + result.err).find("Qm7"), std::string::npos);
  EXPECT_EQ((result.out + result.err).find("sk-"), std::string::npos);
  EXPECT_GT(result.document()["output"]["dropped_bytes"].get<std::uint64_t>(), 0u);
}

TEST_P(Run, SecretsInTestNamesAreMaskedInTheDocument) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nconst key = [\"sk\", \"ant\", \"api03\", "
      "\"Qm7\".repeat(30)].join(\"-\");\n"
      "test(\"named \" + key, () => { expect(1).toBe(2); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 1, "rejected", "tests_failed");
  EXPECT_EQ((result.out + result.err).find("Qm7Qm7"), std::string::npos) << result.out;
}

// The folder between is no checked file, but what lies in it is: moved away, replaced and put back, it ends the run.
TEST_P(Run, FoldersOfCheckedFilesAreNotSwappedUnseen) {
  project_.configure("trust_namespace = true\n");
  project_.write("sandbox/deep/er/helper.ts", "export const answer = 42;\n");
  const std::string head =
      "import { expect, test } from \"bun:test\";\nimport { renameSync, writeFileSync } from \"node:fs\";\nimport { "
      "answer } from \"./deep/er/helper\";\n";
  for (const std::string name : {"deep", "deep/er", "deep/er/helper.ts"}) {
    project_.write("sandbox/a.test.ts",
        head + "test(\"moves\", () => { expect(answer).toBe(42);\n  const name = \"/app/sandbox/" + name +
            "\";\n  renameSync(name, \"/app/sandbox/moved\"); renameSync(\"/app/sandbox/moved\", name); });\n");
    const auto result = run({"sandbox/a.test.ts"});
    expect_verdict(result, 1, "rejected", "violation");
    EXPECT_NE(result.out.find("sandbox/" + name), std::string::npos) << result.out;
  }
  project_.write("sandbox/a.test.ts",
      head +
          "test(\"stays\", () => { expect(answer).toBe(42);\n"
          "  expect(() => writeFileSync(\"/app/sandbox/deep/er/helper.ts\", \"\")).toThrow(/EACCES/); });\n");
  expect_verdict(run({"sandbox/a.test.ts"}), 0, "allowed", "tests_passed");
}

// bun opens a stored snapshot for writing, and writes it again as it was.
TEST_P(Run, StoredSnapshotsAreReadAndNeverChanged) {
  project_.configure("trust_namespace = true\n");
  project_.write("sandbox/__snapshots__/a.test.ts.snap",
      "// Bun Snapshot v1, https://bun.sh/docs/test/snapshots\n\nexports[`is 1`] = `\"as stored\"`;\n");
  const auto with = [&](const std::string& value, const std::string& more = "") {
    project_.write("sandbox/a.test.ts",
        "import { expect, test } from \"bun:test\";\nimport * as fs from \"node:fs\";\n"
        "const snapshot = \"sandbox/__snapshots__/a.test.ts.snap\";\n" +
            more + "test(\"is\", () => { expect(\"" + value + "\").toMatchSnapshot(); });\n");
    return run({"sandbox/a.test.ts"});
  };
  expect_verdict(with("as stored"), 0, "allowed", "tests_passed");
  expect_verdict(with("otherwise"), 1, "rejected", "tests_failed");
  const std::string change =
      "fs.writeFileSync(snapshot, fs.readFileSync(snapshot, \"utf8\").replace(\"as stored\", \"otherwise\"));\n";
  const std::string back =
      "process.on(\"exit\", () => fs.writeFileSync(snapshot, fs.readFileSync(snapshot, "
      "\"utf8\").replace(\"otherwise\", \"as stored\")));\n";
  expect_verdict(with("otherwise", change), 1, "rejected", "violation");
  expect_verdict(with("otherwise", change + back), 1, "rejected", "violation");
  EXPECT_EQ(
      read_file(project_.path() / "sandbox/__snapshots__/a.test.ts.snap", 1000)->find("otherwise"), std::string::npos);
}

TEST_P(Run, AFolderStandsForItsTestsAndAFileNamedTwiceIsOne) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("sandbox/deep/b_test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"is\", () => { expect(1).toBe(1); });\n");
  const auto result = run({"sandbox", "./sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_EQ(result.document()["tests"]["files"], 2);
}

TEST_P(Run, PassedVariableIsSeenInsideAndMaskedOutside) {
  project_.configure("[check]\ntwo_hit_ignore = [\"LICENCE\"]\n");
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\n"
      "test(\"reads\", () => { const value = process.env.LICENCE ?? \"\"; expect(value.length).toBe(24); "
      "console.log(value); });\n");
  const auto result = run({"sandbox/a.test.ts"}, {"--env", "LICENCE=x9Kx9Lq-7TtR2mWvB4nZpQ1c"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_EQ(result.err.find("x9Kx9Lq-7TtR2mWv"), std::string::npos) << result.err;
  EXPECT_EQ(result.out.find("x9Kx9Lq-7TtR2mWv"), std::string::npos);
  EXPECT_FALSE(result.document()["relaxations"].empty());
}

TEST_P(Run, HostFilesVariablesAndNetworkAreNotThere) {
  project_.configure("trust_namespace = true\n[check]\ntwo_hit_ignore = [\"PLANTED\"]\n");
  project_.write("outside.txt", "outside");
  project_.write(".env", "PLANTED=1\n");
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { existsSync, readdirSync, writeFileSync } from "
      "\"node:fs\";\n"
      "test(\"sees nothing\", () => {\n"
      "  expect(existsSync(\"/app/outside.txt\")).toBe(false);\n"
      "  expect(readdirSync(\"/app\").sort()).toEqual([\"node_modules\", \"package.json\", \"sandbox\", \"src\", "
      "\"tsconfig.json\"].filter((n) => n !== \"node_modules\" || existsSync(\"/app/node_modules\")));\n"
      "  expect(process.env.PLANTED).toBeUndefined();\n"
      "  for (const p of [\"/x\", \"/app/x\", \"/app/src/x\", \"/etc/x\", \"/app/sandbox/a.test.ts\"]) expect(() => "
      "writeFileSync(p, \"x\")).toThrow();\n"
      "  writeFileSync(\"/app/sandbox/made.txt\", \"x\"); writeFileSync(\"/tmp/made.txt\", \"x\");\n"
      "});\n"
      "test(\"reaches nothing\", async () => { await expect(fetch(\"http://127.0.0.1:9/\")).rejects.toThrow(); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_FALSE(fs::exists(project_.path() / "sandbox/made.txt"));
}

// Writes `files` (name, text) below sandbox/ and passes.
std::string writing_test(const std::vector<std::pair<std::string, std::string>>& files) {
  std::string body;
  for (const auto& [name, text] : files) body += "  await Bun.write(\"sandbox/" + name + "\", " + text + ");\n";
  return "import { expect, test } from \"bun:test\";\ntest(\"writes\", async () => {\n" + body +
      "  expect(1).toBe(1);\n});\n";
}

std::map<std::string, std::string> left_behind(const nlohmann::json& document) {
  std::map<std::string, std::string> reasons;
  for (const auto& entry : document["collected"]["left_behind"]) reasons[entry["path"]] = entry["reason"];
  return reasons;
}

TEST_P(Run, WhatTestsWriteIsListedAndGone) {
  project_.write("sandbox/a.test.ts", writing_test({{"out/new.json", "\"{}\""}}));
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto document = result.document();
  EXPECT_EQ(document["collected"]["mode"], "none");
  EXPECT_EQ(document["collected"]["complete"], true);
  EXPECT_EQ(left_behind(document), (std::map<std::string, std::string>{{"sandbox/out/new.json", "not_asked"}}));
  EXPECT_FALSE(fs::exists(project_.path() / "sandbox/out"));
}

TEST_P(Run, WhatPassesComesBackWhereAskedFor) {
  project_.write(
      "sandbox/a.test.ts", writing_test({{"out/new.json", "\"{}\""}, {"b.test.ts", "\"export const b = 1;\\n\""}}));
  project_.write("guard.toml", "[run]\ncollect_paths = [\"sandbox/out/**\"]\n");
  const auto listed = run({"sandbox/a.test.ts"}, {"--collect", "listed"});
  expect_verdict(listed, 0, "allowed", "tests_passed");
  EXPECT_TRUE(fs::exists(project_.path() / "sandbox/out/new.json"));
  EXPECT_EQ(left_behind(listed.document()), (std::map<std::string, std::string>{{"sandbox/b.test.ts", "not_listed"}}));

  // What came back is a checked file now: the run can't write it any more.
  project_.write("sandbox/a.test.ts", writing_test({{"b.test.ts", "\"export const b = 1;\\n\""}}));
  const auto all = run({"sandbox/a.test.ts"}, {"--collect", "all"});
  expect_verdict(all, 0, "allowed", "tests_passed");
  EXPECT_EQ(all.document()["collected"]["files"][0]["path"], "sandbox/b.test.ts");
  EXPECT_EQ(read_file(project_.path() / "sandbox/b.test.ts", 100).value_or("none"), "export const b = 1;\n");
}

TEST_P(Run, WhatTheRulesForbidDoesNotComeBackAndRejectsTheRun) {
  // In pieces, so that the gate lets the writer through; in one piece in the file.
  project_.write("sandbox/a.test.ts",
      writing_test(
          {{"fine.txt", "\"x\""}, {"b.ts", "[\"Object.keys(process\", \"env);\"].join(String.fromCharCode(46))"}}));
  const auto result = run({"sandbox/a.test.ts"}, {"--collect", "all"});
  expect_verdict(result, 1, "rejected", "findings");
  const auto document = result.document();
  EXPECT_EQ(document["tests"]["passed"], 1);
  EXPECT_EQ(document["check"]["findings"][0]["path"], "sandbox/b.ts");
  EXPECT_EQ(left_behind(document),
      (std::map<std::string, std::string>{{"sandbox/b.ts", "finding"}, {"sandbox/fine.txt", "not_allowed"}}));
  EXPECT_FALSE(fs::exists(project_.path() / "sandbox/b.ts"));
  EXPECT_FALSE(fs::exists(project_.path() / "sandbox/fine.txt"));
}

TEST_P(Run, AFailedRunBringsNothingBack) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", async () => { await Bun.write(\"sandbox/new.txt\", "
      "\"x\"); expect(1).toBe(2); });\n");
  const auto result = run({"sandbox/a.test.ts"}, {"--collect", "all"});
  expect_verdict(result, 1, "rejected", "tests_failed");
  EXPECT_EQ(left_behind(result.document()), (std::map<std::string, std::string>{{"sandbox/new.txt", "not_asked"}}));
  EXPECT_FALSE(fs::exists(project_.path() / "sandbox/new.txt"));
}

TEST_P(Run, FindingsStopItBeforeAnythingRuns) {
  project_.write("sandbox/a.test.ts",
      "import { test } from \"bun:test\";\ntest(\"dumps\", () => { console.log(JSON.stringify(process.env)); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 1, "rejected", "findings");
  EXPECT_TRUE(result.document()["exec"].is_null());
}

constexpr std::string_view kDump = "export const all = () => Object.entries(process.env);\n";

TEST_P(Run, WhatATestLoadsIsCheckedToo) {
  project_.write("sandbox/helper.ts", kDump);
  project_.write("sandbox/between.ts", "export * from \"./helper\";\n");
  project_.write("sandbox/a.test.ts", "import { all } from \"./between\";\n" + std::string(kPassing));
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 1, "rejected", "findings");
  EXPECT_EQ(result.document()["check"]["findings"][0]["path"], "sandbox/helper.ts");
  EXPECT_TRUE(result.document()["left_out"].empty());
}

// One refused file does not refuse what has nothing to do with it, and is not there for anybody to find.
TEST_P(Run, ARefusedFileThatNobodyNamedOrLoadsIsLeftOut) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { existsSync, readdirSync } from \"node:fs\";\n"
      "test(\"is alone\", () => { expect(existsSync(import.meta.dir + \"/other.ts\")).toBe(false); "
      "expect(readdirSync(import.meta.dir).sort()).toEqual([\"a.test.ts\", \"b.test.ts\", \"good.ts\"]); });\n");
  project_.write("sandbox/b.test.ts", kPassing);
  project_.write("sandbox/good.ts", "export const one = 1;\n");
  project_.write("sandbox/other.ts", kDump);
  project_.write("sandbox/other.test.ts",
      "import { all } from \"./other\";\nimport { test } from \"bun:test\";\ntest(\"dumps\", () => { "
      "console.log(all(), process.env); });\n");
  project_.write("sandbox/deep/package.json", "{\"name\": \"good\"}\n");
  ASSERT_EQ(::symlink("/etc/passwd", (project_.path() / "sandbox/data.txt").c_str()), 0);
  const auto result = run({"sandbox/a.test.ts", "sandbox/b.test.ts"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto document = result.document();
  EXPECT_TRUE(document["check"]["findings"].empty());
  const std::vector<std::string> left_out = {
      "sandbox/data.txt", "sandbox/deep/package.json", "sandbox/other.test.ts", "sandbox/other.ts"};
  EXPECT_EQ(document["left_out"].get<std::vector<std::string>>(), left_out);
  std::vector<std::string> told;
  for (const auto& finding : document["left_out_for"])
    told.push_back(finding["path"].get<std::string>() + " " + finding["rule"].get<std::string>());
  EXPECT_EQ(told.size(), 4u);
  EXPECT_EQ(told[3].substr(0, 23), "sandbox/other.ts always");
  for (const auto& path : left_out) EXPECT_FALSE(document["hashes"].contains(path)) << path;
}

TEST_P(Run, ATestThatNeedsWhatWasLeftOutFailsAndSaysWhatWasMissing) {
  project_.write("sandbox/cases.txt", "Object.entries(process.env)\n");
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nimport { readFileSync } from \"node:fs\";\n"
      "test(\"reads\", () => { expect(readFileSync(import.meta.dir + \"/cases.txt\", "
      "\"utf8\")).toContain(\"entries\"); });\n");
  const auto result = run({"sandbox/a.test.ts"});
  expect_verdict(result, 1, "rejected", "tests_failed");
  EXPECT_NE(result.document()["message"].get<std::string>().find("left out: sandbox/cases.txt"), std::string::npos)
      << result.out;
}

// A name that is built at run time may be that of any file in the folder.
TEST_P(Run, WhatAComputedNameMayLoadDecides) {
  project_.write("sandbox/helper.ts", kDump);
  project_.write(
      "sandbox/a.test.ts", std::string(kPassing) + "export const load = (name: string) => import(`./${name}`);\n");
  EXPECT_EQ(run({"sandbox/a.test.ts"}).exit_status, 1);
}

TEST_P(Run, ANamedFolderNamesAllItsTests) {
  project_.write("sandbox/good/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"one\", () => { expect(1).toBe(1); });\n");
  project_.write("sandbox/bad/b.test.ts",
      "import { test } from \"bun:test\";\ntest(\"dumps\", () => { console.log(process.env); });\n");
  ASSERT_EQ(::symlink("../good/a.test.ts", (project_.path() / "sandbox/bad/c.test.ts").c_str()), 0);
  expect_verdict(run({"sandbox/"}), 1, "rejected", "findings");
  expect_verdict(run({"sandbox/good/"}), 0, "allowed", "tests_passed");
  fs::remove(project_.path() / "sandbox/bad/b.test.ts");
  expect_verdict(run({"sandbox/"}), 1, "rejected", "findings");
}

// Programs of the machine are there only where a committed guard.toml names them.
TEST_P(Run, ToolsOfTheConfigurationAreThereAndInTheRecord) {
  constexpr std::string_view kCalls =
      "import { expect, test } from \"bun:test\";\nimport { spawnSync } from \"node:child_process\";\n"
      "test(\"calls it\", () => { expect(spawnSync(\"tar\", [\"--version\"]).stdout?.toString() ?? "
      "\"\").toContain(\"tar\"); });\n";
  project_.write("sandbox/a.test.ts", kCalls);
  project_.configure("trust_namespace = true\n");
  expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "tests_failed");
  project_.configure("trust_namespace = true\n[image]\ntools = [\"tar\"]\n");
  project_.build_image(GetParam());
  const auto result = run({"sandbox/a.test.ts"}, {"--record", "record.json"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  EXPECT_NE(result.out.find("image.tools: tar"), std::string::npos) << result.out;
  EXPECT_EQ(project_.guard({"verify", "record.json"}).exit_status, 0);
  project_.write("guard.toml", "trust_namespace = true\n[image]\ntools = [\"tar\", \"sh\"]\n");
  expect_verdict(run({"sandbox/a.test.ts"}), 2, "undecided", "error");
}

// A picture is data; one that is a program is read as text, and refused for what is no text in it.
TEST_P(Run, BinaryFixturesAreDataAndNeverPrograms) {
  using namespace std::string_literals;
  const auto picture = "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\xff"s;
  const auto reads = [](std::string_view statement) {
    return fmt::format(
        "import {{ expect, test }} from \"bun:test\";\nimport {{ readFileSync }} from \"node:fs\";\n"
        "test(\"reads\", () => {{ expect(readFileSync(import.meta.dir + \"/a.png\")[0]).toBe(0x89); {} }});\n",
        statement);
  };
  project_.write("sandbox/a.png", picture + "\nglobalThis.ran = true;\n");
  project_.write("sandbox/b.gif", "GIF89a\x96\0=1;\nglobalThis.ran = true;\n"s);
  project_.write("sandbox/c.gif", "GIF89a\x1\0\x1\0\xff\0=1;\nglobalThis.ran = true;\n"s);
  project_.write("sandbox/d.bin", "\nglobalThis.ran = true;\0\n"s);
  project_.write("sandbox/e.jpg", "\xff\xd8\xff\xe0\0\x10=1;\nglobalThis.ran = true;\n"s + std::string(4, '\0'));
  project_.write("sandbox/a.test.ts",
      reads("expect(() => require(\"./a.png\")).toThrow(); expect(() => require(\"./b.gif\")).toThrow(); "
            "expect(() => require(\"./c.gif\")).toThrow(); expect(() => require(\"./d.bin\")).toThrow(); "
            "expect(() => require(\"./e.jpg\")).toThrow(); expect((globalThis as any).ran).toBeUndefined();"));
  expect_verdict(run({"sandbox/a.test.ts"}), 0, "allowed", "tests_passed");
  for (const auto& program : {"GIF89a = 1;/*\0*/ globalThis.ran = true;"s, "var GIF89a;/*\0*/globalThis.ran = true;"s,
           "GIF89a:/*\0*/globalThis.ran = true;"s}) {
    project_.write("sandbox/a.png", picture);
    project_.write("sandbox/b.gif", program);
    project_.write("sandbox/a.test.ts", reads("require(\"./b.gif\");"));
    expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "findings");
  }
  // Read, cut and run as text, at run time: what it may never say is found in the picture.
  project_.write("sandbox/a.png", picture + "`;console.log(JSON.stringify(process.env))");
  project_.write("sandbox/a.test.ts", "import picture from \"./a.png\";\n" + reads("expect(picture).toBeString();"));
  expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "findings");
}

// The stored values of a test are loaded with it, by name.
TEST_P(Run, ARefusedSnapshotOfANamedTestDecides) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("sandbox/__snapshots__/a.test.ts.snap",
      "// Bun Snapshot v1, https://goo.gl/fbAQLP\nObject.entries(process.env);\n");
  project_.write("sandbox/b.test.ts", kPassing);
  expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "findings");
  expect_verdict(run({"sandbox/b.test.ts"}), 0, "allowed", "tests_passed");
}

// Whoever commits after the verdict commits what lies there then.
// What is staged is written in one go where it is small, and lies there as long as the run does.
void wait_until_all_is_staged() {
  for (int tries = 0; tries < 3000; ++tries) {
    std::error_code gone;
    for (fs::directory_iterator run(shared_cache() / "runs", gone), end; !gone && run != end; run.increment(gone)) {
      if (const auto size = fs::file_size(run->path() / "fill", gone); !gone && size > 0) return;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

TEST_P(Run, WhatChangesWhileItRunsIsNotAllowed) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"takes a while\", async () => { await Bun.sleep(1500); "
      "expect(1).toBe(1); });\n");
  for (const char* path : {"src/add.ts", "src/new.ts", "sandbox/a.test.ts", "package.json"}) {
    SCOPED_TRACE(path);
    const auto before = read_file(project_.path() / path, 1u << 20);
    std::thread meanwhile([&] {
      wait_until_all_is_staged();
      project_.write(path, "{\"name\": \"p\", \"version\": \"2.0.0\"}\n");
    });
    const auto result = run({"sandbox/a.test.ts"});
    meanwhile.join();
    expect_verdict(result, 2, "undecided", "changed_meanwhile");
    EXPECT_NE(result.document().value("message", "").find(path), std::string::npos) << result.out;
    if (before) {
      project_.write(path, *before);
    } else {
      fs::remove(project_.path() / path);
    }
  }
}

TEST_P(Run, SeveralFilesRunSideBySide) {
  for (int i = 0; i < 5; ++i) {
    project_.write(fmt::format("sandbox/{}.test.ts", i),
        fmt::format(
            "import {{ expect, test }} from \"bun:test\";\nimport {{ existsSync, writeFileSync }} from \"node:fs\";\n"
            "test(\"is alone {0}\", () => {{ expect(existsSync(\"/app/sandbox/mark\")).toBe(false); "
            "writeFileSync(\"/app/sandbox/mark\", \"{0}\"); console.log(\"file {0}\"); }});\n"
            "test(\"second\", () => {{ expect(1).toBe(1); }});\n",
            i));
  }
  const std::vector<std::string> files = {
      "sandbox/0.test.ts", "sandbox/1.test.ts", "sandbox/2.test.ts", "sandbox/3.test.ts", "sandbox/4.test.ts"};
  // One after another in the same sandbox, each finds it as the first one did; only in one process do they share it.
  const auto alone = run(files);
  expect_verdict(alone, 0, "allowed", "tests_passed");
  EXPECT_EQ(alone.document()["exec"]["attested"]["ran"], 10);
  std::vector<std::string> words = {"run", "--format", "json", "--backend", GetParam()};
  words.insert(words.end(), files.begin(), files.end());
  const auto shared = project_.guard(words, {{"GUARD_RUN_ISOLATION", "run"}});
  expect_verdict(shared, 1, "rejected", "tests_failed");
  EXPECT_NE(shared.document()["relaxations"].dump().find("run.isolation"), std::string::npos);
  const auto result = run(files, {"--jobs", "3"});
  expect_verdict(result, 0, "allowed", "tests_passed");
  const auto document = result.document();
  EXPECT_EQ(document["jobs"], 3);
  EXPECT_EQ(document["tests"]["passed"], 10);
  EXPECT_EQ(document["tests"]["files"], 5);
  EXPECT_EQ(document["exec"]["attested"]["ran"], 10);
  std::size_t at = 0;
  for (int i = 0; i < 5; ++i) {  // in order, whoever was first
    at = result.err.find(fmt::format("file {}\n", i), at);
    ASSERT_NE(at, std::string::npos) << result.err;
  }
  std::error_code none;
  EXPECT_TRUE(fs::is_empty(shared_cache() / "runs", none));
}

TEST_P(Run, OneOfSeveralDecides) {
  project_.configure("trust_namespace = true\n");
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write(
      "sandbox/b.test.ts", "import { test } from \"bun:test\";\ntest(\"leaves\", () => { process.exit(0); });\n");
  expect_verdict(run({"sandbox/a.test.ts", "sandbox/b.test.ts"}, {"--jobs", "2"}), 2, "undecided", "report_missing");
  project_.write("sandbox/c.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", () => { expect(1).toBe(2); });\n");
  const auto result = run({"sandbox/a.test.ts", "sandbox/b.test.ts", "sandbox/c.test.ts"}, {"--jobs", "2"});
  expect_verdict(result, 1, "rejected", "tests_failed");
  EXPECT_NE(result.document().value("message", "").find("sandbox/c.test.ts"), std::string::npos) << result.out;
  expect_verdict(
      run({"sandbox/a.test.ts", "sandbox/c.test.ts"}, {"--jobs", "2", "--collect", "all"}), 2, "undecided", "error");
}

TEST_P(Run, NamesEveryFileThatIsNotAllowed) {
  project_.write("sandbox/a.test.ts", kPassing);
  for (const char name : {'b', 'c'})
    project_.write(
        fmt::format("sandbox/{}.test.ts", name), "import { test } from \"bun:test\";\ntest(\"idle\", () => {});\n");
  project_.write("sandbox/d.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"wrong\", () => { expect(1).toBe(2); });\n");
  project_.write("sandbox/e.test.ts", "export {};\n");
  const auto result = run({"sandbox/"});
  expect_verdict(result, 1, "rejected", "nothing_asserted");
  const std::string message = result.document().value("message", "");
  EXPECT_NE(message.find("sandbox/b.test.ts: no assertion"), std::string::npos) << message;
  EXPECT_NE(message.find("; also nothing_asserted: sandbox/c.test.ts"), std::string::npos) << message;
  EXPECT_NE(message.find("; tests_failed: sandbox/d.test.ts"), std::string::npos) << message;
  EXPECT_NE(message.find("; no_tests: sandbox/e.test.ts"), std::string::npos) << message;
  EXPECT_EQ(message.find("sandbox/a.test.ts"), std::string::npos) << message;
  EXPECT_NE(result.document().value("next", "").find("require_assertions = \"off\""), std::string::npos) << result.out;
}

TEST_P(Run, LinkInSandboxIsRefusedWhereATestLoadsIt) {
  project_.write("sandbox/a.test.ts",
      "import data from \"./data.txt\";\n" + std::string(kPassing) + "export const read = data;\n");
  ASSERT_EQ(::symlink("/etc/passwd", (project_.path() / "sandbox/data.txt").c_str()), 0);
  expect_verdict(run({"sandbox/a.test.ts"}), 1, "rejected", "findings");
}

TEST_P(Run, ShellCharactersInANameAreOnlyAName) {
  project_.write("sandbox/$(touch x).test.ts", kPassing);
  expect_verdict(run({"sandbox/$(touch x).test.ts"}), 0, "allowed", "tests_passed");
  EXPECT_FALSE(fs::exists(project_.path() / "x"));
  project_.write("sandbox/[id] * ; -x.test.ts", kPassing);
  expect_verdict(run({"sandbox/[id] * ; -x.test.ts"}), 0, "allowed", "tests_passed");
}

TEST_P(Run, LeavesNoRunFolderBehind) {
  project_.write("sandbox/a.test.ts", kPassing);
  run({"sandbox/a.test.ts"});
  std::error_code none;
  EXPECT_TRUE(fs::is_empty(shared_cache() / "runs", none));
}

TEST_P(Run, MissingImageIsUnavailableWithTheCommandThatBuildsIt) {
  project_.write("sandbox/a.test.ts", kPassing);
  project_.write("package.json", "{\"name\":\"never-built\",\"private\":true}\n");
  const auto result = project_.guard({"run", "--format", "json", "--backend", GetParam(), "sandbox/a.test.ts"});
  expect_verdict(result, 3, "unavailable", "no_environment");
  EXPECT_EQ(result.document()["error"]["code"], "IMAGE_MISSING");
  EXPECT_NE(result.out.find("guard image build"), std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Run, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

// The first to make root's cache folder may have been somebody with umask 077; the sandbox runs as another user and has
// to walk through it.
TEST(RunAsRoot, WorksWhereTheCacheFolderWasClosedToOthers) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  if (::geteuid() != 0) GTEST_SKIP() << "only root's sandbox runs as another user";
  Project project;
  project.write("sandbox/a.test.ts", kPassing);
  const auto parent = TempDir::create();
  ASSERT_TRUE(parent);
  ASSERT_EQ(::chmod(parent->path().c_str(), 0755), 0);
  const std::string cache = (parent->path() / "cache").string();
  ASSERT_EQ(::mkdir(cache.c_str(), 0700), 0);
  ASSERT_EQ(project.guard({"image", "build", "--root-folder"}, {{"GUARD_CACHE_DIR", cache}}).exit_status, 0);
  const auto result = project.guard(
      {"run", "--format", "json", "--backend", "namespace", "sandbox/a.test.ts"}, {{"GUARD_CACHE_DIR", cache}});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
}

// The embedded sandbox works for an ordinary user as well as for root.
TEST(RunAsOrdinaryUser, AllowsHonestTestsInTheNamespace) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  if (::geteuid() != 0) GTEST_SKIP() << "already an ordinary user: the other tests show it";
  Project project;
  project.write("sandbox/a.test.ts", kPassing);
  const auto cache = TempDir::create();
  ASSERT_TRUE(cache);
  ASSERT_EQ(::chown(cache->path().c_str(), 1000, 1000), 0);
  ProgramCall call;
  call.ordinary_user = true;
  call.environment = {{"GUARD_CACHE_DIR", cache->path().string()}, {"HOME", cache->path().string()}};
  call.arguments = {"image", "build", "--root-folder"};
  const auto built = project.guard(call);
  ASSERT_EQ(built.exit_status, 0) << built.err;
  call.arguments = {"run", "--format", "json", "--backend", "namespace", "sandbox/a.test.ts"};
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_EQ(result.document()["exec"]["seen_inside"]["uid"], "1000");
}

TEST(RunOptions, AnImageIsOfContainersAlone) {
  const Project project;
  for (const char* verb : {"run", "exec"}) {
    for (const char* backend : {"namespace", "host", "container-use"}) {
      const auto result = project.guard({verb, "--image", "x:1", "--backend", backend, "--", "true"});
      EXPECT_EQ(result.exit_status, 64) << result.err;
      EXPECT_NE(result.err.find("--image is of containers"), std::string::npos) << result.err;
    }
  }
}

TEST(RunOptions, AnImageThatHasNoUseIsTold) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  Project project;
  project.build_image("namespace");
  const auto result =
      project.guard({"exec", "--image", "x:1", "--", "bun", "--version"}, {{"GUARD_BACKEND", "namespace"}});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE((result.out + result.err).find("docker.image = x:1 is not used by the embedded sandbox"), std::string::npos)
      << result.out << result.err;
}

// Not on the host either, whatever may take over: who writes guard.toml does not choose that.
TEST(RunOptions, ARolloutOfNothingRunsNothing) {
  Project project;
  project.write("sandbox/a.test.ts", kPassing);
  for (const auto& [variable, value] : {std::pair("GUARD_ROLLOUT_PERCENT", "0"), {"GUARD_ROLLOUT_ENABLED", "false"}}) {
    for (const char* fallback : {"namespace", "host"}) {
      const auto result = project.guard(
          {"run", "--format", "json", "sandbox/a.test.ts"}, {{variable, value}, {"GUARD_FALLBACK", fallback}});
      EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
      EXPECT_EQ(result.document()["error"]["code"], "ENVIRONMENT_UNAVAILABLE") << result.out;
    }
    const auto doctor = project.guard({"doctor", "--format", "json"}, {{variable, value}}).document();
    EXPECT_EQ(doctor["ready"], false);
    EXPECT_EQ(doctor["would_run"]["backend"], nullptr) << doctor;
    EXPECT_NE(doctor["would_run"]["why"].get<std::string>().find("rollout."), std::string::npos) << doctor;
    // Whatever engine is there: no sandbox makes up for what only the host tier forbids.
    project.write(
        "sandbox/spawns.test.ts", "import { test } from 'bun:test';\ntest('a', () => { Bun.spawnSync(['ls']); });\n");
    const auto checked = project.guard({"check", "--mode", "auto", "--format", "json", "sandbox/spawns.test.ts"},
        {{variable, value}, {"GUARD_FALLBACK", "namespace"}});
    EXPECT_EQ(checked.exit_status, 3) << checked.out << checked.err;
  }
}

}  // namespace
}  // namespace guard::testing
