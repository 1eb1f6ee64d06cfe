// `guard generate` and `-t`, `--coverage`: completions in the real shells, the manual page by a real reader of such
// pages.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <sstream>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

ProgramResult run_shell(const Project& project, std::vector<std::string> argv) {
  ProcessSpec spec;
  spec.argv = std::move(argv);
  spec.env = project.environment();
  spec.env["GUARD"] = GUARD_PROGRAM;
  spec.env["PATH"] = "/usr/local/bin:/usr/bin:/bin";
  spec.cwd = project.path().string();
  spec.deadline = Deadline::after(std::chrono::seconds(30));
  return run_program(spec);
}

bool has(const char* program) { return ::access(program, X_OK) == 0; }

// What bash would offer for the last of `words`.
std::vector<std::string> offered(const Project& project, const std::string& words) {
  const std::string script = fmt::format(
      "source <(\"$GUARD\" generate bash) || exit 9\nCOMP_WORDS=({})\nCOMP_CWORD=$((${{#COMP_WORDS[@]}} - 1))\n"
      "compopt() {{ :; }}\n_guard\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
      words);
  const auto done = run_shell(project, {"bash", "-c", script});
  EXPECT_EQ(done.exit_status, 0) << done.err;
  EXPECT_THAT(done.err, IsEmpty());
  std::vector<std::string> lines;
  std::istringstream text(done.out);
  for (std::string line; std::getline(text, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

TEST(Generate, BashOffersVerbsActionsOptionsAndValues) {
  using ::testing::Contains;
  using ::testing::ElementsAre;
  const Project project;
  EXPECT_THAT(offered(project, "guard ga"), ElementsAre("gate"));
  EXPECT_THAT(offered(project, "guard ''"), AllOf(Contains("run"), Contains("nightly"), Contains("help")));
  EXPECT_THAT(offered(project, "guard rules s"), ElementsAre("show"));
  EXPECT_THAT(offered(project, "guard nightly re"),
      AllOf(Contains("resume"), Contains("report"), Contains("review"), Contains("retry")));
  EXPECT_THAT(offered(project, "guard run --wa"), ElementsAre("--watch"));
  EXPECT_THAT(offered(project, "guard run --backend n"), ElementsAre("namespace"));
  EXPECT_THAT(offered(project, "guard run --backend = do"), ElementsAre("docker"));
  EXPECT_THAT(offered(project, "guard check --st"), AllOf(Contains("--staged"), Contains("--stdin-name")));
  // A program's own arguments are none of ours.
  EXPECT_THAT(offered(project, "guard exec -- ls --"), IsEmpty());
}

TEST(Generate, ZshAndFishReadTheirs) {
  const Project project;
  if (!has("/usr/bin/zsh") || !has("/usr/bin/fish")) GTEST_SKIP() << "zsh or fish is missing";
  const auto zsh = run_shell(project,
      {"zsh", "-f", "-c",
          "autoload -Uz compinit; compinit -D; source <($GUARD generate zsh) && print -r -- $_comps[guard]"});
  EXPECT_EQ(zsh.out, "_guard\n") << zsh.err;
  const auto fish = run_shell(project,
      {"fish", "--no-config", "-c",
          "$GUARD generate fish | source; complete -C 'guard ga'; complete -C 'guard run --back'; complete -C 'guard "
          "rules sh'"});
  EXPECT_THAT(fish.out, AllOf(HasSubstr("gate\t"), HasSubstr("--backend\t"), HasSubstr("show"))) << fish.err;
  EXPECT_THAT(fish.err, IsEmpty());
}

TEST(Generate, TheManualPageHasEveryVerbAndIsWellFormed) {
  const Project project;
  if (!has("/usr/bin/mandoc")) GTEST_SKIP() << "mandoc is missing";
  const auto warned = run_shell(project, {"bash", "-c", "\"$GUARD\" generate man | mandoc -man -Tlint -Werror"});
  EXPECT_EQ(warned.exit_status, 0) << warned.out;
  const auto page = run_shell(project, {"bash", "-c", "\"$GUARD\" generate man | mandoc -man -Tutf8 | col -bx"});
  for (const char* words : {"guard check --staged", "--test-name", "nightly review", "EXIT STATUS", "GUARD_CACHE_DIR"})
    EXPECT_THAT(page.out, HasSubstr(words));
}

TEST(Generate, NeedsToKnowForWhom) {
  const Project project;
  EXPECT_EQ(project.guard({"generate"}).exit_status, 64);
  const auto typo = project.guard({"generate", "fisch"});
  EXPECT_EQ(typo.exit_status, 64);
  EXPECT_THAT(typo.err, HasSubstr("generate fish"));
}

// ---- a part of the tests, and what ran ----

const std::string kHead = "import { describe, expect, test } from \"bun:test\";\n";

struct NamedTests : ::testing::TestWithParam<std::string> {
  void SetUp() override {
    GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.build_image(GetParam());
    project_.write("src/sum.ts",
        "export function add(a: number, b: number) {\n  return a + b;\n}\nexport function sub(a: number, b: number) "
        "{\n  return a - b;\n}\n");
    project_.write("sandbox/a.test.ts",
        kHead +
            "describe(\"sums\", () => {\n  test(\"adds\", () => { expect(1 + 1).toBe(2); });\n  test(\"fails\", () => "
            "{ expect(1).toBe(2); });\n"
            "  test.skip(\"adds later\", () => {});\n});\ntest(\"other\", () => { expect(3).toBe(3); });\n");
    project_.write("sandbox/b.test.ts",
        kHead + "import { add } from \"../src/sum\";\ntest(\"works\", () => { expect(add(1, 2)).toBe(3); });\n");
  }
  ProgramResult run(std::vector<std::string> more) const {
    std::vector<std::string> words = {"run", "--backend", GetParam(), "--quiet"};
    words.insert(words.end(), more.begin(), more.end());
    return project_.guard(words);
  }
  Project project_;
};

TEST_P(NamedTests, OnlyThoseAreRunAndTheRecordSaysSo) {
  for (const std::vector<std::string>& more : std::vector<std::vector<std::string>>{{}, {"--jobs", "2"}}) {
    std::vector<std::string> words = {"-t", "adds", "--format", "json", "sandbox/"};
    words.insert(words.end(), more.begin(), more.end());
    const auto result = run(words);
    const auto document = result.document();
    EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
    EXPECT_EQ(document["tests"]["passed"], 1);
    EXPECT_EQ(document["results"][0]["state"], "passed");
    EXPECT_EQ(document["results"][1]["state"], "not_selected");
    EXPECT_THAT(document["relaxations"].dump(), HasSubstr("-t: only tests whose name matches adds ran"));
  }
  // By its group, too; and a test that fails still does.
  EXPECT_EQ(run({"--test-name", "sums adds", "sandbox/"}).exit_status, 0);
  EXPECT_EQ(run({"-t", "fails", "sandbox/"}).exit_status, 1);
}

TEST_P(NamedTests, NoneOfThatNameIsNoPass) {
  const auto result = run({"-t", "nobody", "sandbox/"});
  EXPECT_EQ(result.exit_status, 2) << result.out;
  EXPECT_THAT(result.out, HasSubstr("no test has a name that was asked for"));
  EXPECT_EQ(run({"-t", "adds later", "sandbox/"}).exit_status, 1) << "it is skipped";
}

// A file that can't be loaded, or ends by itself, is not one without such a test.
TEST_P(NamedTests, AFileThatBreaksIsNotLeftOut) {
  project_.write("sandbox/c.test.ts", kHead + "throw new Error(\"at once\");\n");
  EXPECT_EQ(run({"-t", "adds", "sandbox/"}).exit_status, 1);
  project_.write("sandbox/c.test.ts",
      kHead +
          "test(\"c\", () => { expect(1).toBe(1); });\nsetTimeout(() => { throw new Error(\"late\"); }, 0);\nawait "
          "Bun.sleep(20);\n");
  EXPECT_EQ(run({"-t", "adds", "sandbox/"}).exit_status, 1);
}

TEST_P(NamedTests, IsNoEvidence) {
  EXPECT_EQ(run({"-t", "adds", "--record", "x.json", "sandbox/"}).exit_status, 64);
  EXPECT_EQ(run({"-t", ""}).exit_status, 64);
}

TEST_P(NamedTests, CoverageIsOfTheCodeAndDecidesNothing) {
  const auto failed = run({"--coverage", "sandbox/"});
  EXPECT_EQ(failed.exit_status, 1);
  EXPECT_THAT(failed.out, HasSubstr("coverage is measured only where the run is allowed"));
  const auto result = run({"--coverage", "--lcov", "cover.info", "--format", "json", "sandbox/b.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out;
  const auto coverage = result.document()["coverage"];
  ASSERT_EQ(coverage.size(), 1u) << coverage;
  EXPECT_EQ(coverage[0]["file"], "src/sum.ts");
  EXPECT_LT(coverage[0]["covered"], coverage[0]["lines"]);
  EXPECT_THAT(read_file(project_.path() / "cover.info", 1u << 20).value_or(""),
      AllOf(HasSubstr("SF:src/sum.ts\n"), HasSubstr("DA:2,1\n"), Not(HasSubstr("test.ts")),
          Not(HasSubstr("attestation"))));
  const auto text = run({"--coverage", "sandbox/b.test.ts"});
  EXPECT_EQ(text.exit_status, 0) << text.out;
  EXPECT_THAT(text.out, AllOf(HasSubstr("src/sum.ts"), HasSubstr("all files")));
}

INSTANTIATE_TEST_SUITE_P(Backends, NamedTests, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
