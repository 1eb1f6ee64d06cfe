// Which files of a run come back, and what becomes of its verdict.
#include "pipeline/run/collected_files.h"
#include "pipeline/report/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>

#include "common/file_io.h"
#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

const std::string kKnownValue = "hunter2-hunter2-hunter2";

class CollectedFiles : public ::testing::Test {
 protected:
  void SetUp() override {
    auto made = TempDir::create();
    ASSERT_TRUE(made);
    folder_.emplace(std::move(*made));
    fs::create_directories(sandbox());
    record_.verdict = Verdict{Reason::tests_passed, "1 tests passed in 1 file"};
    record_.check.emplace();
  }

  fs::path sandbox() const { return folder_->path() / "sandbox"; }

  Result<void> bring(CollectPolicy policy, std::vector<CollectedFile> files, std::vector<SourceFile> checked = {}) {
    auto secrets = SecretSource::shipped({{"PASSWORD", kKnownValue}});
    EXPECT_TRUE(secrets);
    GateRequest gate;
    gate.rules = rules_;
    gate.matcher = matcher_;
    gate.config = &config_;
    gate.secrets = [&]() -> Result<const SecretSource*> { return &*secrets; };
    gate.keep_names = true;
    auto target = TargetFolder::open(sandbox());
    EXPECT_TRUE(target);
    Collection written;
    written.files = std::move(files);
    written.left_behind = {{"pipe", LeftBehindReason::special_file}};
    written.left_behind_count = 7;
    BringBackRequest request{policy, &gate, &*secrets, &*target, "sandbox", "docker"};
    return bring_back(request, {std::move(checked), {}}, std::move(written), record_);
  }

  std::map<std::string, std::string> reasons() const {
    std::map<std::string, std::string> told;
    for (const auto& entry : record_.collected->left_behind) told[entry.path] = to_string(entry.reason);
    return told;
  }

  std::vector<std::string> on_disk() const {
    std::vector<std::string> found;
    for (const auto& entry : fs::recursive_directory_iterator(sandbox())) {
      if (entry.is_regular_file()) found.push_back(entry.path().lexically_relative(sandbox()));
    }
    std::sort(found.begin(), found.end());
    return found;
  }

  Config config_;
  RunRecord record_;
  const RuleSet* rules_ = &test_rules();
  const Matcher* matcher_ = &test_matcher();

 private:
  std::optional<TempDir> folder_;
};

using Names = std::vector<std::string>;
using Told = std::map<std::string, std::string>;

TEST_F(CollectedFiles, BringsBackWhatPassesAndSaysSo) {
  ASSERT_TRUE(bring(CollectPolicy::all, {{"out/a.json", "{}\n"}, {"new.test.ts", "test(\"x\", () => {});\n"}}));
  EXPECT_EQ(record_.verdict.reason, Reason::tests_passed);
  EXPECT_EQ(on_disk(), (Names{"new.test.ts", "out/a.json"}));
  ASSERT_EQ(record_.collected->files.size(), 2u);
  EXPECT_EQ(record_.collected->files[0].path, "sandbox/out/a.json");
  EXPECT_EQ(record_.collected->files[0].bytes, 3u);
  EXPECT_EQ(record_.collected->files[0].sha256, "ca3d163bab055381827226140568f3bef7eaac187cebd76878e0b63e9e442356");
  EXPECT_EQ(record_.collected->left_behind_count, 7u);
  EXPECT_EQ(record_.check->report.files, 2u);
  EXPECT_THAT(
      record_.relaxations, ::testing::Contains(HasSubstr("sandbox/new.test.ts came back, a test that has not run")));
  EXPECT_THAT(run_document(record_), HasSubstr("\"sandbox/out/a.json\""));
  const std::string text = run_text(record_, Colour::off);
  EXPECT_THAT(text, HasSubstr("collected: sandbox/out/a.json"));
  EXPECT_THAT(text, HasSubstr("not collected: sandbox/pipe (special_file)\nnot collected: 6 more\n"));
}

TEST_F(CollectedFiles, NothingComesBackUnasked) {
  ASSERT_TRUE(bring(CollectPolicy::none, {{"a", "x"}}));
  EXPECT_EQ(on_disk(), Names{});
  EXPECT_EQ(reasons(), (Told{{"sandbox/a", "not_asked"}, {"sandbox/pipe", "special_file"}}));
  EXPECT_EQ(record_.collected->left_behind_count, 8u);
  EXPECT_EQ(record_.verdict.reason, Reason::tests_passed);
}

TEST_F(CollectedFiles, OnlyAnAllowedRunBringsAnythingBack) {
  for (const Reason reason :
      {Reason::tests_failed, Reason::report_missing, Reason::sandbox_unproved, Reason::no_environment}) {
    record_ = RunRecord{};
    record_.verdict = Verdict{reason, {}};
    ASSERT_TRUE(bring(CollectPolicy::all, {{"a", "x"}}));
    EXPECT_EQ(on_disk(), Names{});
    EXPECT_EQ(reasons()["sandbox/a"], "not_allowed");
    EXPECT_EQ(record_.verdict.reason, reason);
  }
}

TEST_F(CollectedFiles, ListedBringsBackWhatTheConfigurationNames) {
  config_.run.collect_paths = {"sandbox/out/**", "sandbox/*.snap"};
  ASSERT_TRUE(
      bring(CollectPolicy::listed, {{"out/deep/a", "x"}, {"b.snap", "x"}, {"c/d.snap", "x"}, {"bunfig.toml", "x"}}));
  EXPECT_EQ(on_disk(), (Names{"b.snap", "out/deep/a"}));
  EXPECT_EQ(reasons(),
      (Told{{"sandbox/c/d.snap", "not_listed"}, {"sandbox/bunfig.toml", "not_listed"},
          {"sandbox/pipe", "special_file"}}));
}

// One of them would take the other's place where file systems fold case.
TEST_F(CollectedFiles, NamesThatDifferInCaseAloneBothStayBehind) {
  ASSERT_TRUE(bring(CollectPolicy::all, {{"out/a.txt", "x"}, {"Out/A.txt", "y"}, {"out/b.txt", "z"}}));
  EXPECT_EQ(on_disk(), Names{"out/b.txt"});
  EXPECT_EQ(reasons(),
      (Told{{"sandbox/Out/A.txt", "kept_out"}, {"sandbox/out/a.txt", "kept_out"}, {"sandbox/pipe", "special_file"}}));
}

TEST_F(CollectedFiles, AFindingRejectsTheRunAndKeepsEverythingOut) {
  ASSERT_TRUE(bring(CollectPolicy::all, {{"bad.test.ts", "JSON.stringify(process.env);\n"}, {"good.txt", "x"}}));
  EXPECT_EQ(record_.verdict.reason, Reason::findings);
  EXPECT_EQ(on_disk(), Names{});
  EXPECT_EQ(reasons(),
      (Told{
          {"sandbox/bad.test.ts", "finding"}, {"sandbox/good.txt", "not_allowed"}, {"sandbox/pipe", "special_file"}}));
  ASSERT_NE(find(*record_.check, "always.env_dump"), nullptr);
  EXPECT_EQ(find(*record_.check, "always.env_dump")->path, "sandbox/bad.test.ts");
}

// Names that change what runs are findings; names that change what editors and agents do stay behind.
TEST_F(CollectedFiles, NamesThatNeverComeBack) {
  for (const char* name : {"bunfig.toml", "package.json", "deep/tsconfig.json", ".env", ".env.local", ".npmrc",
           "node_modules/x/index.js", ".git/config", "addon.node", "x.wasm", "lib.so", "BunFig.toml"}) {
    record_ = RunRecord{};
    record_.verdict = Verdict{Reason::tests_passed, {}};
    ASSERT_TRUE(bring(CollectPolicy::all, {{name, "x"}}));
    EXPECT_EQ(record_.verdict.reason, Reason::findings) << name;
    EXPECT_EQ(reasons()[std::string("sandbox/") + name], "finding") << name;
  }
  for (const char* name : {".vscode/settings.json", ".claude/settings.json", ".cursorrules", ".gitignore",
           "a/.hidden/b", "CLAUDE.md", "a/Agents.md", "gemini.md", "AGENTS.override.md", "eslint.config.js",
           "vite.config.ts", "Makefile", "a/conftest.py", "lefthook.yml", "mcp.json", "x.code-workspace", "-rf",
           "--help", "$(id)", "a;b", "CLAUDE.md ", "pac\u212aage.json", "t\u017fconfig.json", "a/b.",
           "bunfig.toml::$DATA", "aux.ts", "a/COM1.txt", "nul/a", "binding.gyp", "turbo.json", "CMakeLists.txt"}) {
    record_ = RunRecord{};
    record_.verdict = Verdict{Reason::tests_passed, {}};
    ASSERT_TRUE(bring(CollectPolicy::all, {{name, "x"}}));
    EXPECT_EQ(record_.verdict.reason, Reason::tests_passed) << name;
    EXPECT_EQ(reasons()[std::string("sandbox/") + name], "kept_out") << name;
  }
  EXPECT_EQ(on_disk(), Names{});
}

// One file reads a variable, the other prints: neither is a finding alone.
TEST_F(CollectedFiles, AreJudgedTogetherWithTheFilesThatRan) {
  rules_ = &RuleSet::shipped();
  matcher_ = &shipped_matcher();
  const SourceFile ran = {"sandbox/a.test.ts", "export const token = process.env.DEPLOY_TOKEN;\n"};
  ASSERT_TRUE(
      bring(CollectPolicy::all, {{"b.ts", "import { token } from \"./a.test\";\nconsole.log(token);\n"}}, {ran}));
  EXPECT_EQ(record_.verdict.reason, Reason::findings);
  EXPECT_EQ(on_disk(), Names{});
  record_ = RunRecord{};
  record_.verdict = Verdict{Reason::tests_passed, {}};
  ASSERT_TRUE(bring(CollectPolicy::all, {{"b.ts", "console.log(1);\n"}}));
  EXPECT_EQ(record_.verdict.reason, Reason::tests_passed);
}

TEST_F(CollectedFiles, NoSecretComesBack) {
  ASSERT_TRUE(
      bring(CollectPolicy::all, {{"a.txt", "password: " + kKnownValue}, {"b.txt", "harmless"}, {kKnownValue, "x"}}));
  EXPECT_EQ(on_disk(), Names{"b.txt"});
  EXPECT_EQ(reasons()["sandbox/a.txt"], "secret");
  EXPECT_EQ(reasons()["sandbox/" + kKnownValue], "secret");  // masked with the rest of the record
  EXPECT_EQ(record_.verdict.reason, Reason::tests_passed);
}

TEST_F(CollectedFiles, WhatIsThereStays) {
  std::ofstream(sandbox() / "a.txt") << "the person's";
  ASSERT_TRUE(bring(CollectPolicy::all, {{"a.txt", "x"}, {"b.txt", "x"}}));
  std::ostringstream text;
  text << std::ifstream(sandbox() / "a.txt").rdbuf();
  EXPECT_EQ(text.str(), "the person's");
  EXPECT_EQ(reasons()["sandbox/a.txt"], "exists");
  ASSERT_EQ(record_.collected->files.size(), 1u);
  EXPECT_EQ(record_.collected->files[0].path, "sandbox/b.txt");
}

TEST_F(CollectedFiles, WhatCannotBeWrittenIsAnErrorAndToldToBeMissing) {
  fs::create_directory_symlink(sandbox(), sandbox() / "link");
  const auto done = bring(CollectPolicy::all, {{"a.txt", "x"}, {"link/b.txt", "x"}});
  ASSERT_FALSE(done);
  EXPECT_NE(verdict_of(done.error()).kind(), VerdictKind::allowed);
  EXPECT_EQ(on_disk(), Names{});
  EXPECT_TRUE(record_.collected->files.empty());
  EXPECT_EQ(reasons(),
      (Told{
          {"sandbox/a.txt", "not_written"}, {"sandbox/link/b.txt", "not_written"}, {"sandbox/pipe", "special_file"}}));
}

TEST_F(CollectedFiles, PathsAreMaskedInTheRecord) {
  ASSERT_TRUE(bring(CollectPolicy::none, {{kKnownValue, "x"}}));
  auto secrets = SecretSource::shipped({{"PASSWORD", kKnownValue}});
  ASSERT_TRUE(secrets);
  mask_record(*secrets, record_);
  EXPECT_THAT(run_document(record_), ::testing::Not(HasSubstr(kKnownValue)));
}

}  // namespace
}  // namespace guard
