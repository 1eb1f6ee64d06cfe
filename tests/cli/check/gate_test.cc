// `guard gate` through the binary: the four sources of a change, what is refused in each, and repositories that are
// made to lie.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <set>
#include <string>
#include <vector>

#include "tests/support/program/git_repository.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

const std::string kHonest =
    "import { test, expect } from \"bun:test\";\ntest(\"adds\", () => expect(1 + 1).toBe(2));\n";
const std::string kDump = kHonest + "console.log(process.env);\n";

using Rules = std::set<std::string>;

class GateVerb : public ::testing::Test {
 protected:
  ProgramResult gate(std::vector<std::string> more = {}, std::string input = {}, const fs::path& folder = {}) const {
    std::vector<std::string> arguments = {"gate", "--mode", "host", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    return repository_.guard(std::move(arguments), folder, std::move(input));
  }

  static Rules rules_of(const ProgramResult& result) {
    Rules rules;
    const auto document = result.document();
    if (!document.contains("findings")) return rules;
    for (const auto& finding : document["findings"])
      rules.insert(finding["path"].get<std::string>() + " " + finding["rule"].get<std::string>());
    return rules;
  }

  static void expect_allowed(const ProgramResult& result) {
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  }
  static void expect_refused(const ProgramResult& result, const Rules& rules) {
    EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
    EXPECT_EQ(rules_of(result), rules);
  }
  static void expect_undecided(const ProgramResult& result, std::string_view word) {
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    EXPECT_NE(result.out.find(word), std::string::npos) << result.out;
  }

  void write(std::string_view path, std::string_view text) const { repository_.write(path, text); }
  void must(const std::string& script) const { repository_.must(script); }
  std::string said(const std::string& script) const { return repository_.shell(script).out; }

  // A program that leaves a trace, for everything that git can be told to run.
  std::string trap() const {
    write(".git/trap.sh", "#!/bin/sh\necho ran >> \"" + trace().string() + "\"\ncat\n");
    ::chmod((repository_.path() / ".git/trap.sh").c_str(), 0755);
    return (repository_.path() / ".git/trap.sh").string();
  }
  fs::path trace() const { return repository_.home() / "ran"; }

  // The same change from every source: the judgement may not depend on where it was read.
  void expect_everywhere(const Rules& rules, const std::vector<std::string>& more = {}) const {
    const auto hold = [&](const char* what, std::vector<std::string> arguments, std::string input = {}) {
      SCOPED_TRACE(what);
      arguments.insert(arguments.end(), more.begin(), more.end());
      const auto result = gate(std::move(arguments), std::move(input));
      if (rules.empty()) {
        expect_allowed(result);
      } else {
        expect_refused(result, rules);
      }
    };
    hold("work tree", {});
    must("git add -A");
    hold("index", {"--staged"});
    hold("work tree, all of it staged", {});
    hold("patch", {"--patch", "-"}, said("git diff --cached --binary --no-renames --no-textconv --no-ext-diff"));
    must("git commit -q --no-verify -m change");
    hold("range", {"--base", "HEAD~1", "--head", "HEAD"});
    hold("work tree against the base", {"--base", "HEAD~1"});
    must("git reset -q --hard HEAD~1 && git clean -q -ffdx");
  }

  Repository repository_;
};

TEST_F(GateVerb, AnHonestTestIsAllowedFromEverySource) {
  write("sandbox/new dir/it's a \"test\".test.ts", kHonest);
  write("sandbox/日本語.test.ts", kHonest);
  expect_everywhere({});
}

TEST_F(GateVerb, NothingChangedIsUndecidedUnlessThatIsExpected) {
  for (const auto& source :
      std::vector<std::vector<std::string>>{{}, {"--staged"}, {"--base", "HEAD", "--head", "HEAD"}}) {
    expect_undecided(gate(source), "no_files");
    auto expected = source;
    expected.emplace_back("--allow-empty");
    expect_allowed(gate(expected));
  }
}

TEST_F(GateVerb, FindingsAreTheSameFromEverySource) {
  write("sandbox/a.test.ts", kDump);
  expect_everywhere({"sandbox/a.test.ts always.env_dump"});
  write("package.json", "{\"name\": \"other\"}\n");
  expect_everywhere({"package.json policy.forbidden_file"});
}

TEST_F(GateVerb, PackageFilesAreForTasksOfAnotherKind) {
  write("package.json", "{\"name\": \"other\"}\n");
  expect_everywhere({}, {"--task-kind", "any"});
}

TEST_F(GateVerb, BannedStringsCountOnAddedLinesOfAnyFile) {
  const std::string key = made_up_key();
  write("notes.md", "# notes\nline\rline\rkey = " + key + "\n");
  expect_everywhere({"notes.md banned.anthropic_key"});
  write("notes.md", "# notes\n" + key + "\n");
  EXPECT_EQ(gate().out.find("QQQQ"), std::string::npos);
  must("git commit -q -am leak");
  write("notes.md", "# notes\n" + key + "\nmore\n");
  expect_everywhere({});
}

TEST_F(GateVerb, LinksModesAndBinariesAreRefused) {
  must("ln -s ../src/add.ts sandbox/l.ts");
  expect_everywhere({"sandbox/l.ts policy.symbolic_link"});
  write("tool.md", "text\n");
  must("chmod +x tool.md");
  expect_everywhere({"tool.md policy.executable_file"});
  must("chmod +x notes.md");
  expect_everywhere({"notes.md policy.mode_change"});
  must("rm notes.md && ln -s /etc/passwd notes.md");
  expect_everywhere({"notes.md policy.symbolic_link"});
  must("printf 'a\\0b\\n' > data.txt");
  expect_everywhere({"data.txt policy.binary_file"});
}

TEST_F(GateVerb, SubmodulesAreRefused) {
  must("git init -q sub && cd sub && git commit -q --allow-empty -m x");
  expect_refused(gate(), {"sub policy.submodule"});
  must("git add sub 2>/dev/null");
  expect_refused(gate(), {"sub policy.submodule"});
  expect_refused(gate({"--staged"}), {"sub policy.submodule"});
  expect_refused(gate({"--patch", "-"}, said("git diff --cached")), {"sub policy.submodule"});
  must("git commit -q -m sub");
  expect_refused(gate({"--base", "HEAD~1", "--head", "HEAD"}), {"sub policy.submodule"});
  // From then on it belongs to the base.
  write("docs/a.md", "a\n");
  expect_allowed(gate());
  must("rm -rf sub && echo text > sub");
  expect_refused(gate(), {"sub policy.submodule"});
}

TEST_F(GateVerb, ALinkSwappedForAFileAndBackIsRefused) {
  must("ln -s notes.md alias.md && git add alias.md && git commit -q -m link");
  must("rm alias.md && echo text > alias.md");
  expect_everywhere({"alias.md policy.symbolic_link"});
  must("rm alias.md");
  expect_everywhere({"alias.md policy.symbolic_link"});
}

TEST_F(GateVerb, AFileReplacedByAFolderAndAFolderByAFile) {
  must("rm notes.md && mkdir notes.md && echo text > notes.md/a.md");
  expect_everywhere({});
  must(
      "mkdir folder && echo a > folder/a.md && git add -A && git commit -q -m folder && rm -r folder && echo text > "
      "folder");
  expect_everywhere({});
}

// All that lay in it is gone, and nothing is read through it.
TEST_F(GateVerb, AFolderReplacedByALinkIsRefused) {
  write("sandbox/a.test.ts", kHonest);
  must(
      "git add -A && git commit -q -m a && rm -r sandbox && mkdir elsewhere && cp notes.md elsewhere/a.test.ts && ln "
      "-s elsewhere sandbox");
  const auto result = gate();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_TRUE(rules_of(result).contains("sandbox policy.symbolic_link")) << result.out;
}

TEST_F(GateVerb, CaseOnlyRenamesAndNamesLikeThoseThatStayAreRefused) {
  must("git mv notes.md Notes.md");
  expect_everywhere({"Notes.md policy.case_conflict"});
  write("sandbox/b.md", "text\n");
  must("git add sandbox && git commit -q -m more");
  write("Sandbox/a.md", "text\n");
  expect_everywhere({"Sandbox/a.md policy.case_conflict"});
}

TEST_F(GateVerb, OddNamesAreSeenAsTheyAre) {
  for (const std::string name : {"a\nb.md", "tab\there.md", "caf\xe9.md", "esc\x1b[31m.md"}) {
    write(name, "text\n");
    const auto hold = [&](const ProgramResult& result) {
      EXPECT_EQ(result.exit_status, 1) << name << result.out;
      EXPECT_NE(result.out.find("policy.path"), std::string::npos) << result.out;
      EXPECT_EQ(result.out.find('\x1b'), std::string::npos);
    };
    hold(gate());
    must("git add -A");
    hold(gate({"--staged"}));
    hold(gate({"--patch", "-"}, said("git diff --cached")));
    must("git reset -q --hard");
  }
}

TEST_F(GateVerb, WhatGitObeysIsRefusedAtAnyDepth) {
  write("sandbox/.gitattributes", "* -diff\n");
  expect_everywhere({"sandbox/.gitattributes policy.git_file", "sandbox/.gitattributes side_file.repository"});
  write(".github/workflows/x.yml", "on: push\n");
  expect_everywhere({".github/workflows/x.yml policy.git_file"});
  write("docs/GIT~1/config", "x\n");
  const Rules short_name = {"docs/GIT~1/config policy.git_file", "docs/GIT~1/config policy.path"};
  expect_refused(gate(), short_name);
  expect_refused(gate({"--patch", "-"}, "--- /dev/null\n+++ b/docs/GIT~1/config\n@@ -0,0 +1 @@\n+x\n"), short_name);
}

// One that hides itself and all beside it; those of the base go on to hold.
TEST_F(GateVerb, ANewIgnoreFileHidesNothing) {
  write("docs/.gitignore", "*\n");
  write("docs/secret.md", "key = " + made_up_key() + "\n");
  expect_refused(gate(), {"docs/.gitignore policy.git_file", "docs/secret.md banned.anthropic_key"});
  must("rm -r docs");
  write(".git/info/exclude", "*.md\n");
  must("git config core.excludesFile \"$PWD/.git/info/exclude\"");
  write("hidden.md", made_up_key());
  expect_refused(gate(), {"hidden.md banned.anthropic_key"});
}

TEST_F(GateVerb, TheBasesIgnoreFilesHold) {
  write(".gitignore", "node_modules/\n*.log\n");
  must("git add -A && git commit -q -m ignore");
  write("node_modules/x/index.js", "process.env\n");
  write("node_modules/x/.gitignore", "*\n");
  write("logs/a.log", "noise\n");
  write("b.log", "noise\n");
  write("sandbox/a.test.ts", kHonest);
  expect_allowed(gate());
  EXPECT_EQ(gate().document()["change"]["files"], 1);
  // A file of the base stays one, whatever is ignored.
  must("git add -f b.log && git commit -q -m log");
  write("b.log", made_up_key());
  expect_refused(gate(), {"b.log banned.anthropic_key"});
  must("git checkout -q b.log");
  // Changed, it hides nothing any more.
  write(".gitignore", "node_modules/\n*.log\n*.md\n");
  write("new.md", made_up_key());
  const auto rules = rules_of(gate());
  EXPECT_TRUE(rules.contains(".gitignore policy.git_file"));
  EXPECT_TRUE(rules.contains("new.md banned.anthropic_key"));
}

TEST_F(GateVerb, ConfigurationAndRulesComeFromTheBase) {
  write("guard.toml", "[check]\npaths = [\"elsewhere/**\"]\n[policy]\nmax_changed_files_per_task = 100\n");
  write("sandbox/a.test.ts", kDump);
  expect_everywhere({"guard.toml policy.configuration_changed", "sandbox/a.test.ts always.env_dump"});
  write("mine.toml", "\n");
  for (const auto& [option, value] : {std::pair("--config", "mine.toml"), std::pair("--rules", "sandbox")}) {
    expect_undecided(gate({option, value}), "lies in the work tree");
  }
  must("rm mine.toml");
  write("sandbox/a.test.ts", kHonest);
  const std::string outside = (repository_.home() / "guard.toml").string();
  must("printf '[policy]\\nallowed_paths = [\"docs/**\"]\\n' > '" + outside + "'");
  expect_refused(gate({"--config", outside}), {"sandbox/a.test.ts policy.outside_allowed_paths"});
}

TEST_F(GateVerb, TheBaseDecidesWhoseConfigurationHolds) {
  write("guard.toml", "[policy]\nmax_changed_files_per_task = 1\nallowed_paths = [\"**\"]\n");
  must("git commit -q -am strict");
  write("docs/a.md", "a\n");
  write("docs/b.md", "b\n");
  expect_refused(gate(), {"(change) policy.too_many_files"});
  must("git add -A && git commit -q -m two");
  expect_refused(gate({"--base", "HEAD~1", "--head", "HEAD"}), {"(change) policy.too_many_files"});
  write("guard.toml", "[policy\n");
  must("git commit -q -am broken");
  write("docs/a.md", "more\n");
  expect_undecided(gate(), "CONFIG_INVALID");
}

TEST_F(GateVerb, TextSaysHowLargeTheChangeIs) {
  write("docs/a.md", "one\ntwo\n");
  const auto result = repository_.guard({"gate", "--mode", "host"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("1 file, 2 lines added, 0 removed"), std::string::npos) << result.out;
  const auto document = gate().document();
  EXPECT_EQ(document["change"]["files"], 1);
  EXPECT_EQ(document["change"]["lines_added"], 2);
  EXPECT_EQ(document["change"]["lines_removed"], 0);
}

TEST_F(GateVerb, EveryFormatSaysIt) {
  write("package.json", "{}\n");
  for (const char* format : {"sarif", "junit", "github", "text"}) {
    const auto result = repository_.guard({"gate", "--mode", "host", "--format", format});
    EXPECT_EQ(result.exit_status, 1) << format;
    EXPECT_NE(result.out.find("policy.forbidden_file"), std::string::npos) << format << result.out;
  }
}

TEST_F(GateVerb, ManyFilesAreCountedAndNotAllRead) {
  must("mkdir many; i=0; while [ $i -lt 1500 ]; do echo x > many/$i.md; i=$((i+1)); done");
  const auto hold = [](const ProgramResult& result) {
    expect_refused(result, {"(change) policy.too_many_files"});
    EXPECT_NE(result.out.find("1500 files"), std::string::npos) << result.out;
  };
  hold(gate());
  must("git add -A");
  hold(gate({"--staged"}));
}

TEST_F(GateVerb, LargeFilesAreRefusedUnread) {
  must("truncate -s 10G huge.md");
  expect_refused(gate(), {"huge.md policy.unread_file", "(change) policy.diff_too_large"});
  must("rm huge.md; head -c 5000000 /dev/zero | tr '\\0' a > large.md");
  expect_everywhere({"large.md policy.unread_file", "(change) policy.diff_too_large"});
}

TEST_F(GateVerb, SpecialFilesAreRefusedAndNotOpened) {
  must("mkfifo pipe");
  expect_refused(gate(), {"pipe policy.special_file"});
}

TEST_F(GateVerb, FoldersBeyondMeasureAreRefusedAndNotFollowed) {
  must("d=.; i=0; while [ $i -lt 140 ]; do d=$d/d; i=$((i+1)); done; mkdir -p $d; echo x > $d/a.md");
  const auto result = gate();
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("policy.path"), std::string::npos);
}

// ---- revisions ----

TEST_F(GateVerb, UnknownRevisionsAreUndecidedAndSayWhatToDo) {
  write("docs/a.md", "a\n");
  for (const std::string name : {"nowhere", "HEAD~9", "0123456789012345678901234567890123456789", "HEAD:notes.md",
           "a b", ":/nothing", "HEAD^{tree}"}) {
    const auto result = gate({"--base", name});
    expect_undecided(result, "there is no commit");
    EXPECT_TRUE(result.document().contains("next")) << result.out;
    expect_undecided(gate({"--base", "HEAD", "--head", name}), "there is no commit");
  }
}

TEST_F(GateVerb, RevisionsThatLookLikeOptionsStayNames) {
  const std::string written = (repository_.home() / "out").string();
  must("git update-ref 'refs/heads/--output=x' HEAD");
  write("docs/a.md", "a\n");
  for (const std::string& name : {"--output=" + written, std::string("--output=x"), std::string("-h"),
           std::string("--git-dir=/"), std::string("--all"), std::string("-")}) {
    const auto result = gate({"--base=" + name});
    EXPECT_EQ(result.exit_status, 2) << name << result.out << result.err;
    EXPECT_EQ(gate({"--base", "HEAD", "--head=" + name}).exit_status, 2) << name;
    EXPECT_FALSE(fs::exists(written));
  }
  expect_allowed(gate({"--base", "refs/heads/--output=x"}));
}

TEST_F(GateVerb, WhatCannotBeMeantIsAMistake) {
  EXPECT_EQ(gate({"--base", ""}).exit_status, 64);
  EXPECT_EQ(gate({"--base", "HEAD", "--head", ""}).exit_status, 64);
  EXPECT_EQ(gate({"--patch", ""}).exit_status, 64);
  EXPECT_EQ(gate({"--head", "HEAD"}).exit_status, 64);
  EXPECT_EQ(gate({"--staged", "--patch", "-"}).exit_status, 64);
  EXPECT_EQ(gate({"--task-kind", "some"}).exit_status, 64);
  EXPECT_EQ(gate({"src/"}).exit_status, 64);
}

TEST_F(GateVerb, AShallowCloneWithoutTheBaseIsUndecided) {
  write("docs/a.md", "a\n");
  must("git add -A && git commit -q -m a");
  const std::string base = said("git rev-parse HEAD~1").substr(0, 40);
  const fs::path clone = repository_.home() / "clone";
  must("git clone -q --depth 1 'file://" + repository_.path().string() + "' '" + clone.string() + "'");
  expect_undecided(gate({"--base", base, "--head", "HEAD"}, {}, clone), "unshallow");
  expect_undecided(gate({"--base", "HEAD~1", "--head", "HEAD"}, {}, clone), "unshallow");
}

TEST_F(GateVerb, ABaseThatCannotBeReadIsUndecided) {
  write("docs/a.md", "a\n");
  must("git add -A && git commit -q -m a");
  write("docs/a.md", "b\n");
  must("rm -f .git/objects/$(git rev-parse HEAD | sed 's#^..#&/#')");
  expect_undecided(gate(), "cannot be read");
  EXPECT_EQ(gate({"--staged"}).exit_status, 2);
  EXPECT_EQ(repository_.guard({"check", "--staged", "--mode", "host"}).exit_status, 2);
}

TEST_F(GateVerb, ContentsThatAreMissingAreUndecided) {
  write("docs/a.md", "a\n");
  must("git add -A && git commit -q -m a");
  write("docs/a.md", "b\n");
  must("git add -A && rm -f .git/objects/$(git rev-parse HEAD:docs/a.md | sed 's#^..#&/#')");
  EXPECT_EQ(gate().exit_status, 2);
  EXPECT_EQ(gate({"--staged"}).exit_status, 2);
}

TEST_F(GateVerb, AHeadThatWasLedAwayFromItsCommitsIsUndecided) {
  must("git symbolic-ref HEAD refs/heads/elsewhere");
  expect_undecided(gate(), "HEAD names no commit");
  expect_undecided(gate({"--base", "main"}), "no_files");
}

TEST_F(GateVerb, BeforeTheFirstCommitEverythingIsNew) {
  must("rm -rf .git && git init -q . && rm -rf sandbox/* guard.toml notes.md package.json tsconfig.json src");
  write("sandbox/a.test.ts", kHonest);
  expect_allowed(gate());
  must("git add -A");
  expect_allowed(gate({"--staged"}));
  expect_allowed(gate({"--patch", "-"}, said("git diff --cached")));
}

TEST_F(GateVerb, OutsideOfARepositoryItIsUndecided) {
  EXPECT_EQ(gate({}, {}, repository_.home()).exit_status, 2);
  EXPECT_EQ(gate({"--patch", "-"}, "", repository_.home()).exit_status, 2);
}

// ---- patches ----

TEST_F(GateVerb, PatchesThatDoNotApplyAreUndecidedAndWriteNothing) {
  const std::string snapshot = "find .git -type f | sort | xargs cat | cksum";
  const auto before = said(snapshot);
  const std::vector<std::string> patches = {
      "",
      "this is no patch\n",
      "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1 @@\n-something else\n+text\n",
      "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,9 @@\n-# notes\n+cut off\n",
      "--- a/gone.md\n+++ b/gone.md\n@@ -1 +1 @@\n-a\n+b\n",
      "--- /dev/null\n+++ b/../outside.md\n@@ -0,0 +1 @@\n+x\n",
      "--- /dev/null\n+++ b/a/../../outside.md\n@@ -0,0 +1 @@\n+x\n",
      "--- /dev/null\n+++ b/.git/hooks/pre-commit\n@@ -0,0 +1 @@\n+x\n",
      "--- /dev/null\n+++ b/sandbox/.GIT/config\n@@ -0,0 +1 @@\n+x\n",
      "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n\\ No newline at end of "
      "file\n"
      "diff --git a/l/passwd b/l/passwd\nnew file mode 100644\n--- /dev/null\n+++ b/l/passwd\n@@ -0,0 +1 @@\n+x\n",
      "diff --git a/x b/x\nGIT binary patch\nliteral 5\nnonsense\n",
  };
  for (const auto& patch : patches) {
    const auto result = gate({"--patch", "-"}, patch);
    EXPECT_EQ(result.exit_status, 2) << patch << result.out;
    EXPECT_FALSE(fs::exists(repository_.path() / "../outside.md"));
  }
  EXPECT_EQ(said(snapshot), before);
  EXPECT_EQ(gate({"--patch", "missing.diff"}).exit_status, 2);
}

TEST_F(GateVerb, APatchIsJudgedAgainstTheBaseAndLeavesTheRepositoryAlone) {
  write("notes.md", "# notes\nmore\n");
  const std::string patch = said("git diff");
  must("git checkout -q notes.md");
  const std::string snapshot =
      "find .git -type f | sort | xargs cat | cksum; ls -laR --time-style=full-iso .git | cksum";
  const auto before = said(snapshot);
  expect_allowed(gate({"--patch", "-"}, patch));
  EXPECT_EQ(said(snapshot), before);
  const std::string file = (repository_.home() / "change.diff").string();
  must("cat > '" + file + "' <<'END'\n" + patch + "END");
  expect_allowed(gate({"--patch", file}));
  // Without git's headers.
  expect_refused(gate({"--patch", "-"}, "--- /dev/null\n+++ b/yarn.lock\n@@ -0,0 +1 @@\n+x\n"),
      {"yarn.lock policy.forbidden_file"});
  // What lies in the work tree or the index makes no difference.
  write("notes.md", "something else\n");
  must("git add -A");
  expect_allowed(gate({"--patch", "-"}, patch));
  must("git commit -q -m else");
  EXPECT_EQ(gate({"--patch", "-"}, patch).exit_status, 2);
  expect_allowed(gate({"--patch", "-", "--base", "HEAD~1"}, patch));
}

TEST_F(GateVerb, SettingsForWhitespaceDoNotChangeThePatch) {
  must(
      "git config apply.whitespace fix; git config apply.ignoreWhitespace change; git config core.autocrlf true; git "
      "config --global apply.whitespace error; "
      "git config --global apply.ignoreWhitespace change; git config --global core.autocrlf input");
  const std::string key = "key = " + made_up_key() + "   ";
  expect_refused(gate({"--patch", "-"}, "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n # notes\n+" + key + "\n"),
      {"notes.md banned.anthropic_key"});
  EXPECT_EQ(gate({"--patch", "-"}, "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n #   notes\n+x\n").exit_status, 2);
}

// ---- hostile repositories ----

TEST_F(GateVerb, NothingThatTheRepositoryNamesIsRun) {
  const std::string evil = trap();
  for (const char* key :
      {"core.fsmonitor", "diff.external", "core.pager", "diff.x.textconv", "diff.x.command", "filter.x.clean",
          "filter.x.smudge", "filter.x.process", "core.sshCommand", "core.askPass", "credential.helper", "gpg.program",
          "core.editor", "core.gitProxy", "core.alternateRefsCommand", "uploadpack.packObjectsHook", "alias.diff-index",
          "alias.ls-files", "trailer.x.command", "merge.x.driver", "interactive.diffFilter"}) {
    must("git config " + std::string(key) + " '" + evil + "'");
  }
  must(
      "git config filter.x.required true; git config core.hooksPath .git/hooks; git config core.untrackedCache true; "
      "git config extensions.partialClone origin; "
      "git config core.repositoryFormatVersion 1; git config remote.origin.url \"ext::$PWD/.git/trap.sh\"; git config "
      "protocol.ext.allow always");
  for (const char* hook : {"pre-commit", "post-index-change", "post-checkout", "fsmonitor-watchman",
           "reference-transaction", "pre-applypatch", "applypatch-msg", "pre-auto-gc"}) {
    must("mkdir -p .git/hooks; cp .git/trap.sh .git/hooks/" + std::string(hook));
  }
  write(".git/info/attributes", "* filter=x diff=x merge=x -text\n");
  const std::string quiet =
      "git -c core.fsmonitor=false -c core.hooksPath=/dev/null -c filter.x.required=false -c filter.x.clean= -c "
      "filter.x.process= ";
  const std::string patch = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n # notes\n+more\n";
  write("notes.md", "# notes\nmore\n");
  must(quiet + "add notes.md");
  fs::remove(trace());
  expect_allowed(gate());
  expect_allowed(gate({"--patch", "-"}, patch));
  expect_allowed(gate({"--staged"}));
  EXPECT_FALSE(fs::exists(trace()));
  must(quiet + "commit -q -m x");
  // A missing object is not fetched: the repository names the program that would do it.
  must("rm -f .git/objects/$(git rev-parse HEAD~1:notes.md | sed 's#^..#&/#')");
  fs::remove(trace());
  EXPECT_EQ(gate({"--base", "HEAD~1", "--head", "HEAD"}).exit_status, 2);
  EXPECT_EQ(gate({"--base", "HEAD~1"}).exit_status, 2);
  EXPECT_EQ(gate({"--base", "HEAD~1", "--patch", "-"}, patch).exit_status, 2);
  EXPECT_FALSE(fs::exists(trace()));
}

TEST_F(GateVerb, AttributesAndIndexFlagsHideNothing) {
  write(".gitattributes", "* -diff -text binary export-ignore linguist-generated\n");
  must("git add -A && git commit -q -m attributes");
  write("notes.md", "# notes\n" + made_up_key() + "\n");
  expect_everywhere({"notes.md banned.anthropic_key"});
  for (const char* flag : {"assume-unchanged", "skip-worktree"}) {
    must("git update-index --" + std::string(flag) + " notes.md");
    write("notes.md", "# notes\n" + made_up_key() + "\n");
    expect_refused(gate(), {"notes.md banned.anthropic_key"});
    must("git update-index --no-" + std::string(flag) + " notes.md; git checkout -q notes.md");
  }
  // Of the same size and time as the index knows.
  must(
      "touch -d 2020-01-01 notes.md && git update-index --refresh -q; printf '# nOtes\\n' > notes.md && touch -d "
      "2020-01-01 notes.md");
  EXPECT_EQ(gate().document()["change"]["files"], 1);
}

TEST_F(GateVerb, ReplacedObjectsAndGraftsMakeNoDifference) {
  write("sandbox/a.test.ts", kDump);
  must("git add -A && git commit -q -m dump && git replace HEAD~1 HEAD");
  expect_refused(gate({"--base", "HEAD~1", "--head", "HEAD"}), {"sandbox/a.test.ts always.env_dump"});
  must("for r in $(git replace -l); do git replace -d $r >/dev/null; done; git commit -q --allow-empty -m third");
  // As if the second commit's tree had been there before it.
  must("echo \"$(git rev-parse HEAD) $(git commit-tree -m x 'HEAD^{tree}')\" > .git/info/grafts");
  expect_refused(gate({"--base", "HEAD~2", "--head", "HEAD"}), {"sandbox/a.test.ts always.env_dump"});
  must("echo \"$(git rev-parse HEAD) $(git commit-tree -p HEAD -m x 'HEAD^{tree}')\" > .git/info/grafts");
  expect_refused(gate({"--base", "HEAD~2", "--head", "HEAD"}), {"sandbox/a.test.ts always.env_dump"});
}

TEST_F(GateVerb, OtherBytesUnderAKnownNameAreUndecided) {
  write("notes.md", "# notes\nold\n");
  must("git commit -q -am old");
  write("notes.md", "# notes\nold\nnew\n");
  // The base's text is said to hold what is new already.
  must(
      "id=$(git rev-parse HEAD:notes.md); other=$(git hash-object -w notes.md); f=.git/objects/$(echo $id | sed "
      "'s#^..#&/#'); rm -f $f; "
      "cp .git/objects/$(echo $other | sed 's#^..#&/#') $f");
  EXPECT_EQ(gate().exit_status, 2);
}

TEST_F(GateVerb, AWorkTreeThatIsSaidToLieElsewhereIsUndecided) {
  const std::string other = (repository_.home() / "other").string();
  must("git init -q '" + other + "'; git config core.worktree '" + other + "'");
  write("sandbox/a.test.ts", kDump);
  EXPECT_EQ(gate().exit_status, 2);
  EXPECT_EQ(gate({"--staged"}).exit_status, 2);
}

TEST_F(GateVerb, BorrowedObjectsAreReadLikeItsOwn) {
  const fs::path clone = repository_.home() / "clone";
  const std::string patch = "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n # notes\n+more\n";
  must("git clone -q -s . '" + clone.string() + "'");
  repository_.must("echo more >> notes.md", clone);
  expect_allowed(gate({}, {}, clone));
  expect_allowed(gate({"--patch", "-"}, patch, clone));
  must("printf '/nowhere/objects\\n' > '" + (clone / ".git/objects/info/alternates").string() + "'");
  EXPECT_EQ(gate({}, {}, clone).exit_status, 2);
  EXPECT_EQ(gate({"--patch", "-"}, patch, clone).exit_status, 2);
}

TEST_F(GateVerb, ARepositoryInsideHidesNothing) {
  must("mkdir -p sandbox/inner && git init -q sandbox/inner");
  write("sandbox/inner/a.test.ts", kDump);
  expect_refused(gate(), {"sandbox/inner policy.submodule"});
  must("rm -rf sandbox/inner && git init -q sandbox");
  const auto result = gate();
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_TRUE(rules_of(result).contains("sandbox policy.submodule")) << result.out;
}

TEST_F(GateVerb, WorksFromALinkedWorkTreeAndFromBelow) {
  const fs::path tree = repository_.home() / "tree";
  write("sandbox/b.md", "text\n");
  must("git add -A && git commit -q -m b && git worktree add -q '" + tree.string() + "' -b other");
  repository_.must("echo more >> notes.md", tree);
  expect_allowed(gate({}, {}, tree));
  expect_allowed(gate({}, {}, tree / "sandbox"));
  expect_allowed(gate({"--patch", "-"}, "--- a/notes.md\n+++ b/notes.md\n@@ -1 +1,2 @@\n # notes\n+more\n", tree));
}

TEST_F(GateVerb, WorksWithLongIds) {
  must("rm -rf .git && git init -q --object-format=sha256 . && git add -A && git commit -q -m base");
  write("sandbox/a.test.ts", kDump);
  expect_everywhere({"sandbox/a.test.ts always.env_dump"});
}

}  // namespace
}  // namespace guard::testing
