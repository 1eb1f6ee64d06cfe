// Formats, waivers and explanations of `guard check`, and formats of `guard run`, through the binary.
#include <gtest/gtest.h>

#include <regex>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::string_view kRemoves = "import { rmSync } from \"node:fs\";\nrmSync(dir);\n";

// Exit status and stdout do not depend on each other: CI servers read the one and shells the other.
TEST(CheckFormats, ExitStatusIsTheSameInEveryFormat) {
  Project project;
  project.write("sandbox/bad.test.ts", kRemoves);
  project.write("sandbox/good.test.ts", "1;\n");
  for (const char* format : {"text", "json", "sarif", "junit", "github"}) {
    EXPECT_EQ(project.guard({"check", "--mode", "host", "--format", format, "sandbox/bad.test.ts"}).exit_status, 1)
        << format;
    EXPECT_EQ(project.guard({"check", "--mode", "host", "--format", format, "sandbox/good.test.ts"}).exit_status, 0)
        << format;
    const auto missing = project.guard({"check", "--format", format, "sandbox/missing.test.ts"});
    EXPECT_EQ(missing.exit_status, 2) << format;
    EXPECT_NE((missing.out + missing.err).find("missing.test.ts"), std::string::npos) << format;
  }
}

// Of a check that fails as well, as far as it came; what is printed for programs stays as it is.
TEST(CheckFormats, StagesAreToldOnStandardErrorWhereTheyAreAskedFor) {
  Project project;
  project.write("sandbox/a.test.ts", "1;\n");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"check", "sandbox/a.test.ts"}, {"check", "sandbox/missing.test.ts"}, {"check", "--format", "json"}}) {
    const auto plain = project.guard(arguments);
    const auto traced = project.guard(arguments, {{"GUARD_TRACE", "1"}});
    EXPECT_EQ(traced.exit_status, plain.exit_status);
    EXPECT_EQ(traced.out, plain.out);
    EXPECT_TRUE(std::regex_match(traced.err.substr(0, traced.err.find("in all\n")),
        std::regex("(guard: +[0-9.]+ ms +\\+[0-9.]+ ms  (configuration|rules|check|report)\n){4}guard: +[0-9.]+ ms ")))
        << traced.err;
    EXPECT_EQ(plain.err.find(" ms"), std::string::npos) << plain.err;
  }
}

TEST(CheckFormats, FailuresBeforeTheCheckAreInTheDocument) {
  Project project;
  project.write("guard.toml", "[check]\nwaivers = 1\n");
  project.write("sandbox/a.test.ts", "1;\n");
  const auto sarif = project.guard({"check", "--format", "sarif", "sandbox"});
  EXPECT_EQ(sarif.exit_status, 2);
  EXPECT_EQ(sarif.document()["runs"][0]["invocations"][0]["executionSuccessful"], false);
  EXPECT_NE(
      project.guard({"check", "--format", "junit", "sandbox"}).out.find("<error type=\"error\""), std::string::npos);
  EXPECT_NE(project.guard({"check", "--format", "github", "sandbox"}).out.find("::error title=guard%3A undecided"),
      std::string::npos);
}

TEST(CheckFormats, SarifLinksWhereTheConfigurationSays) {
  Project project;
  project.write("guard.toml", "[check]\ndocs_url = \"https://example.org/rules\"\n");
  project.write("sandbox/a.test.ts", kRemoves);
  const auto rule = project.guard({"check", "--mode", "host", "--format", "sarif", "sandbox"})
                        .document()["runs"][0]["tool"]["driver"]["rules"][0];
  EXPECT_EQ(rule["helpUri"], "https://example.org/rules#host.fs_remove");
}

// Printed, given a reason, pasted: then the finding passes, until the line changes.
TEST(CheckWaivers, WhatIsPrintedCanBePasted) {
  Project project;
  project.write("sandbox/a.test.ts", kRemoves);
  const auto printed = project.guard({"check", "--mode", "host", "--print-waiver"});
  EXPECT_EQ(printed.exit_status, 1) << "printing a waiver waives nothing";
  project.write("guard.toml", printed.out);
  EXPECT_EQ(project.guard({"check", "--mode", "host"}).exit_status, 2) << "no reason yet";
  project.write("guard.toml",
      std::regex_replace(printed.out, std::regex("reason = \"\""), "reason = \"it clears what it made\""));
  for (const auto& arguments : std::vector<std::vector<std::string>>{{"check", "--mode", "host"},
           {"check", "--mode", "host", "sandbox/a.test.ts"},
           {"check", "--mode", "host", (project.path() / "sandbox").string()}}) {
    const auto waived = project.guard(arguments);
    EXPECT_EQ(waived.exit_status, 0) << waived.out << waived.err;
    EXPECT_NE(waived.out.find("waived: host.fs_remove"), std::string::npos) << waived.out;
  }
  project.write("sandbox/a.test.ts", "// moved\n" + std::string(kRemoves));
  EXPECT_EQ(project.guard({"check", "--mode", "host"}).exit_status, 0);
  project.write("sandbox/a.test.ts", "import { rmSync } from \"node:fs\";\nrmSync(home);\n");
  const auto changed = project.guard({"check", "--mode", "host"});
  EXPECT_EQ(changed.exit_status, 1);
  EXPECT_NE(changed.out.find("with another fingerprint"), std::string::npos) << changed.out;
}

// Wherever guard is started, a waiver names a file as the project sees it.
TEST(CheckWaivers, PathsAreSeenFromTheProjectInAnyFolder) {
  Project project;
  project.write("sandbox/deep/a.test.ts", kRemoves);
  project.configure("");
  const auto below = [&](std::vector<std::string> arguments) {
    ProgramCall call;
    call.arguments = std::move(arguments);
    call.folder = project.path() / "sandbox" / "deep";
    return project.guard(std::move(call));
  };
  const auto printed = below({"check", "--mode", "host", "--print-waiver", "a.test.ts"});
  EXPECT_NE(printed.out.find("path = \"sandbox/deep/a.test.ts\""), std::string::npos) << printed.out;
  project.write("guard.toml",
      std::regex_replace(printed.out, std::regex("reason = \"\""), "reason = \"it clears what it made\""));
  for (const std::string name : {"a.test.ts", "./a.test.ts", "../deep/a.test.ts"})
    EXPECT_EQ(below({"check", "--mode", "host", name}).exit_status, 0) << name;
  EXPECT_EQ(project.guard({"check", "--mode", "host"}).exit_status, 0);
  // Another file of the same name is none of its business.
  project.write("other/a.test.ts", kRemoves);
  EXPECT_EQ(project.guard({"check", "--mode", "host", "other/a.test.ts"}).exit_status, 1);
}

TEST(CheckWaivers, ExpiredOnesAreSaidAndCountForNothing) {
  Project project;
  project.write("sandbox/a.test.ts", kRemoves);
  const auto printed = project.guard({"check", "--mode", "host", "--print-waiver"}).out;
  const auto old = std::regex_replace(std::regex_replace(printed, std::regex("reason = \"\""), "reason = \"x\""),
      std::regex("expires = .*"), "expires = 2001-01-01");
  project.write("guard.toml", old);
  const auto result = project.guard({"check", "--mode", "host"});
  EXPECT_EQ(result.exit_status, 1);
  EXPECT_NE(result.out.find("it ran out on 2001-01-01, so 1 finding counts again"), std::string::npos) << result.out;
}

TEST(CheckExplain, ExplainsALineAndGivesNoVerdict) {
  Project project;
  project.write("sandbox/a.test.ts", kRemoves);
  const auto result = project.guard({"check", "--explain", "sandbox/a.test.ts:2"});
  EXPECT_EQ(result.exit_status, 0) << result.err;
  EXPECT_NE(result.out.find("  code     fs.rmSync(dir)"), std::string::npos) << result.out;
  EXPECT_NE(result.out.find("found here:\n  host.fs_remove: "), std::string::npos) << result.out;
  EXPECT_EQ(result.out.find("verdict"), std::string::npos);
  EXPECT_NE(
      project.guard({"check", "--mode", "docker", "--explain", "sandbox/a.test.ts:2"}).out.find("but the tier is off"),
      std::string::npos);
  EXPECT_EQ(
      project.guard({"check", "--explain", "sandbox/a.test.ts:2", "--format", "json"}).document()["rules"][0]["story"],
      "fired");
}

TEST(CheckExplain, MistakesAreNoExplanation) {
  Project project;
  project.write("sandbox/a.test.ts", kRemoves);
  EXPECT_EQ(project.guard({"check", "--explain", "sandbox/a.test.ts:99"}).exit_status, 2);
  EXPECT_EQ(project.guard({"check", "--explain", "sandbox/b.test.ts:1"}).exit_status, 2);
  EXPECT_EQ(project.guard({"check", "--explain", "sandbox"}).exit_status, 2);
}

TEST(RulesDoc, WritesThePageThatIsCommitted) {
  Project project;
  const auto committed = read_file(GUARD_SOURCE_DIR "/docs/rules.md", 1u << 22);
  ASSERT_TRUE(committed);
  const auto written = project.guard({"rules", "doc"});
  EXPECT_EQ(written.exit_status, 0);
  EXPECT_TRUE(written.out == *committed) << "write it anew: guard rules doc > docs/rules.md";
}

// The runner of GitHub's Actions reads commands from both streams: what a test prints must not become one.
TEST(RunFormats, ProgramsCannotGiveCommands) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  Project project;
  project.build_image("namespace");
  project.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"speaks\", () => { console.log(\"::error::mine\"); "
      "expect(1).toBe(1); });\n");
  const auto result = project.guard({"run", "--backend", "namespace", "--format", "github", "sandbox/a.test.ts"});
  EXPECT_EQ(result.exit_status, 0) << result.out << result.err;
  EXPECT_NE(result.err.find("\\::error::mine"), std::string::npos) << result.err;
  EXPECT_EQ(result.err.find("\n::"), std::string::npos) << result.err;
  EXPECT_EQ(result.out.rfind("::notice title=guard%3A allowed", 0), 0U) << result.out;
}

TEST(RunFormats, AFailedTestIsInTheReport) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  Project project;
  project.build_image("namespace");
  project.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"fails\", () => { expect(1).toBe(2); });\n");
  const auto junit = project.guard({"run", "--backend", "namespace", "--format", "junit", "sandbox/a.test.ts"});
  EXPECT_EQ(junit.exit_status, 1);
  EXPECT_NE(junit.out.find("<testcase classname=\"sandbox/a.test.ts\" name=\"fails\""), std::string::npos) << junit.out;
  const auto sarif =
      project.guard({"run", "--backend", "namespace", "--format", "sarif", "sandbox/a.test.ts"}).document();
  EXPECT_EQ(sarif["runs"][0]["properties"]["reason"], "tests_failed");
}

}  // namespace
}  // namespace guard::testing
