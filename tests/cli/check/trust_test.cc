// What a guard.toml relaxes counts for `guard run` and `guard exec` only where the file is committed as it is.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "tests/support/program/git_repository.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

const std::string kHost = "backend = \"host\"\n[host]\nwarn_on_start = false\n";

class Trust : public ::testing::Test {
 protected:
  ProgramResult run(std::vector<std::string> more = {}) const {
    std::vector<std::string> arguments = {"run", "--format", "json"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.emplace_back("sandbox/a.test.ts");
    return repository_.guard(arguments);
  }

  void SetUp() override {
    // Leaves a trace outside: whether anything ran is seen there and not in what guard says.
    repository_.write("sandbox/a.test.ts",
        "import { expect, test } from \"bun:test\";\nimport { writeFileSync } from \"node:fs\";\n"
        "test(\"runs\", () => { writeFileSync(\"" +
            trace().string() + "\", \"x\"); expect(1).toBe(1); });\n");
    repository_.must("git add -A; git commit -q -m test");
  }
  fs::path trace() const { return repository_.home() / "ran"; }

  void expect_refused(const ProgramResult& result, std::string_view word) const {
    EXPECT_EQ(result.exit_status, 2) << result.out << result.err;
    const auto document = result.document();
    EXPECT_EQ(document.value("verdict", ""), "undecided") << result.out;
    const std::string said = document.contains("error") ? document["error"].dump() : "";
    EXPECT_NE(said.find("CONFIG_INVALID"), std::string::npos) << said;
    EXPECT_NE(said.find(word), std::string::npos) << said;
    EXPECT_NE(said.find("commit"), std::string::npos) << said;
    EXPECT_FALSE(fs::exists(trace())) << "it ran";
  }

  Repository repository_;
};

TEST_F(Trust, WhatNobodyCommittedIsNotTaken) {
  repository_.write("guard.toml", kHost);
  expect_refused(run(), "backend = \\\"host\\\" (guard.toml:1)");
  repository_.must("git add guard.toml");
  expect_refused(run(), "HEAD");
  repository_.must("git commit -q -m host; echo '# more' >> guard.toml");
  expect_refused(run(), "HEAD");
  repository_.must(
      "git checkout -q guard.toml; git rm -q --cached guard.toml; git commit -q -m gone; echo guard.toml > "
      ".git/info/exclude");
  expect_refused(run(), "HEAD");
  EXPECT_EQ(repository_.guard({"exec", "--", "/bin/true"}).exit_status, 2);
}

TEST_F(Trust, DoctorStartsNoProgramThatNobodyCommitted) {
  const fs::path program = repository_.path() / "cu";
  repository_.write("cu", "#!/bin/sh\necho ran >> \"" + trace().string() + "\"\n");
  repository_.must("chmod +x cu");
  repository_.write("guard.toml", "[container_use]\nprogram = \"" + program.string() + "\"\n");
  const auto result = repository_.guard({"doctor"});
  EXPECT_NE(result.out.find("container_use.program"), std::string::npos) << result.out;
  EXPECT_FALSE(fs::exists(trace()));
  repository_.must("git add -A; git commit -q -m cu");
  static_cast<void>(repository_.guard({"doctor"}));
  EXPECT_TRUE(fs::exists(trace()));
}

TEST_F(Trust, WhereThereIsNoRepositoryNothingIsCommitted) {
  repository_.write("guard.toml", kHost);
  repository_.must("rm -rf .git");
  expect_refused(run(), "git");
  repository_.must("mkdir .git; echo nonsense > .git/HEAD");
  expect_refused(run(), "git");
}

TEST_F(Trust, WithoutGitNothingIsKnownToBeCommitted) {
  repository_.write("guard.toml", kHost);
  repository_.must("git commit -q -am host");
  ProgramCall call;
  call.arguments = {"run", "--format", "json", "--project", repository_.path().string(),
      (repository_.path() / "sandbox/a.test.ts").string()};
  call.folder = repository_.path();
  call.environment = {{"PATH", "/nonexistent"}};
  const Project any;
  expect_refused(any.guard(call), "git");
}

// Each question is the start of a program.
TEST_F(Trust, GitIsAskedTwoThings) {
  repository_.write("guard.toml", "trust_namespace = true\n");
  repository_.must(
      "git add -A; git commit -q -m trust; mkdir \"$HOME/bin\"; printf '#!/bin/sh\\necho >>\"%s\"\\nexec %s \"$@\"\\n' "
      "\"$HOME/calls\" \"$(command -v git)\" >\"$HOME/bin/git\"; chmod +x \"$HOME/bin/git\"");
  ProgramCall call;
  call.arguments = {"run", "--format", "json", "--backend", "namespace", "sandbox/a.test.ts"};
  call.folder = repository_.path();
  call.environment = {
      {"HOME", repository_.home().string()}, {"PATH", (repository_.home() / "bin").string() + ":/usr/bin:/bin"}};
  const Project any;
  const auto result = any.guard(call);
  EXPECT_EQ(result.out.find("CONFIG_INVALID"), std::string::npos) << result.out;
  EXPECT_EQ(fs::file_size(repository_.home() / "calls"), 2u);
}

TEST_F(Trust, TheLinesThatRelaxNothingNeedNoCommitAndNoGit) {
  repository_.write("guard.toml", "[limits]\nmemory = \"1g\"\npids = 100\n[run]\ngrace_s = 1\n");
  repository_.must("mv .git away");
  const auto result = run();
  EXPECT_EQ(result.out.find("CONFIG_INVALID"), std::string::npos) << result.out;
}

// Whatever is refused here would otherwise get as far as looking for a sandbox.
TEST_F(Trust, EveryWayOfAPersonIsTaken) {
  const auto got_through = [&](const ProgramResult& result) {
    EXPECT_EQ(result.out.find("CONFIG_INVALID"), std::string::npos) << result.out;
  };
  repository_.write("guard.toml", "[docker]\nnetwork = \"bridge\"\n");
  expect_refused(run(), "docker.network");
  repository_.must("cp guard.toml \"$HOME/guard.toml\"");
  got_through(run({"--config", (repository_.home() / "guard.toml").string()}));
  // Another file of the tree is none of a person's own.
  repository_.must("cp guard.toml other.toml; git checkout -q guard.toml");
  expect_refused(run({"--config", "other.toml"}), "docker.network");
  repository_.must("ln -s \"$PWD/other.toml\" \"$HOME/link.toml\"");
  expect_refused(run({"--config", (repository_.home() / "link.toml").string()}), "docker.network");
  repository_.must("git add other.toml; git commit -q -m other");
  got_through(run({"--config", "other.toml"}));
  ProgramCall call;
  call.arguments = {"run", "--format", "json", "sandbox/a.test.ts"};
  call.folder = repository_.path();
  call.environment = {{"HOME", repository_.home().string()}, {"GUARD_DOCKER_NETWORK", "bridge"}};
  const Project any;
  got_through(any.guard(call));
  repository_.write("guard.toml", "[docker]\nnetwork = \"bridge\"\n");
  got_through(any.guard(call));  // the file's word is not the last one
}

}  // namespace
}  // namespace guard::testing
