// `guard check` and its kin through the binary: exit status, both streams, hostile input.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kHonest =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";
constexpr std::string_view kDump = "console.log(JSON.stringify(process.env));\n";

TEST(Check, HonestFilePasses) {
  Project project;
  project.write("sandbox/a.test.ts", kHonest);
  const auto result = project.guard({"check", "sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("verdict: allowed"), std::string::npos);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos) << "colour in a pipe";
}

TEST(Check, FindingComesWithPlaceExcerptCaretAndNextStep) {
  Project project;
  project.write("sandbox/a.test.ts", std::string("// a comment\n") + std::string(kDump));
  const auto result = project.guard({"check", "sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("sandbox/a.test.ts:2:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("^"), std::string::npos);
  EXPECT_NE(result.out.find("instead:"), std::string::npos);
}

TEST(Check, DocumentHasEveryKeyOfTheContract) {
  Project project;
  project.write("sandbox/a.test.ts", kDump);
  const auto result = project.guard({"check", "--format", "json", "sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 1);
  const auto document = result.document();
  for (const char* key : {"version", "verdict", "mode", "tiers", "files", "bytes", "findings"})
    EXPECT_TRUE(document.contains(key)) << key;
  ASSERT_FALSE(document["findings"].empty());
  for (const char* key : {"rule", "tier", "severity", "path", "line", "column", "excerpt", "message", "fix"}) {
    EXPECT_TRUE(document["findings"][0].contains(key)) << key;
  }
  EXPECT_EQ(document["findings"][0]["path"], "sandbox/a.test.ts");
}

TEST(Check, ReadsStandardInput) {
  Project project;
  ProgramCall call;
  call.arguments = {"check", "-", "--stdin-name", "piped.test.ts"};
  call.stdin_text = kDump;
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("piped.test.ts:1:"), std::string::npos) << result.out;
}

TEST(Check, HostTierDependsOnTheMode) {
  Project project;
  project.write("sandbox/a.test.ts", "import { rmSync } from \"node:fs\";\nrmSync(\"/tmp/x\");\n");
  EXPECT_EQ(project.guard({"check", "--mode", "host", "sandbox/a.test.ts"}).exit_status, 1);
  EXPECT_EQ(project.guard({"check", "--mode", "docker", "sandbox/a.test.ts"}).exit_status, 0);
}

// Only then does the engine matter, and one that cannot be reached is no reason to guess.
TEST(Check, AutoModeIsUnavailableWhereTheEngineDecidesAndCannotBeReached) {
  Project project;
  project.write("sandbox/a.test.ts", "import { rmSync } from \"node:fs\";\nrmSync(\"/tmp/x\");\n");
  const auto result =
      project.guard({"check", "sandbox/a.test.ts"}, {{"DOCKER_HOST", "unix:///nonexistent/engine.sock"}});
  EXPECT_EQ(result.exit_status, 3) << result.out << result.err;
  project.write("sandbox/a.test.ts", kHonest);
  EXPECT_EQ(
      project.guard({"check", "sandbox/a.test.ts"}, {{"DOCKER_HOST", "unix:///nonexistent/engine.sock"}}).exit_status,
      0);
}

TEST(Check, NothingToLookAtIsNoPass) {
  Project project;
  EXPECT_EQ(project.guard({"check", "sandbox"}).exit_status, 2);
  EXPECT_EQ(project.guard({"check", "--allow-empty", "sandbox"}).exit_status, 0);
  EXPECT_EQ(project.guard({"check", "missing.test.ts"}).exit_status, 2);
}

TEST(Check, UnreadableFileIsUndecided) {
  Project project;
  project.write("sandbox/a.test.ts", kHonest);
  ASSERT_EQ(::chmod((project.path() / "sandbox/a.test.ts").c_str(), 0000), 0);
  ProgramCall call;
  call.arguments = {"check", "sandbox/a.test.ts"};
  call.ordinary_user = ::geteuid() == 0;  // root reads everything
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
  EXPECT_NE((result.out + result.err).find("IO_ERROR"), std::string::npos) << result.out << result.err;
}

TEST(Check, BinaryFileIsAFindingNotASkip) {
  Project project;
  project.write("sandbox/a.test.ts",
      std::string("\x7f"
                  "ELF\0\0\xff\xfe",
          8));
  EXPECT_EQ(project.guard({"check", "sandbox/a.test.ts"}).exit_status, 1);
}

TEST(Check, LinkIsAFindingAndIsNotFollowed) {
  Project project;
  ASSERT_EQ(::symlink("/etc/passwd", (project.path() / "sandbox/a.test.ts").c_str()), 0);
  const auto result = project.guard({"check", "sandbox"});
  EXPECT_EQ(result.exit_status, 1) << result.out;
  EXPECT_EQ(result.out.find("root:"), std::string::npos);
  EXPECT_EQ(project.guard({"check", "sandbox/a.test.ts"}).exit_status, 1);
}

TEST(Check, PlantedSideFilesAreFindings) {
  for (const char* name : {"sandbox/bunfig.toml", "sandbox/package.json", "sandbox/.env.local", "sandbox/x.node",
           "sandbox/node_modules/x/index.js"}) {
    Project project;
    project.write("sandbox/a.test.ts", kHonest);
    project.write(name, "x = 1\n");
    EXPECT_EQ(project.guard({"check", "sandbox"}).exit_status, 1) << name;
  }
}

// Where guard is started, and where its configuration lies, must not change what is looked at.
TEST(Check, LooksAtTheSameFilesFromEverywhere) {
  Project project;
  project.write("sandbox/a.test.ts", kHonest);
  project.write("sandbox/bunfig.toml", "[test]\npreload = [\"./x.ts\"]\n");
  project.write("elsewhere/guard.toml", "");
  const std::string sandbox = (project.path() / "sandbox").string();
  const std::pair<std::filesystem::path, std::vector<std::string>> calls[] = {
      {project.path(), {"check", "sandbox"}},
      {project.path() / "sandbox", {"check", "."}},
      {project.path() / "src", {"check", "../sandbox"}},
      {"/", {"check", sandbox}},
      {project.path(), {"check", "--config", "elsewhere/guard.toml", "sandbox"}},
      {project.path(), {"check"}},
  };
  for (const auto& [folder, arguments] : calls) {
    ProgramCall call;
    call.folder = folder;
    call.arguments = arguments;
    EXPECT_EQ(project.guard(call).exit_status, 1) << folder << " " << ::testing::PrintToString(arguments);
  }
}

TEST(Check, OwnRulesDoNotSwitchTheFixedTiersOff) {
  Project project;
  project.write("sandbox/a.test.ts", kDump);
  project.write("rules/own.toml",
      "[[rule]]\nid = \"docker.own\"\ntier = \"docker\"\ntitle = \"t\"\nwhy = \"w\"\nfix = \"f\"\n"
      "patterns = [ { regex = 'never_seen', views = [\"raw\"] } ]\nmatch = [\"never_seen\"]\nno_match = [\"y\"]\n");
  const auto result = project.guard({"check", "--rules", "rules", "sandbox"});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
}

TEST(Check, SecretsInNamesAndErrorsAreMasked) {
  Project project;
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + std::string(60, 'Q') + "x7";
  project.write("sandbox/" + secret + ".test.ts", kDump);
  for (const char* format : {"text", "json"}) {
    const auto result = project.guard({"check", "--format", format, "sandbox"});
    EXPECT_EQ(result.exit_status, 1);
    EXPECT_EQ((result.out + result.err).find("QQQQQQQQ"), std::string::npos) << result.out << result.err;
  }
  const auto missing = project.guard({"check", secret + ".missing.ts"});
  EXPECT_EQ(missing.exit_status, 2);
  EXPECT_EQ((missing.out + missing.err).find("QQQQQQQQ"), std::string::npos) << missing.err;
}

TEST(Check, HostileNamesReachTheTerminalOnlyAsText) {
  Project project;
  project.write("sandbox/\x1b]0;owned\x07.test.ts", kDump);
  const auto result = project.guard({"check", "sandbox"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
  EXPECT_EQ(result.out.find('\x07'), std::string::npos);
}

TEST(Check, SecretsInExcerptsAreMaskedInEveryFormat) {
  Project project;
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + [] {
    std::string body;
    for (int i = 0; i < 31; ++i) body += "Qm7";
    return body;
  }();
  project.write("sandbox/a.test.ts", "const key = \"" + secret + "\";\n");
  for (const char* format : {"text", "json"}) {
    const auto result = project.guard({"check", "--format", format, "sandbox/a.test.ts"});
    EXPECT_EQ(result.exit_status, 1) << format;
    EXPECT_EQ((result.out + result.err).find("Qm7Qm7"), std::string::npos) << result.out;
  }
}

TEST(Check, StdoutThatCannotBeWrittenIsNoPass) {
  Project project;
  project.write("sandbox/a.test.ts", kHonest);
  const int status = std::system(
      ("cd '" + project.path().string() + "' && '" GUARD_PROGRAM "' check sandbox/a.test.ts > /dev/full 2>/dev/null")
          .c_str());
  EXPECT_EQ(WEXITSTATUS(status), 2);
}

TEST(Rules, ShippedRulesProveThemselves) {
  Project project;
  const auto result = project.guard({"rules", "check"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
}

TEST(Rules, ThreeFaultsAreAllReportedWithTheirPlaces) {
  Project project;
  project.write("rules/broken.toml",
      "[[rule]]\nid = \"always.one\"\ntier = \"sometimes\"\ntitle = \"t\"\nwhy = \"w\"\nfix = \"f\"\n"
      "patterns = [ { regex = '(', views = [\"raw\"] } ]\nmatch = [\"x\"]\nno_match = [\"y\"]\ncolour = \"red\"\n");
  const auto result = project.guard({"rules", "check", "rules"});
  EXPECT_EQ(result.exit_status, 2);
  EXPECT_NE(result.err.find("broken.toml:3:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("broken.toml:7:"), std::string::npos) << result.err;
  EXPECT_NE(result.err.find("broken.toml:10:"), std::string::npos) << result.err;
}

TEST(Rules, UnknownRuleGetsASuggestion) {
  Project project;
  const auto listed = project.guard({"rules", "list", "--format", "json"}).document();
  ASSERT_FALSE(listed["rules"].empty());
  const std::string id = listed["rules"][0]["id"];
  EXPECT_EQ(project.guard({"rules", "show", id}).exit_status, 0);
  const auto wrong = project.guard({"rules", "show", id + "x"});
  EXPECT_EQ(wrong.exit_status, 2);
  EXPECT_NE(wrong.err.find(id), std::string::npos) << wrong.err;
}

// The reason and what to write instead are on the first screen; the patterns are one option away.
TEST(Rules, ShowsARuleOnOneScreen) {
  Project project;
  const auto listed = project.guard({"rules", "list", "--format", "json"}).document();
  ASSERT_GT(listed["rules"].size(), 50u);
  for (const auto& rule : listed["rules"]) {
    const std::string id = rule["id"];
    if (rule["tier"] == "secret") continue;
    const auto shown = project.guard({"rules", "show", id});
    ASSERT_EQ(shown.exit_status, 0) << shown.err;
    EXPECT_LE(std::count(shown.out.begin(), shown.out.end(), '\n'), 30) << shown.out;
    EXPECT_NE(shown.out.find("instead: "), std::string::npos) << shown.out;
    EXPECT_NE(shown.out.find("--format json"), std::string::npos) << shown.out;
  }
  const auto document = project.guard({"rules", "show", "host.eval", "--format", "json"}).document();
  EXPECT_FALSE(document["patterns"].empty());
  EXPECT_FALSE(document["match"].empty());
  EXPECT_FALSE(document["no_match"].empty());
}

TEST(Redact, FiltersAStream) {
  Project project;
  ProgramCall call;
  call.arguments = {"redact", "--stats"};
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + std::string(80, 'Q');
  call.stdin_text = "before " + secret + " after\n";
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out.find("QQQQ"), std::string::npos);
  EXPECT_TRUE(result.out.starts_with("before [REDACTED:")) << result.out;
  EXPECT_NE(result.out.find("] after\n"), std::string::npos);
  EXPECT_EQ(result.err.find("QQQQ"), std::string::npos);
}

TEST(Redact, SaysWhatWasDoneForMachines) {
  Project project;
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + std::string(80, 'Q');
  project.write("values.txt", "correct-Horse-9x\n\ndev\n");
  ProgramCall call;
  call.arguments = {
      "redact", "--format", "json", "--mask-file", (project.path() / "values.txt").string(), "--cap", "40"};
  call.stdin_text = "a correct-Horse-9x b " + secret + " c\n" + std::string(100, '.') + "\n";
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_EQ(result.out, "a [REDACTED:env:mask_file] b ");
  const auto document = nlohmann::json::parse(result.err);
  EXPECT_EQ(document["redactions"]["anthropic"], 1);
  EXPECT_EQ(document["input_bytes"], call.stdin_text.size());
  EXPECT_EQ(document["kept_bytes"], result.out.size());
  EXPECT_GT(document["dropped_bytes"], 100);
  EXPECT_EQ(document["not_masked"].size(), 1u);
}

TEST(Redact, KeepsBothEnds) {
  Project project;
  ProgramCall call;
  call.arguments = {"redact", "--keep", "both", "--cap", "40"};
  for (int i = 100; i < 200; ++i) call.stdin_text += "line " + std::to_string(i) + "\n";
  const auto result = project.guard(call);
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_TRUE(result.out.starts_with("line 100\nline 101\n")) << result.out;
  EXPECT_TRUE(result.out.ends_with(" bytes left out]\nline 198\nline 199\n")) << result.out;
}

TEST(Redact, TakesTheTeethOutForCi) {
  Project project;
  ProgramCall call;
  call.arguments = {"redact"};
  call.stdin_text = "::set-env name=x::y\n";
  call.environment["CI"] = "true";
  EXPECT_EQ(project.guard(call).out, "\\::set-env name=x::y\n");
}

TEST(Redact, FolderOrMissingFileIsAnError) {
  Project project;
  for (const std::string& name : {project.path().string(), std::string("/nowhere/at/all")}) {
    const auto result = project.guard({"redact", name});
    EXPECT_EQ(result.exit_status, 2);
    EXPECT_NE(result.err.find(name), std::string::npos) << result.err;
  }
}

// A repository with one commit; what is staged on top of it is judged.
class Staged : public ::testing::Test {
 protected:
  void SetUp() override {
    project_.write("guard.toml", "[check]\npaths = [\"sandbox/**\"]\n");
    project_.write("notes.md", "# notes\n");
    git("init -q . && git config user.email t@example.invalid && git config user.name t && git add -A && git commit -q "
        "-m base");
  }
  void git(const std::string& command) const {
    const int status = std::system(("cd '" + project_.path().string() + "' && git " + command).c_str());
    ASSERT_EQ(status, 0) << command;
  }
  ProgramResult check() const { return project_.guard({"check", "--staged", "--mode", "host", "--format", "json"}); }
  Project project_;
};

TEST_F(Staged, EmptyCommitPasses) { EXPECT_EQ(check().exit_status, 0); }

TEST_F(Staged, JudgesTheIndexAndNotTheWorkTree) {
  project_.write("sandbox/a.test.ts", kDump);
  git("add sandbox");
  project_.write("sandbox/a.test.ts", kHonest);
  EXPECT_EQ(check().exit_status, 1);
  git("add sandbox");
  project_.write("sandbox/a.test.ts", kDump);
  EXPECT_EQ(check().exit_status, 0);
}

TEST_F(Staged, BannedStringsCountOnAddedLinesOfAnyFile) {
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + std::string(93, 'Q');
  project_.write("notes.md", "# notes\n" + secret + "\n");
  git("add notes.md");
  const auto added = check();
  EXPECT_EQ(added.exit_status, 1) << added.out;
  EXPECT_EQ(added.out.find("QQQQ"), std::string::npos);
  git("commit -q -m leak");
  project_.write("notes.md", "# notes\n" + secret + "\nanother line\n");
  git("add notes.md");
  EXPECT_EQ(check().exit_status, 0);
}

TEST_F(Staged, ConfigurationComesFromTheBaseAndItsChangeIsAFinding) {
  project_.write("guard.toml", "[check]\npaths = [\"elsewhere/**\"]\n");
  project_.write("sandbox/a.test.ts", kDump);
  git("add -A");
  const auto result = check();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("policy.configuration_changed"), std::string::npos);
  EXPECT_NE(result.out.find("sandbox/a.test.ts"), std::string::npos) << "the commit switched its own gate off";
}

// A repository may hold several projects, and what configures one may stand anywhere, in any case.
TEST_F(Staged, ProjectsBelowTheTopAreGatedToo) {
  project_.write("pkg/sandbox/evil.test.ts", kDump);
  git("add -A");
  EXPECT_EQ(check().exit_status, 1);
}

TEST_F(Staged, ConfigurationAnywhereIsAFinding) {
  for (const char* name : {"pkg/guard.toml", "Guard.toml", "pkg/bunfig.toml"}) {
    project_.write(name, "x = 1\n");
    git("add -A");
    EXPECT_EQ(check().exit_status, 1) << name;
    git("rm -q -f --cached '" + std::string(name) + "'");
    std::filesystem::remove(project_.path() / name);
  }
}

TEST_F(Staged, OptionsCannotNameWhatLiesInTheTree) {
  project_.write("mine.toml", "[check]\npaths = [\"elsewhere/**\"]\n");
  project_.write("rules/mine.toml", "\n");
  for (const auto& option : {std::pair("--config", "mine.toml"), std::pair("--rules", "rules")}) {
    const auto result = project_.guard({"check", "--staged", option.first, option.second});
    EXPECT_EQ(result.exit_status, 2) << option.first << result.out << result.err;
  }
}

// git counts line feeds; a bare carriage return must not push a secret out of the added lines.
TEST_F(Staged, CarriageReturnsDoNotHideABannedString) {
  const std::string secret = std::string("sk-") + "ant-" + "api03-" + std::string(93, 'Q');
  project_.write("c.txt", "l1\nl2\n");
  git("add c.txt && git commit -q -m c");
  project_.write("c.txt", "l1\nl2\nprogress 1\rprogress 2\rprogress 3\nkey = " + secret + "\n");
  git("add c.txt");
  EXPECT_EQ(check().exit_status, 1);
}

// Old fixtures full of made-up keys must not use up the room for a new one.
TEST_F(Staged, AThousandOldHitsDoNotHideANewOne) {
  std::string text;
  for (int i = 0; i < 1002; ++i)
    text += std::string("sk-") + "ant-" + "api03-" + std::string(89, 'Q') + std::to_string(1000 + i) + "\n";
  project_.write("fixtures.txt", text);
  git("add fixtures.txt && git commit -q -m old");
  EXPECT_EQ(check().exit_status, 0);
  project_.write("fixtures.txt", text + "sk-" + "ant-" + "api03-" + std::string(93, 'Z') + "\n");
  git("add fixtures.txt");
  EXPECT_EQ(check().exit_status, 1);
}

TEST_F(Staged, LinksAndOddNamesAreSeen) {
  ASSERT_EQ(::symlink("/etc/passwd", (project_.path() / "sandbox/l.ts").c_str()), 0);
  git("add -A");
  EXPECT_EQ(check().exit_status, 1);
  git("rm -q -f --cached sandbox/l.ts");
  project_.write("sandbox/new\nline \"quote\".test.ts", kDump);
  std::filesystem::remove(project_.path() / "sandbox/l.ts");
  git("add -A");
  EXPECT_EQ(check().exit_status, 1);
}

TEST_F(Staged, RepositorysOwnConfigurationRunsNothing) {
  project_.write("evil.sh", "#!/bin/sh\ntouch \"$(dirname \"$0\")/ran\"\ncat\n");
  ASSERT_EQ(::chmod((project_.path() / "evil.sh").c_str(), 0755), 0);
  const std::string evil = (project_.path() / "evil.sh").string();
  for (const char* key : {"core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command",
           "filter.x.clean", "core.sshCommand"}) {
    git("config " + std::string(key) + " '" + evil + "'");
  }
  project_.write(".gitattributes", "* diff=x\n");
  project_.write("notes.md", "# changed\n");
  git("-c core.fsmonitor=false add notes.md .gitattributes");
  std::filesystem::remove(project_.path() / "ran");
  check();
  EXPECT_FALSE(std::filesystem::exists(project_.path() / "ran"));
}

}  // namespace
}  // namespace guard::testing
