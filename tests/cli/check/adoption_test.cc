// How a team begins with guard: a baseline of what is there, an audit of the past, what an upgrade would refuse, an
// agent's settings.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "common/file_io.h"
#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kEval = "export const answer = eval(\"6 * 7\");\n";
constexpr std::string_view kFile = "guard-baseline.json";
constexpr std::string_view kHonest =
    "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(2); });\n";

class Adoption : public ::testing::Test {
 protected:
  int check(std::vector<std::string> more = {}, const fs::path& folder = {}) {
    std::vector<std::string> arguments = {"check", "--mode", "host"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    if (more.empty() || more.back() != ".") arguments.push_back(".");
    last_ = repository_.guard(arguments, folder);
    return last_.exit_status;
  }
  ProgramResult write_baseline(std::vector<std::string> more = {}) {
    std::vector<std::string> arguments = {"check", "--write-baseline"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return repository_.guard(arguments);
  }
  std::string head() const {
    std::string id = repository_.head();
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  }
  std::size_t entries() const { return json::parse(repository_.read(kFile))["findings"].size(); }

  Repository repository_;
  ProgramResult last_;
};

// ---- the baseline ----

TEST_F(Adoption, ABaselineLetsPassWhatWasThereAndNothingElse) {
  repository_.write("src/old.ts", kEval);
  ASSERT_EQ(check(), 1) << last_.out;
  const auto written = write_baseline();
  EXPECT_EQ(written.exit_status, 0) << written.out << written.err;
  EXPECT_THAT(written.err, HasSubstr("guard-baseline.json holds"));
  EXPECT_EQ(check(), 0) << last_.out;
  EXPECT_THAT(last_.out, HasSubstr("of guard-baseline.json")) << "nobody may think that there was nothing";
  EXPECT_EQ(check({"--no-baseline"}), 1) << last_.out;
  // The same line a second time is one more than there was.
  repository_.write("src/old.ts", std::string(kEval) + std::string(kEval));
  EXPECT_EQ(check(), 1) << last_.out;
  // Another place in the same file is the same finding.
  repository_.write("src/old.ts", "// moved\n\n\n" + std::string(kEval));
  EXPECT_EQ(check(), 0) << last_.out;
  // Another file is not.
  repository_.write("src/new.ts", kEval);
  EXPECT_EQ(check(), 1) << last_.out;
  EXPECT_THAT(last_.out, AllOf(HasSubstr("src/new.ts"), Not(HasSubstr("src/old.ts:"))));
}

TEST_F(Adoption, ABaselineHoldsFromEveryFolderOfTheProject) {
  repository_.write("src/old.ts", kEval);
  ASSERT_EQ(write_baseline().exit_status, 0);
  EXPECT_EQ(check({}, repository_.path() / "src"), 0) << last_.out;
  const auto absolute = repository_.guard({"check", "--mode", "host", (repository_.path() / "src/old.ts").string()});
  EXPECT_EQ(absolute.exit_status, 0) << absolute.out << absolute.err;
}

TEST_F(Adoption, ABaselineHasNothingOfWhatAGeneratorWritesNorASecret) {
  repository_.write("sandbox/a.test.ts", kEval);
  fs::create_symlink("notes.md", repository_.path() / "link.ts");
  repository_.write("src/key.ts", "export const key = \"" + made_up_key() + "\";\n");
  const auto written = write_baseline();
  EXPECT_EQ(written.exit_status, 1) << written.out << written.err;
  EXPECT_EQ(entries(), 0u);
  EXPECT_THAT(written.out, AllOf(HasSubstr("sandbox/a.test.ts"), HasSubstr("src/key.ts")));
  EXPECT_THAT(repository_.read(kFile), Not(HasSubstr(made_up_key())));
  // Whoever writes such an entry by hand has gained nothing.
  const auto found = repository_.guard({"check", "--mode", "host", "--format", "json", "sandbox"}).document();
  json forged = {{"schema", "guard-baseline/1"}, {"findings", json::array()}};
  for (const auto& finding : found["findings"]) {
    forged["findings"].push_back(
        {{"path", finding["path"]}, {"rule", finding["rule"]}, {"fingerprint", finding["fingerprint"]}, {"count", 9}});
  }
  ASSERT_FALSE(forged["findings"].empty());
  repository_.write(kFile, forged.dump());
  EXPECT_EQ(check({"sandbox"}), 1) << last_.out;
}

TEST_F(Adoption, ABaselineOnlyShrinks) {
  repository_.write("src/a.ts", kEval);
  repository_.write("src/b.ts", kEval);
  ASSERT_EQ(write_baseline().exit_status, 0);
  const auto before = entries();
  repository_.write("src/a.ts", "export const answer = 42;\n");
  repository_.write("src/c.ts", kEval);
  const auto written = write_baseline();
  EXPECT_EQ(written.exit_status, 1) << "what is new is still refused";
  EXPECT_THAT(written.out, HasSubstr("src/c.ts"));
  EXPECT_EQ(entries(), before / 2);
  // A part of the project says nothing of the rest.
  ASSERT_EQ(write_baseline({"src/a.ts"}).exit_status, 0);
  EXPECT_EQ(entries(), before / 2);
  fs::remove(repository_.path() / "src/b.ts");
  (void)write_baseline({"src/a.ts"});
  EXPECT_EQ(entries(), 0u) << "a file that is gone has no findings";
}

TEST_F(Adoption, ABaselineThatCannotBeReadDecidesNothing) {
  repository_.write("src/a.ts", "export const a = 1;\n");
  for (const std::string text : {"", "{", "[]", "{\"schema\":\"guard-baseline/2\",\"findings\":[]}",
           "{\"schema\":\"guard-baseline/1\",\"findings\":[{}]}",
           "{\"schema\":\"guard-baseline/"
           "1\",\"findings\":[{\"path\":\"a\",\"rule\":\"b\",\"fingerprint\":\"c\",\"count\":1}]}"}) {
    repository_.write(kFile, text);
    EXPECT_EQ(check(), 2) << text;
    EXPECT_THAT(last_.err + last_.out, HasSubstr("guard-baseline.json")) << text;
    EXPECT_EQ(write_baseline().exit_status, 2) << text;
    EXPECT_EQ(repository_.read(kFile), text) << "and is not overwritten";
  }
  fs::remove(repository_.path() / kFile);
  fs::create_symlink("/dev/null", repository_.path() / kFile);
  EXPECT_EQ(check(), 2) << "a link";
}

TEST_F(Adoption, AChangeOfTheBaselineIsNotForAGenerator) {
  repository_.write("src/old.ts", kEval);
  ASSERT_EQ(write_baseline().exit_status, 0);
  repository_.must("git add guard-baseline.json");
  const auto staged = repository_.guard({"check", "--staged"});
  EXPECT_EQ(staged.exit_status, 1) << staged.out;
  EXPECT_THAT(staged.out, HasSubstr("policy.configuration_changed"));
  const auto gated = repository_.guard({"gate", "--staged"});
  EXPECT_EQ(gated.exit_status, 1) << gated.out;
}

TEST_F(Adoption, ARunKnowsOfNoBaseline) {
  repository_.write("src/old.ts", kEval);
  ASSERT_EQ(write_baseline().exit_status, 0);
  const auto gate = repository_.guard({"gate", "--task-kind", "any", "--mode", "host"});
  EXPECT_EQ(gate.exit_status, 1) << gate.out;
}

// ---- the past ----

TEST_F(Adoption, AnAuditNamesTheCommitsThatWouldHaveBeenRefused) {
  const std::string start = head();
  repository_.write("sandbox/good.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m 'Add an honest test'");
  repository_.write("sandbox/bad.test.ts", kEval);
  repository_.must("git add -A && git commit -q -m 'Add a test that calls eval'");
  const std::string bad = head();
  fs::remove(repository_.path() / "sandbox/bad.test.ts");
  repository_.must("git add -A && git commit -q -m 'Take it away again'");
  const auto text = repository_.guard({"audit", "--mode", "host", "--since", start});
  EXPECT_EQ(text.exit_status, 1) << text.out << text.err;
  EXPECT_THAT(text.out,
      AllOf(HasSubstr("refused   " + bad.substr(0, 12)), HasSubstr("Add a test that calls eval"),
          HasSubstr("sandbox/bad.test.ts:1"), HasSubstr("3 commits: 2 allowed, 1 refused, 0 undecided"),
          Not(HasSubstr("honest"))));
  const auto document = repository_.guard({"audit", "--mode", "host", "--format", "json"}).document();
  ASSERT_EQ(document["commits"].size(), 3u) << "the first commit is left out";
  EXPECT_EQ(document["commits"][1]["commit"], bad);
  EXPECT_EQ(document["commits"][1]["verdict"], "rejected");
  EXPECT_EQ(document["commits"][0]["verdict"], "allowed");
  const auto clean = repository_.guard({"audit", "--since", "HEAD~1"});
  EXPECT_EQ(clean.exit_status, 0) << clean.out;
  EXPECT_EQ(repository_.guard({"audit", "--since", "nonsense"}).exit_status, 2);
  EXPECT_EQ(repository_.guard({"audit", "--since=--output=/tmp/x"}).exit_status, 2);
}

TEST_F(Adoption, AnAuditMasksSubjectsAndAppliesThePolicyWhenAsked) {
  repository_.write("package.json", "{\"name\": \"other\", \"scripts\": {\"postinstall\": \"true\"}}\n");
  repository_.must("git add -A && git commit -q -m 'key " + made_up_key() + "'");
  const auto hook = repository_.guard({"audit"});
  EXPECT_EQ(hook.exit_status, 0) << hook.out;
  const auto policy = repository_.guard({"audit", "--task-kind", "test"});
  EXPECT_EQ(policy.exit_status, 1) << policy.out;
  EXPECT_THAT(policy.out, AllOf(HasSubstr("package.json"), HasSubstr("[REDACTED"), Not(HasSubstr(made_up_key()))));
}

TEST_F(Adoption, AnAuditRunsTheTestsOfEachCommit) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  repository_.write("guard.toml", "backend = \"namespace\"\ntrust_namespace = true\n");
  repository_.must("git add -A && git commit -q -m 'Configure'");
  const std::string start = head();
  repository_.write("sandbox/good.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m 'Add an honest test'");
  repository_.write("sandbox/red.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"adds\", () => { expect(1 + 1).toBe(3); });\n");
  repository_.must("git add -A && git commit -q -m 'Add a test that fails'");
  const auto built = repository_.guard({"image", "build"});
  ASSERT_EQ(built.exit_status, 0) << built.err;
  const auto replayed = repository_.guard({"audit", "--since", start, "--run", "--format", "json"});
  const auto commits = replayed.document()["commits"];
  ASSERT_EQ(commits.size(), 2u) << replayed.out << replayed.err;
  EXPECT_EQ(commits[0]["run"]["verdict"], "rejected") << commits[0];
  EXPECT_EQ(commits[1]["run"]["verdict"], "allowed") << commits[1];
  EXPECT_EQ(replayed.exit_status, 1);
  EXPECT_EQ(repository_.shell("git status --porcelain; git worktree list | wc -l").out, "1\n")
      << "nothing is left behind";
}

// The runs judge by the rules that the audit was given: what only these refuse is refused by them, too.
TEST_F(Adoption, AnAuditRunsTheTestsByItsOwnRules) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  repository_.write("guard.toml", "backend = \"namespace\"\ntrust_namespace = true\n");
  repository_.write("sandbox/helper.ts", "export const specialWord = 2;\n");
  repository_.must("git add -A && git commit -q -m 'Configure'");
  const std::string start = head();
  repository_.write("sandbox/good.test.ts",
      "import { expect, test } from \"bun:test\";\nimport * as helper from \"./helper\";\n"
      "test(\"adds\", () => { expect(Object.keys(helper).length).toBe(1); });\n");
  repository_.must("git add -A && git commit -q -m 'Add an honest test'");
  const auto built = repository_.guard({"image", "build"});
  ASSERT_EQ(built.exit_status, 0) << built.err;
  const fs::path rules = repository_.home() / "rules";
  fs::copy(fs::path(GUARD_SOURCE_DIR) / "rules", rules, fs::copy_options::recursive);
  std::ofstream(rules / "own.toml")
      << "[[rule]]\nid = \"docker.special_word\"\ntier = \"docker\"\ntitle = \"a special word\"\nwhy = \"for the "
         "test\"\n"
         "fix = \"use another\"\npatterns = [{ regex = '''\\bspecialWord\\b''', views = [\"code\"] }]\n"
         "match = [\"let specialWord = 1;\"]\nno_match = [\"let word = 1;\"]\n";
  // The commit itself does not hold the word, so only its run can refuse it.
  const auto by_own = repository_.guard({"audit", "--since", start, "--run", "--rules",
      "../" + repository_.home().filename().string() + "/rules", "--format", "json"});
  EXPECT_EQ(by_own.document()["commits"].at(0)["run"]["verdict"], "rejected") << by_own.out << by_own.err;
  const auto by_shipped = repository_.guard({"audit", "--since", start, "--run", "--format", "json"});
  EXPECT_EQ(by_shipped.document()["commits"].at(0)["run"]["verdict"], "allowed") << by_shipped.out;
}

// What a commit of the past says of itself does not count, also where nobody says anything today.
TEST_F(Adoption, AnAuditRunsNothingAsTheCommitItselfAsks) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  const std::string start = head();
  repository_.write("guard.toml", "backend = \"host\"\n");
  repository_.write("sandbox/a.test.ts", kHonest);
  repository_.must("git add -A && git commit -q -m 'Ask for the host'");
  repository_.must("git rm -q guard.toml && git commit -q -m 'Ask for nothing'");
  const auto built = repository_.guard({"image", "build"});
  ASSERT_EQ(built.exit_status, 0) << built.err;
  const auto document =
      repository_
          .guard({"audit", "--mode", "host", "--since", start, "--run", "--task-kind", "any", "--format", "json"})
          .document();
  const auto text = document.dump(2);
  EXPECT_EQ(text.find("on the host"), std::string::npos) << text;
  for (const auto& commit : document["commits"]) {
    if (commit.contains("run")) {
      EXPECT_NE(commit["run"]["verdict"], "allowed") << "there is no engine here that could be used: " << text;
    }
  }
}

// ---- an upgrade ----

TEST_F(Adoption, ADifferenceOfRulesNamesTheLinesThatAreNewlyRefused) {
  repository_.write("src/old.ts", kEval);
  const fs::path shipped = fs::path(GUARD_SOURCE_DIR) / "rules";
  const fs::path copied = repository_.home() / "copied";
  fs::copy(shipped, copied, fs::copy_options::recursive);
  const auto same = repository_.guard({"rules", "diff", copied.string(), "built-in"});
  EXPECT_EQ(same.exit_status, 0) << same.out << same.err;
  EXPECT_THAT(same.out, HasSubstr("0 newly refused"));
  // A rule of one's own that refuses one more line.
  repository_.write("src/special.ts", "export const specialWord = 1;\n");
  std::ofstream(copied / "own.toml")
      << "[[rule]]\nid = \"host.special_word\"\ntier = \"host\"\ntitle = \"a special word\"\nwhy = \"for the test\"\n"
         "fix = \"use another\"\npatterns = [{ regex = '''\\bspecialWord\\b''', views = [\"code\"] }]\n"
         "match = [\"let specialWord = 1;\"]\nno_match = [\"let word = 1;\"]\n";
  const auto more = repository_.guard({"rules", "diff", "built-in", copied.string(), "src"});
  EXPECT_EQ(more.exit_status, 1) << more.out << more.err;
  EXPECT_THAT(more.out,
      AllOf(HasSubstr("src/special.ts:1: [host] host.special_word"), HasSubstr("1 added, 0 removed"),
          HasSubstr("1 newly refused"), Not(HasSubstr("old.ts"))));
  const auto less = repository_.guard({"rules", "diff", copied.string(), "built-in", "--format", "json"});
  EXPECT_EQ(less.exit_status, 0) << less.out;
  EXPECT_EQ(less.document()["no_longer_refused"], 1);
}

// ---- a coding agent ----

std::string settings_in_the_docs(const std::string& heading) {
  const auto page = read_file(fs::path(GUARD_SOURCE_DIR) / "docs/hooks.md", 1u << 20);
  EXPECT_TRUE(page.has_value());
  const auto at = page->find("\n### " + heading);
  const auto begin = page->find("```json\n", at) + 8;
  return page->substr(begin, page->find("```", begin) - begin);
}

TEST_F(Adoption, AnAgentsSettingsAreShownFirstAndThenWritten) {
  struct Case {
    std::string agent, heading, settings, instructions;
  };
  for (const Case& one : {Case{"claude", "Claude Code", ".claude/settings.json", "CLAUDE.md"},
           Case{"gemini", "Gemini CLI", ".gemini/settings.json", "GEMINI.md"},
           Case{"copilot", "GitHub Copilot", ".github/hooks/guard.json", "AGENTS.md"},
           Case{"cursor", "Cursor", ".cursor/hooks.json", "AGENTS.md"}}) {
    const auto shown = repository_.guard({"hook", "agent", "--install", one.agent});
    EXPECT_EQ(shown.exit_status, 1) << shown.out << shown.err;
    EXPECT_THAT(shown.out, AllOf(HasSubstr("guard hook agent"), HasSubstr("--yes")));
    EXPECT_FALSE(fs::exists(repository_.path() / one.settings)) << one.agent;
    const auto written = repository_.guard({"hook", "agent", "--install", one.agent, "--yes"});
    EXPECT_EQ(written.exit_status, 0) << written.out << written.err;
    EXPECT_EQ(json::parse(repository_.read(one.settings)), json::parse(settings_in_the_docs(one.heading))) << one.agent;
    EXPECT_THAT(repository_.read(one.instructions), HasSubstr(repository_.guard({"brief"}).out)) << one.agent;
    const auto again = repository_.guard({"hook", "agent", "--install", one.agent});
    EXPECT_EQ(again.exit_status, 0) << again.out;
  }
}

TEST_F(Adoption, AnAgentsOtherSettingsAndWordsStay) {
  repository_.write(".claude/settings.json",
      "{\"z\": 1, \"hooks\": {\"PreToolUse\": [{\"matcher\": \"Bash\", \"hooks\": []}]}, \"a\": [2]}");
  repository_.write("CLAUDE.md", "# Ours\n\nBe kind.");
  ASSERT_EQ(repository_.guard({"hook", "agent", "--install", "claude", "--yes"}).exit_status, 0);
  const auto settings = json::parse(repository_.read(".claude/settings.json"));
  EXPECT_EQ(settings["z"], 1);
  EXPECT_EQ(settings["a"], json::array({2}));
  EXPECT_EQ(settings["hooks"]["PreToolUse"].size(), 2u);
  EXPECT_THAT(repository_.read("CLAUDE.md"), ::testing::StartsWith("# Ours\n\nBe kind.\n\n<!-- guard brief"));
  // A brief of another day is replaced, and what stands behind it stays.
  repository_.write("CLAUDE.md", repository_.read("CLAUDE.md") + "Behind.\n");
  repository_.write("guard.toml", "[check]\npaths = [\"generated/**\"]\n");
  ASSERT_EQ(repository_.guard({"hook", "agent", "--install", "claude", "--yes"}).exit_status, 0);
  const std::string words = repository_.read("CLAUDE.md");
  EXPECT_THAT(words,
      AllOf(HasSubstr("Be kind."), HasSubstr("generated/"), ::testing::EndsWith("Behind.\n"),
          Not(HasSubstr("sandbox/**"))));
}

TEST_F(Adoption, AnAgentsSettingsThatCannotBeReadAreLeftAlone) {
  const std::string odd = "{ // a comment\n}";
  repository_.write(".claude/settings.json", odd);
  const auto refused = repository_.guard({"hook", "agent", "--install", "claude", "--yes"});
  EXPECT_EQ(refused.exit_status, 2) << refused.out;
  EXPECT_THAT(refused.err, HasSubstr("docs/hooks.md"));
  EXPECT_EQ(repository_.read(".claude/settings.json"), odd);
  EXPECT_FALSE(fs::exists(repository_.path() / "CLAUDE.md"));
  fs::remove(repository_.path() / ".claude/settings.json");
  fs::create_symlink(repository_.home() / "elsewhere.json", repository_.path() / ".claude/settings.json");
  EXPECT_EQ(repository_.guard({"hook", "agent", "--install", "claude", "--yes"}).exit_status, 2);
  EXPECT_FALSE(fs::exists(repository_.home() / "elsewhere.json"));
}

}  // namespace
}  // namespace guard::testing
