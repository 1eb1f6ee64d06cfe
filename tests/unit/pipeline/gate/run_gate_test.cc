// What a refused file does to a run: it decides where the run names or loads it, and else is left out.
#include "pipeline/gate/run_gate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "common/file_io.h"
#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class RunGateTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_.emplace(TempDir::create().value());
    write("package.json", "{}\n");
  }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((folder_->path() / path).parent_path());
    ASSERT_TRUE(write_file_atomically(folder_->path() / path, text, 0644));
  }

  void add(const std::string& path, const std::string& text) {
    write(path, text);
    files_.files.push_back({path, text});
  }

  RunGate judge(const std::vector<std::string>& named, std::string_view mode = "docker") {
    const SecretSource secrets = SecretSource::shipped().value();
    GateRequest request;
    request.rules = &RuleSet::shipped();
    request.matcher = &shipped_matcher();
    request.config = &config_;
    request.secrets = [&]() -> Result<const SecretSource*> { return &secrets; };
    request.project = folder_->path();
    std::sort(files_.files.begin(), files_.files.end(),
        [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
    RunGate judged = gate_run(request, files_, named, mode);
    kept_.clear();
    for (const auto& file : files_.files) kept_.push_back(file.path);
    left_out_.clear();
    for (const auto& finding : judged.left_out) left_out_.push_back(finding.path);
    return judged;
  }

  std::optional<TempDir> folder_;
  Config config_;
  SourceFiles files_;
  std::vector<std::string> kept_;
  std::vector<std::string> left_out_;
};

constexpr const char* kDump = "export const all = () => Object.entries(process.env);\n";
constexpr const char* kTest =
    "import { expect, test } from \"bun:test\";\ntest(\"a\", () => { expect(1).toBe(1); });\n";

TEST_F(RunGateTest, LeavesNothingOutOfAnHonestTree) {
  add("sandbox/a.test.ts", kTest);
  add("sandbox/helper.ts", "export const one = 1;\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.kind(), VerdictKind::allowed);
  EXPECT_THAT(kept_, ElementsAre("sandbox/a.test.ts", "sandbox/helper.ts"));
  EXPECT_THAT(left_out_, IsEmpty());
}

// All ways by which bun loads a file that a test names.
TEST_F(RunGateTest, WhatTheNamedLoadDecides) {
  for (const char* load : {"import \"./bad\";", "import \"./bad.ts\";", "import \"./bad.js\";", "require(\"./bad\");",
           "await import(\"./bad\");", "export * from \"./bad\";", "mock.module(\"./bad\", () => ({}));",
           "new Worker(new URL(\"./bad.ts\", import.meta.url));", "await import(\"./b\" + \"ad\");",
           "const name = \"./bad\"; await import(name);", "require(require.resolve(\"./bad\"));",
           "await import(`./${process.argv[2]}`);", "import \"./between\";"}) {
    files_ = {};
    add("sandbox/a.test.ts", std::string(load) + "\n" + kTest);
    add("sandbox/bad.ts", kDump);
    add("sandbox/between.ts", "export * from \"./bad\";\n");
    EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings) << load;
    EXPECT_THAT(left_out_, IsEmpty()) << load;
  }
}

// The file that a name meant when it was judged must be the one that it means when it runs.
TEST_F(RunGateTest, ACleanFileDoesNotTakeTheNameOfARefusedOne) {
  add("sandbox/a.test.ts", std::string("import \"./helper\";\n") + kTest);
  add("sandbox/helper.ts", kDump);
  add("sandbox/helper.js", "export const all = () => 1;\n");
  add("sandbox/helper/index.ts", "export const all = () => 2;\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings);
}

// The finding stands where the parts meet first. Without that file they may meet in another one.
TEST_F(RunGateTest, JudgesAgainWhatIsLeft) {
  const char* reads = "export const token = process.env.SERVICE_TOKEN;\n";
  const char* prints = "export const show = (text: unknown) => console.log(text);\n";
  add("sandbox/a.test.ts", kTest);
  add("sandbox/reads.ts", reads);
  add("sandbox/prints.ts", prints);
  add("sandbox/meet.ts", "export * from \"./reads\";\nexport * from \"./prints\";\n");
  add("sandbox/later.ts", "export * from \"./meet\";\nexport * from \"./reads\";\nexport * from \"./prints\";\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.kind(), VerdictKind::allowed);
  EXPECT_THAT(left_out_, ElementsAre("sandbox/later.ts", "sandbox/meet.ts"));
  EXPECT_THAT(kept_, ElementsAre("sandbox/a.test.ts", "sandbox/prints.ts", "sandbox/reads.ts"));
}

// A manifest that is not there for the run must not say what a name means either.
TEST_F(RunGateTest, ARefusedManifestNamesNoFiles) {
  write("package.json", "{\"name\": \"whole\"}\n");
  add("sandbox/a.test.ts", std::string("import { show } from \"whole\";\nshow(process.env.SERVICE_TOKEN);\n") + kTest);
  add("sandbox/prints.ts", "export const show = (text: unknown) => console.log(text);\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings);
  add("sandbox/deep/package.json", "{\"name\": \"whole\", \"main\": \"./harmless.ts\"}\n");
  add("sandbox/deep/harmless.ts", "export const one = 1;\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings);
  EXPECT_THAT(left_out_, ElementsAre("sandbox/deep/package.json"));
}

// However long the chain is, what is staged was judged as it is staged.
TEST_F(RunGateTest, GivesUpOnAChainOfMeetings) {
  add("sandbox/a.test.ts", kTest);
  add("sandbox/reads.ts", "export const token = process.env.SERVICE_TOKEN;\n");
  add("sandbox/prints.ts", "export const show = (text: unknown) => console.log(text);\n");
  add("sandbox/m0.ts", "export * from \"./reads\";\nexport * from \"./prints\";\n");
  for (int i = 1; i < 30; ++i)
    add("sandbox/m" + std::to_string(i) + ".ts",
        "export * from \"./m" + std::to_string(i - 1) +
            "\";\nexport * from \"./reads\";\nexport * from \"./prints\";\n");
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings);
}

TEST_F(RunGateTest, JudgesByTheModeOfTheRun) {
  add("sandbox/a.test.ts", kTest);
  add("sandbox/spawns.ts",
      "import { execSync } from \"node:child_process\";\nexport const list = () => execSync(\"ls\");\n");
  judge({"sandbox/a.test.ts"}, "docker");
  EXPECT_THAT(left_out_, IsEmpty());
  judge({"sandbox/a.test.ts"}, "host");
  EXPECT_THAT(left_out_, ElementsAre("sandbox/spawns.ts"));
}

// Links, devices and files over the limit were not read; where they are named they decide.
TEST_F(RunGateTest, WhatCouldNotBeReadDecidesOnlyWhereItIsLoaded) {
  Finding link;
  link.rule = "side_file.symbolic_link";
  link.tier = FindingTier::side_file;
  link.path = "sandbox/data.json";
  add("sandbox/a.test.ts", kTest);
  files_.findings = {link};
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.kind(), VerdictKind::allowed);
  EXPECT_THAT(left_out_, ElementsAre("sandbox/data.json"));
  EXPECT_THAT(files_.findings, IsEmpty());
  files_ = {};
  files_.findings = {link};
  add("sandbox/a.test.ts", std::string("import data from \"./data.json\";\n") + kTest);
  EXPECT_EQ(judge({"sandbox/a.test.ts"}).check.verdict.reason, Reason::findings);
}

}  // namespace
}  // namespace guard
