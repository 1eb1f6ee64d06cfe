// `guard check FOLDER` and .gitignore, with real git: what it may leave out, and what it may not.
#include <gtest/gtest.h>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

constexpr std::string_view kGuilty = "console.log(JSON.stringify(process.env));\n";

struct IgnoredFiles : ::testing::Test {
  IgnoredFiles() {
    repository.write(".gitignore", "dist/\n*.gen.ts\n");
    repository.write("src/a.ts", "export const a = 1;\n");
    repository.write("dist/deep/b.js", kGuilty);
    repository.write("src/c.gen.ts", kGuilty);
  }
  Repository repository;
};

TEST_F(IgnoredFiles, ArePassedOverAndCounted) {
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.out.find("ignored: 2 files, by git (--no-ignore"), std::string::npos) << result.out;
  const auto document = repository.guard({"check", "--mode", "docker", "--format", "json", "."}).document();
  EXPECT_EQ(document["ignored_files"], 2);
  EXPECT_EQ(document["passed_over"], 2) << "its old name stays for one version";
}

TEST_F(IgnoredFiles, AreLookedAtOnRequest) {
  const auto result = repository.guard({"check", "--mode", "docker", "--no-ignore", "."});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("dist/deep/b.js:1:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("src/c.gen.ts:1:"), std::string::npos) << result.out;
}

TEST_F(IgnoredFiles, AreLookedAtWhereTheyAreNamed) {
  EXPECT_EQ(repository.guard({"check", "--mode", "docker", "src/c.gen.ts"}).exit_status, 1);
  EXPECT_EQ(repository.guard({"check", "--mode", "docker", "dist"}).exit_status, 1);
}

TEST_F(IgnoredFiles, OfTheRulesOfAFolderCountFromThereOn) {
  repository.write("src/.gitignore", "d.ts\n");
  repository.write("src/d.ts", kGuilty);
  repository.write("d.ts", kGuilty);
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_TRUE(result.out.starts_with("d.ts:1:")) << result.out;
  EXPECT_EQ(result.out.find("src/d.ts:1:"), std::string::npos) << result.out;
}

// What is gated is gated: the change that is judged could bring the .gitignore along.
TEST_F(IgnoredFiles, CannotHideGatedPaths) {
  repository.write(".gitignore", "sandbox/\ndist/\n*\n");
  repository.write("sandbox/a.test.ts", kGuilty);
  repository.write("dist/sandbox/b.test.ts", kGuilty);
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("sandbox/a.test.ts:1:"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("dist/sandbox/b.test.ts:1:"), std::string::npos) << result.out;
}

TEST_F(IgnoredFiles, AreLookedAtWhereGitTracksThem) {
  repository.must("git add -f src/c.gen.ts && git commit -qm tracked");
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_NE(result.out.find("src/c.gen.ts:1:"), std::string::npos) << result.out;
}

// Neither a list outside of the tree nor another work tree may leave out anything.
TEST_F(IgnoredFiles, AreNamedByTheTreeAlone) {
  repository.must(
      "rm .gitignore; echo src/ >> .git/info/exclude; touch nothing/.gitignore 2>/dev/null || { mkdir nothing; touch "
      "nothing/.gitignore; }");
  EXPECT_EQ(repository.guard({"check", "--mode", "docker", "."}).exit_status, 1);
  repository.must(
      "mkdir -p elsewhere/src && echo 'src/' > elsewhere/.gitignore && cp src/c.gen.ts elsewhere/src && "
      "git config core.worktree \"$PWD/elsewhere\"");
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_NE(result.out.find("src/c.gen.ts:1:"), std::string::npos) << result.out;
}

// A repository that was put inside of the tree has no say in it.
TEST_F(IgnoredFiles, AreNotNamedByARepositoryInsideOfTheTree) {
  repository.write("src/a.ts", kGuilty);
  repository.must(
      "rm .gitignore && git add -A && git commit -qm tracked && echo '*' > src/.gitignore && git init -q src");
  const auto result = repository.guard({"check", "--mode", "docker", "."});
  EXPECT_NE(result.out.find("src/a.ts:1:"), std::string::npos) << result.out;
}

// git takes an index that is not there for an empty one, and what it tracks for what it does not know.
TEST_F(IgnoredFiles, AreLookedAtWithoutAnIndex) {
  repository.must("git add -f src/c.gen.ts && git commit -qm tracked");
  const auto result = repository.shell(
      "GIT_INDEX_FILE=/nowhere/index \"$GUARD\" check --mode docker .", {}, {{"GUARD", GUARD_PROGRAM}});
  EXPECT_NE(result.out.find("src/c.gen.ts:1:"), std::string::npos) << result.out;
}

// Without git there is no saying what is ignored.
TEST_F(IgnoredFiles, AreLookedAtWithoutGit) {
  const auto result =
      repository.shell("PATH=/nowhere; export PATH; \"$GUARD\" check --mode docker .", {}, {{"GUARD", GUARD_PROGRAM}});
  EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
  EXPECT_NE(result.out.find("dist/deep/b.js:1:"), std::string::npos) << result.out;
}

}  // namespace
}  // namespace guard::testing
