#include "validator/change/change_policy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "validator/change/line_changes.h"

namespace guard {
namespace {

using Kind = EntryKind;

ChangedFile changed(std::string path, Kind before = Kind::absent, Kind after = Kind::file, std::string text = "ok\n",
    std::string old_text = "old\n") {
  ChangedFile file;
  file.path = std::move(path);
  file.before = before;
  file.after = after;
  if (before != Kind::absent) file.old_bytes = std::move(old_text);
  if (after != Kind::absent && after != Kind::submodule) file.new_bytes = std::move(text);
  file.new_size = file.new_bytes.size();
  count_lines(file);
  return file;
}

ChangeSet change_of(std::vector<ChangedFile> files) {
  std::sort(files.begin(), files.end(), [](const ChangedFile& a, const ChangedFile& b) { return a.path < b.path; });
  return {std::move(files), {}, {}};
}

PolicyOptions options_for(TaskKind kind) {
  PolicyOptions options;
  options.kind = kind;
  options.forbidden_files = {
      "package.json", "bun.lock", "bun.lockb", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"};
  return options;
}

std::multiset<std::string> rules_of(const std::vector<Finding>& findings) {
  std::multiset<std::string> rules;
  for (const auto& finding : findings) rules.insert(finding.rule);
  return rules;
}

std::multiset<std::string> refused(const ChangeSet& change, TaskKind kind = TaskKind::any) {
  return rules_of(check_policy(change, options_for(kind)));
}
std::multiset<std::string> refused(ChangedFile file, TaskKind kind = TaskKind::any) {
  return refused(change_of({std::move(file)}), kind);
}

using Rules = std::multiset<std::string>;

TEST(ChangePolicy, OrdinaryChangesPass) {
  for (const std::string path :
      {"sandbox/a.test.ts", "src/deep/er/b.ts", "sandbox/with blank.test.ts", "sandbox/it's \"quoted\".test.ts",
          "docs/notes.md", "sandbox/日本語.test.ts", "sandbox/été.test.ts", "sandbox/a..b.ts", "sandbox/-dash.ts",
          "sandbox/a~b.ts", "sandbox/[id].test.ts", "sandbox/git.test.ts", "sandbox/a.git", "sandbox/gitignore.ts",
          "sandbox/give~me.ts", "sandbox/claude.test.ts", "sandbox/environment.ts", "sandbox/my.env.ts",
          "sandbox/notes.agents.md.ts", "sandbox/package.json.ts", "sandbox/__snapshots__/a.snap"}) {
    for (const auto kind : {TaskKind::test, TaskKind::any}) {
      EXPECT_EQ(refused(changed(path), kind), Rules()) << path;
      EXPECT_EQ(refused(changed(path, Kind::file), kind), Rules()) << path;
      EXPECT_EQ(refused(changed(path, Kind::file, Kind::absent), kind), Rules()) << path;
      EXPECT_EQ(refused(changed(path, Kind::executable, Kind::executable), kind), Rules()) << path;
    }
  }
}

TEST(ChangePolicy, EveryFindingBlocksAndSaysWhatToDo) {
  const auto findings =
      check_policy(change_of({changed(".github/workflows/a.yml"), changed("a\n", Kind::absent, Kind::link)}),
          options_for(TaskKind::test));
  ASSERT_GE(findings.size(), 3u);
  EXPECT_TRUE(std::is_sorted(findings.begin(), findings.end()));
  for (const auto& finding : findings) {
    EXPECT_EQ(finding.tier, FindingTier::policy);
    EXPECT_EQ(finding.severity, Severity::block);
    EXPECT_FALSE(finding.message.empty());
    EXPECT_FALSE(finding.fix.empty());
    EXPECT_FALSE(finding.path.empty());
  }
}

struct NameCase {
  std::string path;
  std::string rule;  // empty: accepted
};

TEST(ChangePolicy, FilesThatGitObeysAreRefusedInEverySpelling) {
  const std::vector<std::string> spellings = {".git", ".GIT", ".Git", ".gIT", ".git.", ".git ", ".git . .", ".git...",
      ".git::$INDEX_ALLOCATION", ".git::$index_allocation:x", ".git:stream", "GIT~1", "git~1", "git~12", "GI7EBA~1",
      "gi7d29~1", "gitmod~1", "GITATT~1", ".g\u200cit", "\u200d.git", ".git\u200e", ".\u202agit", ".gi\ufefft",
      ".g\u00adit", ".gi\u0301t", ".g\u0456t" /* control: see below */, ".g\u0131t" /* a dotless i */,
      ".G\u0130T" /* I with a dot */, ".gitattributes", ".GitAttributes", ".gitattributes ", ".gitmodules",
      ".gitignore", ".gitkeep", ".githooks", ".github", ".gitlab-ci.yml", ".GITLAB-CI.YML", ".gitea", ".gitconfig"};
  for (const auto& name : spellings) {
    if (name == ".g\u0456t") continue;  // a Cyrillic letter is another letter to every file system
    for (const std::string& path : {name, "sandbox/" + name, name + "/config", "a/b/" + name + "/hooks/pre-commit"}) {
      for (const auto kind : {TaskKind::test, TaskKind::any}) {
        const auto rules = refused(changed(path), kind);
        EXPECT_TRUE(rules.contains("policy.git_file")) << path;
        EXPECT_TRUE(refused(changed(path, Kind::file, Kind::absent), kind).contains("policy.git_file"))
            << path << " taken away";
      }
    }
  }
  EXPECT_FALSE(refused(changed("a/.g\u0456t/config")).contains("policy.git_file"));
}

TEST(ChangePolicy, ABackslashPartsNames) {
  const auto rules = refused(changed("sandbox\\.git\\hooks\\pre-commit"));
  EXPECT_TRUE(rules.contains("policy.git_file"));
  EXPECT_TRUE(rules.contains("policy.path"));
}

TEST(ChangePolicy, WhatSomebodyObeysIsRefused) {
  const std::vector<NameCase> cases = {
      {"guard.toml", "policy.configuration_changed"},
      {"pkg/Guard.TOML", "policy.configuration_changed"},
      {"bunfig.toml", "policy.configuration_changed"},
      {"sandbox/BunFig.toml.", "policy.configuration_changed"},
      {"guard.toml::$DATA", "policy.configuration_changed"},
      {"bun\u017fig.toml", ""},  // a long s for an f: no file system folds that
      {".circleci/config.yml", "policy.agent_or_ci_configuration"},
      {"Jenkinsfile", "policy.agent_or_ci_configuration"},
      {"ci/Jenkinsfile.release", "policy.agent_or_ci_configuration"},
      {"azure-pipelines.yml", "policy.agent_or_ci_configuration"},
      {"azure-pipelines-release.yaml", "policy.agent_or_ci_configuration"},
      {".travis.yml", "policy.agent_or_ci_configuration"},
      {"bitbucket-pipelines.yml", "policy.agent_or_ci_configuration"},
      {".buildkite/pipeline.yml", "policy.agent_or_ci_configuration"},
      {".drone.yml", "policy.agent_or_ci_configuration"},
      {".woodpecker/a.yaml", "policy.agent_or_ci_configuration"},
      {".woodpecker.yml", "policy.agent_or_ci_configuration"},
      {"appveyor.yml", "policy.agent_or_ci_configuration"},
      {"CLAUDE.md", "policy.agent_or_ci_configuration"},
      {"sandbox/claude.md", "policy.agent_or_ci_configuration"},
      {"claude.local.md", "policy.agent_or_ci_configuration"},
      {"AGENTS.md", "policy.agent_or_ci_configuration"},
      {"GEMINI.md", "policy.agent_or_ci_configuration"},
      {".claude/settings.json", "policy.agent_or_ci_configuration"},
      {".Claude/skills/a.md", "policy.agent_or_ci_configuration"},
      {".cursor/rules/a.mdc", "policy.agent_or_ci_configuration"},
      {".cursorrules", "policy.agent_or_ci_configuration"},
      {".windsurfrules", "policy.agent_or_ci_configuration"},
      {".clinerules", "policy.agent_or_ci_configuration"},
      {".aider.conf.yml", "policy.agent_or_ci_configuration"},
      {".mcp.json", "policy.agent_or_ci_configuration"},
      {".copilot/config", "policy.agent_or_ci_configuration"},
      {".codex/config.toml", "policy.agent_or_ci_configuration"},
      {".gemini/settings.json", "policy.agent_or_ci_configuration"},
      {".npmrc", "policy.tool_configuration"},
      {"pkg/.NPMRC", "policy.tool_configuration"},
      {".yarnrc.yml", "policy.tool_configuration"},
      {".env", "policy.tool_configuration"},
      {".env.local", "policy.tool_configuration"},
      {"sandbox/.ENV.test", "policy.tool_configuration"},
      {".envrc", "policy.tool_configuration"},
      {".husky/pre-commit", "policy.tool_configuration"},
      {".vscode/tasks.json", "policy.tool_configuration"},
      {".idea/workspace.xml", "policy.tool_configuration"},
      {".devcontainer/devcontainer.json", "policy.tool_configuration"},
      {".devcontainer.json", "policy.tool_configuration"},
      {"lefthook.yml", "policy.tool_configuration"},
      {".pre-commit-config.yaml", "policy.tool_configuration"},
      {"prek.toml", "policy.tool_configuration"},
      {"node_modules/left-pad/index.js", "policy.tool_configuration"},
      {"src/Node_Modules/x/index.js", "policy.tool_configuration"},
  };
  for (const auto& [path, rule] : cases) {
    const Rules expected = rule.empty() ? Rules() : Rules{rule};
    auto rules = refused(changed(path));
    rules.erase("policy.path");  // some of the spellings are refused for themselves
    EXPECT_EQ(rules, expected) << path;
    rules = refused(changed(path, Kind::file, Kind::absent));
    rules.erase("policy.path");
    EXPECT_EQ(rules, expected) << path << " taken away";
  }
}

TEST(ChangePolicy, ATestNeedsNoBuildFilesAndNoHiddenOnes) {
  for (const std::string path : {"tsconfig.json", "tsconfig.base.json", "Makefile", "vite.config.ts",
           "sandbox/Dockerfile", "sandbox/.hidden", ".cache/a.ts", "justfile", "binding.gyp", "npm-shrinkwrap.json",
           "vitest.workspace.ts", "turbo.json", "nx.json", "lerna.json", "pkg/BUILD.bazel", "lib.bzl", "CMakeLists.txt",
           "build.gradle.kts", "app.config.yaml"}) {
    EXPECT_EQ(refused(changed(path), TaskKind::test), Rules{"policy.tool_configuration"}) << path;
    EXPECT_EQ(refused(changed(path), TaskKind::any), Rules()) << path;
  }
}

TEST(ChangePolicy, ForbiddenFilesHoldForTestsInEveryFolderAndSpelling) {
  for (const std::string path : {"package.json", "bun.lock", "bun.lockb", "package-lock.json", "yarn.lock",
           "pnpm-lock.yaml", "pkg/deep/package.json", "Package.JSON", "sandbox/YARN.LOCK", "pac\u212aage.json",
           "package.json ", "package.json.", "package.json:x", "package.json/index.ts"}) {
    EXPECT_TRUE(refused(changed(path), TaskKind::test).contains("policy.forbidden_file")) << path;
    EXPECT_TRUE(refused(changed(path, Kind::file, Kind::absent), TaskKind::test).contains("policy.forbidden_file"))
        << path << " taken away";
    EXPECT_FALSE(refused(changed(path), TaskKind::any).contains("policy.forbidden_file")) << path;
  }
  EXPECT_EQ(refused(changed("package.json"), TaskKind::any), Rules());
  EXPECT_EQ(refused(changed("sandbox/my-package.json"), TaskKind::test), Rules());
  // Short for package.json on file systems that make such names.
  EXPECT_TRUE(refused(changed("PACKAG~1.JSO")).contains("policy.path"));

  auto options = options_for(TaskKind::test);
  options.forbidden_files = {"src/**", "*.SNAP", "docs/*.md"};
  const auto rules = [&](const std::string& path) {
    return rules_of(check_policy(change_of({changed(path)}), options));
  };
  EXPECT_EQ(rules("src/a.ts"), Rules{"policy.forbidden_file"});
  EXPECT_EQ(rules("SRC/a.ts"), Rules{"policy.forbidden_file"});
  EXPECT_EQ(rules("pkg/src/a.ts"), Rules{"policy.forbidden_file"});
  EXPECT_EQ(rules("src"), Rules{"policy.forbidden_file"}) << "a file in the folder's place";
  EXPECT_EQ(rules("sandbox/a.snap"), Rules{"policy.forbidden_file"});
  EXPECT_EQ(rules("docs/a.md"), Rules{"policy.forbidden_file"});
  EXPECT_EQ(rules("docs/deep/a.md"), Rules());
  EXPECT_EQ(rules("sandbox/srcs/a.ts"), Rules());
}

TEST(ChangePolicy, ForbiddenPathsHoldForEveryKind) {
  for (const auto kind : {TaskKind::test, TaskKind::any}) {
    auto options = options_for(kind);
    options.forbidden_paths = {"migrations/**", "./src/auth/*"};
    const auto rules = [&](const std::string& path) {
      return rules_of(check_policy(change_of({changed(path)}), options));
    };
    EXPECT_EQ(rules("migrations/1.sql"), Rules{"policy.forbidden_path"});
    EXPECT_EQ(rules("Migrations/deep/1.sql"), Rules{"policy.forbidden_path"});
    EXPECT_EQ(rules("src/auth/login.ts"), Rules{"policy.forbidden_path"});
    EXPECT_EQ(rules("src/other/login.ts"), Rules());
  }
}

TEST(ChangePolicy, AllowedPathsAreSeenFromTheRootAndAsWritten) {
  auto options = options_for(TaskKind::any);
  options.allowed_paths = {"sandbox/**", "docs/*.md"};
  const auto rules = [&](const std::string& path) {
    return rules_of(check_policy(change_of({changed(path)}), options));
  };
  EXPECT_EQ(rules("sandbox/a/b.ts"), Rules());
  EXPECT_EQ(rules("docs/a.md"), Rules());
  for (const std::string path :
      {"src/a.ts", "pkg/sandbox/a.ts", "Sandbox/a.ts", "docs/a/b.md", "sandbox", "sandboxes/a.ts"}) {
    EXPECT_EQ(rules(path), Rules{"policy.outside_allowed_paths"}) << path;
  }
  EXPECT_TRUE(rules("sandbox/../src/a.ts").contains("policy.path")) << "the glob alone would let it pass";
}

TEST(ChangePolicy, NamesThatMeanSomethingElseElsewhereAreRefused) {
  for (const std::string& path :
      {std::string(), std::string("/etc/passwd"), std::string("a//b"), std::string("a/"), std::string("./a"),
          std::string("a/./b"), std::string("../a"), std::string("a/../../b"), std::string("a/.."), std::string("a\nb"),
          std::string("a\tb"), std::string("a\rb"), std::string("a\x1b[2Jb"), std::string("a\x7f"),
          std::string("a\0b", 3), std::string("a\u0085b"), std::string("a\u2028b"), std::string("\xff\xfe"),
          std::string("caf\xe9.ts"), std::string("\xc0\xae\xc0\xae/a"), std::string("\xed\xa0\x80"),
          std::string("a\u202etxt.ts"), std::string("a\u200bb"), std::string("a\\b"), std::string("C:a"),
          std::string("a:b"), std::string("a."), std::string("a "), std::string("a /b"), std::string(".../b"),
          std::string("a/.. /b"), std::string("packag~1.jso"), std::string(300, 'a'), std::string(5000, 'a')}) {
    EXPECT_TRUE(refused(changed(path)).contains("policy.path")) << path;
  }
}

TEST(ChangePolicy, KindsOfEntries) {
  struct Case {
    Kind before;
    Kind after;
    Rules rules;
  };
  const std::vector<Case> cases = {
      {Kind::absent, Kind::file, {}},
      {Kind::file, Kind::file, {}},
      {Kind::executable, Kind::executable, {}},
      {Kind::file, Kind::absent, {}},
      {Kind::executable, Kind::absent, {}},
      {Kind::absent, Kind::executable, {"policy.executable_file"}},
      {Kind::file, Kind::executable, {"policy.mode_change"}},
      {Kind::executable, Kind::file, {"policy.mode_change"}},
      {Kind::absent, Kind::link, {"policy.symbolic_link"}},
      {Kind::file, Kind::link, {"policy.symbolic_link"}},
      {Kind::link, Kind::file, {"policy.symbolic_link"}},
      {Kind::link, Kind::link, {"policy.symbolic_link"}},
      {Kind::link, Kind::absent, {"policy.symbolic_link"}},
      {Kind::link, Kind::executable, {"policy.executable_file", "policy.symbolic_link"}},
      {Kind::absent, Kind::submodule, {"policy.submodule"}},
      {Kind::file, Kind::submodule, {"policy.submodule"}},
      {Kind::submodule, Kind::submodule, {"policy.submodule"}},
      {Kind::submodule, Kind::absent, {"policy.submodule"}},
      {Kind::submodule, Kind::link, {"policy.submodule", "policy.symbolic_link"}},
      {Kind::absent, Kind::other, {"policy.special_file"}},
      {Kind::file, Kind::other, {"policy.special_file"}},
  };
  for (const auto& [before, after, rules] : cases) {
    for (const auto kind : {TaskKind::test, TaskKind::any}) {
      EXPECT_EQ(refused(changed("sandbox/a.ts", before, after), kind), rules)
          << static_cast<int>(before) << " -> " << static_cast<int>(after);
    }
  }
}

TEST(ChangePolicy, BinaryAndUnreadFilesAreRefused) {
  EXPECT_EQ(refused(changed("a.ts", Kind::absent, Kind::file, std::string("const a = 1;\0\n", 14))),
      Rules{"policy.binary_file"});
  EXPECT_EQ(refused(changed("a.ts", Kind::file, Kind::file, std::string(20'000, 'a') + std::string("\0", 1))),
      Rules{"policy.binary_file"})
      << "behind what git looks at";
  EXPECT_EQ(refused(changed("a.txt", Kind::absent, Kind::file, "caf\xe9\n")), Rules{"policy.binary_file"});
  EXPECT_EQ(refused(changed("a.txt", Kind::absent, Kind::file,
                std::string("\xff\xfe"
                            "a\0",
                    4))),
      Rules{"policy.binary_file"})
      << "UTF-16";
  EXPECT_EQ(refused(changed("a.png", Kind::file, Kind::absent, "", std::string("\x89PNG\0", 5))), Rules())
      << "nothing of it is left";
  EXPECT_EQ(refused(changed("a.ts", Kind::absent, Kind::file, "a\r\nb\rc\n")), Rules());
  auto unread = changed("big.ts");
  unread.new_bytes.clear();
  unread.new_size = 10;
  unread.unread = true;
  EXPECT_EQ(refused(unread), Rules{"policy.unread_file"});
}

TEST(ChangePolicy, AtMostFiveFiles) {
  std::vector<ChangedFile> files;
  for (int i = 0; i < 5; ++i) files.push_back(changed("sandbox/" + std::to_string(i) + ".ts"));
  EXPECT_EQ(refused(change_of(files)), Rules());
  files.push_back(changed("sandbox/gone.ts", Kind::file, Kind::absent));
  EXPECT_EQ(refused(change_of(files)), Rules{"policy.too_many_files"}) << "what is taken away counts";
  auto change = change_of(files);
  Finding told;
  told.rule = "policy.too_many_files";
  change.findings.push_back(told);
  EXPECT_EQ(refused(change), Rules()) << "the change's own findings are not repeated";
  // A rename is two.
  files = {changed("a.ts", Kind::file, Kind::absent), changed("b.ts")};
  auto options = options_for(TaskKind::any);
  options.changed_files_max = 1;
  EXPECT_EQ(rules_of(check_policy(change_of(files), options)), Rules{"policy.too_many_files"});
}

TEST(ChangePolicy, ADiffHasALimitInLinesAndInBytes) {
  auto options = options_for(TaskKind::any);
  options.diff_lines_max = 4;
  options.diff_bytes_max = 100;
  const auto rules = [&](std::vector<ChangedFile> files) {
    return rules_of(check_policy(change_of(std::move(files)), options));
  };
  EXPECT_EQ(rules({changed("a", Kind::absent, Kind::file, "1\n2\n3\n4\n")}), Rules());
  EXPECT_EQ(rules({changed("a", Kind::absent, Kind::file, "1\n2\n3\n4\n5")}), Rules{"policy.diff_too_large"});
  EXPECT_EQ(rules({changed("a", Kind::file, Kind::file, "1\n2\n3\n", "4\n5\n")}), Rules{"policy.diff_too_large"})
      << "removed lines count";
  EXPECT_EQ(rules({changed("a", Kind::absent, Kind::file, "1\n2\n"),
                changed("b", Kind::file, Kind::absent, "", "1\n2\n3\n")}),
      Rules{"policy.diff_too_large"})
      << "together";
  EXPECT_EQ(rules({changed("a", Kind::absent, Kind::file, std::string(100, 'x'))}), Rules());
  EXPECT_EQ(rules({changed("a", Kind::absent, Kind::file, std::string(60, 'x')),
                changed("b", Kind::absent, Kind::file, std::string(60, 'x'))}),
      Rules{"policy.diff_too_large"});
  auto huge = changed("a");
  huge.new_bytes.clear();
  huge.unread = true;
  huge.new_size = UINT64_MAX;
  auto other = huge;
  other.path = "b";
  EXPECT_EQ(rules({huge, other}), (Rules{"policy.diff_too_large", "policy.unread_file", "policy.unread_file"}))
      << "sums do not wrap";
  huge = changed("a");
  huge.lines_added = UINT64_MAX;
  huge.lines_removed = 2;
  EXPECT_EQ(rules({huge}), Rules{"policy.diff_too_large"});
}

TEST(ChangePolicy, NamesThatDifferInCaseAloneAreRefused) {
  struct Case {
    std::string what;
    std::vector<ChangedFile> files;
    std::vector<std::string> unchanged;
    bool refused;
  };
  const std::vector<Case> cases = {
      {"two new files", {changed("a.ts"), changed("A.ts")}, {}, true},
      {"a case-only rename", {changed("a.ts", Kind::file, Kind::absent), changed("A.ts")}, {}, true},
      {"a rename", {changed("a.ts", Kind::file, Kind::absent), changed("b.ts")}, {}, false},
      {"a file that stays", {changed("A.ts")}, {"a.ts", "b.ts"}, true},
      {"a folder that stays", {changed("Sandbox/b.ts")}, {"sandbox/a.ts"}, true},
      {"a folder below", {changed("x/Sandbox/b.ts")}, {"a.ts", "x/a.ts", "x/sandbox/a.ts"}, true},
      {"the same folder", {changed("sandbox/b.ts")}, {"sandbox/a.ts", "sandbox/c.ts"}, false},
      {"another place", {changed("x/a.ts")}, {"A.ts", "y/A.ts"}, false},
      {"what was so before", {changed("A.ts", Kind::file)}, {"a.ts"}, false},
      {"a file in place of a folder", {changed("a", Kind::absent), changed("a/b.ts", Kind::file, Kind::absent)}, {},
          false},
      {"a folder in place of a file", {changed("a", Kind::file, Kind::absent), changed("a/b.ts")}, {}, false},
      {"a folder and a file of one name", {changed("a/b.ts")}, {"a"}, true},
      {"the same, both new", {changed("a"), changed("a/b.ts")}, {}, true},
      {"a folder like a file in another case", {changed("A/b.ts")}, {"a"}, true},
      {"accents, composed and not", {changed("caf\u00e9.ts")}, {"cafe\u0301.ts"}, true},
      {"upper case with accents", {changed("\u00c9t\u00e9.ts")}, {"\u00e9t\u00e9.ts"}, true},
      {"Greek", {changed("\u03a3.ts")}, {"\u03c3.ts"}, true},
      {"Cyrillic", {changed("\u0416.ts")}, {"\u0436.ts"}, true},
      {"other letters", {changed("\u65e5.ts")}, {"\u6708.ts"}, false},
      {"a name with a dot behind", {changed("a.ts.")}, {"a.ts"}, true},
  };
  for (const auto& row : cases) {
    auto change = change_of(row.files);
    change.unchanged = row.unchanged;
    EXPECT_EQ(refused(change).contains("policy.case_conflict"), row.refused) << row.what;
  }
}

TEST(ChangePolicy, AThousandFilesAgainstALargeTreeTakeLittle) {
  ChangeSet change;
  for (int i = 1000; i < 2000; ++i) change.files.push_back(changed("sandbox/" + std::to_string(i) + "/a.ts"));
  for (int i = 100'000; i < 150'000; ++i)
    change.unchanged.push_back("src/folder" + std::to_string(i / 100) + "/file" + std::to_string(i) + ".ts");
  EXPECT_EQ(refused(change), Rules{"policy.too_many_files"});
}

}  // namespace
}  // namespace guard
