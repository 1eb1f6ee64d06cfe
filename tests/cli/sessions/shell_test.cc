// `guard shell` and `guard exec --tty`: a person in the sandbox that tests run in.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <memory>

#include "common/file_io.h"
#include "tests/support/program/guard_program.h"
#include "tests/support/program/terminal_program.h"

namespace guard::testing {
namespace {

constexpr const char* kCtrlD = "\x04";
constexpr const char* kTest =
    "import { expect, test } from 'bun:test'; import { add } from '../src/add'; test('adds', () => { "
    "expect(add(1, 2)).toBe(3); });\n";

class Shell : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(std::string_view(GetParam()) == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(GetParam());
    project_.write("sandbox/add.test.ts", kTest);
  }

  std::unique_ptr<TerminalProgram> start(std::vector<std::string> words) {
    words.insert(words.begin() + 1, {"--backend", GetParam()});
    return std::make_unique<TerminalProgram>(words, project_.path(), project_.environment());
  }

  std::string record() {
    const auto run = project_.run(GetParam(), {"sandbox/add.test.ts"}, {"--record", "record.json"});
    EXPECT_EQ(run.exit_status, 0) << run.out << run.err;
    return "record.json";
  }

  Project project_;
};

INSTANTIATE_TEST_SUITE_P(
    Backends, Shell, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

// The image has no shell, so it is bun's prompt.
TEST_P(Shell, OpensWhereTestsRun) {
  auto guard = start({"shell"});
  ASSERT_TRUE(guard->prints("Welcome to Bun")) << guard->printed();
  EXPECT_NE(guard->printed().find("`bun repl`"), std::string::npos);
  guard->type("(await import('/app/src/add.ts')).add(40, 2)\r");
  EXPECT_TRUE(guard->prints("42")) << guard->printed();
  guard->type("require('fs').writeFileSync('/app/src/add.ts', '')\r");
  EXPECT_TRUE(guard->prints("errno")) << guard->printed();  // EROFS or EACCES
  guard->type(kCtrlD);
  EXPECT_EQ(guard->wait(), 0) << guard->printed();
}

TEST_P(Shell, RunsACommandOnTheTerminal) {
  auto guard = start({"exec", "--tty", "--", "bun", "test", "sandbox"});
  EXPECT_TRUE(guard->prints("1 pass")) << guard->printed();
  EXPECT_EQ(guard->wait(), 0);
  auto failing = start({"exec", "--tty", "--", "bun", "-e", "process.exit(process.stdin.isTTY ? 5 : 6)"});
  EXPECT_EQ(failing->wait(), 5) << failing->printed();
}

TEST_P(Shell, OpensTheSandboxOfARecordedRun) {
  const std::string name = record();
  // Beside what was there then; it was not, so it is not.
  project_.write("README.md", "new\n");
  auto guard = start({"shell", "--record", name});
  ASSERT_TRUE(guard->prints("Welcome to Bun")) << guard->printed();
  guard->type("['README.md', 'sandbox/add.test.ts'].map((f) => require('fs').existsSync('/app/' + f)).join('-')\r");
  EXPECT_TRUE(guard->prints("false-true")) << guard->printed();
  guard->type(kCtrlD);
  EXPECT_EQ(guard->wait(), 0);
}

// Whoever wrote the record has no say in where it is opened, nor in what of the project it may change.
TEST_P(Shell, RefusesARecordThatLeadsElsewhere) {
  const std::string other = std::string_view(GetParam()) == "docker" ? "namespace" : "docker";
  const std::string name = record();
  const auto refused = [&](const std::map<std::string, std::string>& more) {
    auto environment = project_.environment();
    for (const auto& [key, value] : more) environment[key] = value;
    TerminalProgram guard({"shell", "--record", name}, project_.path(), environment);
    EXPECT_EQ(guard.wait(), 2) << guard.printed();
    return guard.printed();
  };
  EXPECT_NE(
      refused({{"GUARD_BACKEND", other}, {"GUARD_FALLBACK", "none"}}).find("no backend of this"), std::string::npos);
  EXPECT_NE(refused({{"GUARD_REQUIRE_CGROUPS", "true"}}).find("require_cgroups was"), std::string::npos);

  project_.write("data/a.txt", "a\n");
  const auto written = project_.guard(
      {"exec", "--backend", GetParam(), "--write", "data", "--record", "write.json", "--", "bun", "-e", "0"});
  ASSERT_EQ(written.exit_status, 0) << written.err;
  auto writes = start({"shell", "--record", "write.json"});
  EXPECT_EQ(writes->wait(), 2) << writes->printed();
  EXPECT_TRUE(writes->prints("could write to folders")) << writes->printed();
}

TEST_P(Shell, RefusesARecordOfWhatIsNotThereAnyMore) {
  const std::string name = record();
  const auto refusal = [&](std::vector<std::string> words) {
    words.insert(words.begin(), {"shell", "--record", name});
    auto guard = start(words);
    EXPECT_EQ(guard->wait(), 2) << guard->printed();
    return guard->printed();
  };
  EXPECT_NE(refusal({"--memory", "300m"}).find("limits.memory was"), std::string::npos);
  const std::string text = *read_file(project_.path() / "src/add.ts", 10'000);
  project_.write("src/add.ts", "export const add = () => 3;\n");
  EXPECT_NE(refusal({}).find("changed: src/add.ts"), std::string::npos);
  project_.write("src/add.ts", text);
  std::string forged = *read_file(project_.path() / name, 1'000'000);
  forged.replace(forged.find("\"sandbox_files\": "), 20, "\"sandbox_files\": 999");
  project_.write(name, forged);
  EXPECT_NE(refusal({}).find("digest"), std::string::npos);
}

TEST(ShellOption, NeedsATerminalAndKnowsItsArguments) {
  Project project;
  EXPECT_EQ(project.guard({"shell"}).exit_status, 64);
  EXPECT_EQ(project.guard({"exec", "--tty", "--", "bun", "--version"}).exit_status, 64);
  EXPECT_EQ(project.guard({"exec", "--tty", "--stdin", "-", "--", "bun"}).exit_status, 64);
  EXPECT_EQ(project.guard({"shell", "me/first", "--record", "x.json"}).exit_status, 64);
  EXPECT_EQ(project.guard({"shell", "no-session"}).exit_status, 2);
}

}  // namespace
}  // namespace guard::testing
