#include "pipeline/hooks/shell_command.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(ShellCommand, OneCommitOfWhatIsStagedIsPlain) {
  for (const char* command : {"git commit -m 'say; what'", "git commit -m \"fix\" --amend",
           "git commit --no-edit --amend", "git commit -qm fix", "git commit -sF msg.txt", "git commit --message=x",
           "/usr/bin/git commit -m x", "  git   commit -m x ", "git commit -m 'do not use git commit --no-verify'",
           "git commit", "git commit --no-verbose -m x"}) {
    const ShellReading reading = read_shell_command(command);
    EXPECT_TRUE(reading.commits) << command;
    EXPECT_FALSE(reading.skips_hooks) << command;
    EXPECT_EQ(reading.plain, std::string_view(command).find("--no-verbose") == std::string_view::npos) << command;
  }
}

TEST(ShellCommand, WhateverMayStageMoreIsNotPlain) {
  for (const char* command : {"git add -A && git commit -m x", "git commit -am x", "git commit -a",
           "git commit -m x file.ts", "git commit -m x -- file.ts", "git commit -p", "git commit --all -m x",
           "git commit -m \"$(cat <<'EOF'\nx\nEOF\n)\"", "make; git commit -m x", "FOO=1 git commit -m x",
           "git -c user.name=x commit -m x", "git commit -m x\ngit push", "git commit -m `date`",
           "sh -c 'git add -A; git commit -m x'", "echo x | xargs git commit -m", "git commit -i x",
           "g\"it\" com'mit' -a", "git \\\ncommit -a", "(git commit)", "{ git commit; }", "git commit -m *",
           "git commit --pathspec-from-file=x"}) {
    const ShellReading reading = read_shell_command(command);
    EXPECT_TRUE(reading.commits) << command;
    EXPECT_FALSE(reading.plain) << command;
  }
}

TEST(ShellCommand, SwitchingHooksOffIsSeenInAllItsSpellings) {
  for (const char* command :
      {"git commit --no-verify -m x", "git commit -n -m x", "git commit -qnm x", "git commit --no-veri -m x",
          "git commit -m x -n", "git commit -a -nm x", "git -c core.hooksPath=/dev/null commit -m x",
          "git -c CORE.HOOKSPATH= commit -m x", "GIT_CONFIG_COUNT=1 git commit -m x", "SKIP=guard git commit -m x",
          "export GUARD_CHECK_PATHS=none; git commit -m x", "git config core.hooksPath /dev/null; git commit -m x",
          "sh -c 'git commit --no-verify'", "bash -c \"sh -c 'git commit -n'\""}) {
    EXPECT_TRUE(read_shell_command(command).skips_hooks) << command;
  }
  for (const char* command : {"git commit -m x && git log -n 1", "git commit -m -n", "git commit -mnone",
           "git commit -m n", "git commit -C n", "head -n 3 x; git commit -m x"}) {
    EXPECT_FALSE(read_shell_command(command).skips_hooks) << command;
  }
}

// What a shell would run, however it is spelled: the reader is the validator's.
TEST(ShellCommand, VariablesAndTextsThatRunAreFollowed) {
  for (const char* command : {"G=git; $G commit -n", "sh <<'EOF'\ngit commit -n\nEOF", "eval 'git commit -n'",
           "echo 'git commit --no-verify' | bash", "find . -exec git commit -n \\;", "python3 x 'git commit -n'"}) {
    EXPECT_TRUE(read_shell_command(command).skips_hooks) << command;
    EXPECT_FALSE(read_shell_command(command).plain) << command;
  }
}

// Agents write whole files with such commands. What was not read to its end may be any command that it names.
TEST(ShellCommand, ALongCommandIsACommitOnlyWhereItNamesOne) {
  const std::string notes = "cat > notes.md <<'EOF'\n" + std::string(200'000, 'x') + "\nEOF\n";
  EXPECT_FALSE(read_shell_command(notes).commits);
  const ShellReading reading = read_shell_command(notes + "git commit -m x");
  EXPECT_TRUE(reading.commits);
  EXPECT_TRUE(reading.skips_hooks);
  EXPECT_FALSE(reading.plain);
}

TEST(ShellCommand, OtherFoldersAreSeen) {
  for (const char* command :
      {"git -C ../x commit -m x", "git --git-dir=../x/.git commit -m x", "git --work-tree .. commit -m x"}) {
    EXPECT_TRUE(read_shell_command(command).elsewhere) << command;
  }
}

TEST(ShellCommand, OtherCommandsAreNoCommits) {
  for (const char* command : {"git status", "git log --grep 'git commit'", "npm run commit", "git show commit", "ls",
           "", "'", "\"", "\\", "git", "git -c", "commit git", "git commit-graph write"}) {
    EXPECT_FALSE(read_shell_command(command).commits) << command;
  }
}

}  // namespace
}  // namespace guard
