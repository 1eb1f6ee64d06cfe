// The hooks of .pre-commit-hooks.yaml through the real tools that read it: pre-commit, and prek.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "tests/support/program/git_repository.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;

constexpr std::string_view kDump = "console.log(JSON.stringify(process.env));\n";

class HookManager : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    const bool prek = GetParam() == "prek";
    const char* named = std::getenv("GUARD_PREK");
    manager_ = prek ? (named == nullptr ? "" : named) : "pre-commit";
    if (manager_.empty() || repository_.shell("'" + manager_ + "' --version").exit_status != 0) {
      const char* required = std::getenv(prek ? "GUARD_TEST_REQUIRE_PREK" : "GUARD_TEST_REQUIRE_PRE_COMMIT");
      const std::string why_not = GetParam() + " is not to be had" + (prek ? ": GUARD_PREK names none" : "");
      if (required != nullptr && std::string_view(required) == "1") FAIL() << why_not;
      GTEST_SKIP() << why_not;
    }
    // As a person has it: the program on the PATH, the hooks in a repository of their own.
    repository_.must("mkdir $HOME/bin $HOME/hooks && ln -s '" GUARD_PROGRAM "' $HOME/bin/guard");
    repository_.must(
        "cp '" GUARD_SOURCE_DIR
        "/.pre-commit-hooks.yaml' . && git init -q . && git add -A && git commit -q -m hooks && git tag v1",
        repository_.home() / "hooks");
  }
  void configure(const std::string& text) { repository_.write(".pre-commit-config.yaml", text); }
  void configure_from_repository() {
    configure("repos:\n- repo: " + (repository_.home() / "hooks").string() +
        "\n  rev: v1\n  hooks:\n  - id: guard\n  - id: guard-files\n");
  }
  ProgramResult shell(const std::string& script) const {
    // Nothing may come from a network, and nothing may be kept outside of the test.
    return repository_.shell("PATH=$HOME/bin:$PATH; " + script, {},
        {{"PRE_COMMIT_HOME", (repository_.home() / "cache").string()},
            {"PREK_HOME", (repository_.home() / "cache").string()}, {"manager", manager_},
            {"http_proxy", "http://127.0.0.1:9"}, {"https_proxy", "http://127.0.0.1:9"}});
  }
  void expect_gate() {
    ASSERT_EQ(shell("git add -A && git commit -q -m config && \"$manager\" install").exit_status, 0);
    const auto status = repository_.guard({"hook", "status"});
    EXPECT_EQ(status.exit_status, 1);
    EXPECT_THAT(status.out, HasSubstr("foreign"));

    repository_.write("sandbox/a.test.ts", kDump);
    const std::string before = repository_.head();
    const auto bad = shell("git add -A && git commit -m bad");
    EXPECT_NE(bad.exit_status, 0);
    EXPECT_THAT(bad.out + bad.err, HasSubstr("sandbox/a.test.ts:1"));
    EXPECT_EQ(repository_.head(), before);

    // The staged file stays out of a commit of another path, and what is on disk does not count.
    repository_.write("notes.md", "# more\n");
    const auto path = shell("git commit -m path notes.md");
    EXPECT_EQ(path.exit_status, 0) << path.out << path.err;
    EXPECT_NE(shell("echo 'export {}' > sandbox/a.test.ts; git commit -m bad").exit_status, 0);
    const auto good = shell("git add -A && git commit -m good");
    EXPECT_EQ(good.exit_status, 0) << good.out << good.err;
  }
  Repository repository_;
  std::string manager_;
};

TEST_P(HookManager, GatesCommitsWithTheHookOfARepository) {
  configure_from_repository();
  expect_gate();
}

TEST_P(HookManager, GatesCommitsWithALocalHook) {
  configure(
      "repos:\n- repo: local\n  hooks:\n  - id: guard\n    name: guard\n    entry: guard check --staged\n    language: "
      "system\n"
      "    pass_filenames: false\n    always_run: true\n");
  expect_gate();
}

TEST_P(HookManager, CommitsThatOnlyDeleteOrConfigureAreJudged) {
  configure_from_repository();
  ASSERT_EQ(shell("git add -A && git commit -q -m config && \"$manager\" install").exit_status, 0);
  const auto bad = shell("git rm -q guard.toml && git commit -m bad");
  EXPECT_NE(bad.exit_status, 0);
  EXPECT_THAT(bad.out + bad.err, HasSubstr("policy.configuration_changed"));
}

TEST_P(HookManager, WithoutGuardNothingIsCommitted) {
  configure_from_repository();
  ASSERT_EQ(
      shell("git add -A && git commit -q -m config && \"$manager\" install && rm $HOME/bin/guard").exit_status, 0);
  const std::string before = repository_.head();
  repository_.write("notes.md", "# more\n");
  EXPECT_NE(shell("git commit -q -a -m more").exit_status, 0);
  EXPECT_EQ(repository_.head(), before);
}

TEST_P(HookManager, CanBeTriedWithoutConfiguration) {
  repository_.write("sandbox/a.test.ts", kDump);
  const auto tried = shell("git add -A && \"$manager\" try-repo $HOME/hooks guard --verbose");
  EXPECT_NE(tried.exit_status, 0);
  EXPECT_THAT(tried.out + tried.err, HasSubstr("sandbox/a.test.ts:1"));
}

TEST_P(HookManager, AllFilesCanBeJudgedInCi) {
  configure_from_repository();
  repository_.write("sandbox/a.test.ts", kDump);
  const auto run =
      shell("git add -A && git commit -q -m config && \"$manager\" run guard-files --hook-stage manual --all-files");
  EXPECT_NE(run.exit_status, 0);
  EXPECT_THAT(run.out + run.err, HasSubstr("sandbox/a.test.ts:1"));
}

INSTANTIATE_TEST_SUITE_P(
    Tools, HookManager, ::testing::Values("pre_commit", "prek"), [](const auto& tool) { return tool.param; });

}  // namespace
}  // namespace guard::testing
