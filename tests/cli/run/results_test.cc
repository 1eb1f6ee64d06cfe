// What came of each file and test of real runs, in every format: they all tell of the same failures.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

const std::string kTest =
    "import { expect, test } from \"bun:test\";\ntest(\"quick\", () => { expect(1).toBe(1); });\n";

struct FileCase {
  std::string text;
  std::string state;  // of the file
  std::string kind;   // of its one failure; empty: it has none
  std::string says;   // a part of its message
};

const std::map<std::string, FileCase> kCases = {
    {"pass", {kTest, "passed", "", ""}},
    {"fail", {kTest + "test(\"adds\", () => { expect(1 + 1).toBe(3); });\n", "failed", "assertion", "Expected: 3"}},
    {"throw",
        {kTest + "test(\"throws\", () => { throw new TypeError(\"boom\"); });\n", "failed", "error",
            "TypeError: boom"}},
    {"slow",
        {kTest +
                "test(\"waits\", async () => { await new Promise((done) => setTimeout(done, 500)); expect(1).toBe(1); "
                "}, 20);\n",
            "failed", "timed_out", "timed out"}},
    {"syntax", {kTest + "const = 1;\n", "failed", "syntax", "Expected identifier"}},
    {"package",
        {"import { z } from \"no-such-package\";\n" + kTest + "test(\"z\", () => { expect(z.any).toBe(1); });\n",
            "failed", "missing_package", "no-such-package"}},
    {"file",
        {"import { z } from \"./none\";\n" + kTest + "test(\"z\", () => { expect(z).toBe(1); });\n", "failed",
            "missing_file", "./none"}},
    {"load", {"throw new Error(\"at once\");\n" + kTest, "failed", "error", "at once"}},
    {"empty", {"export const none = 1;\n", "failed", "no_tests", "no test ran"}},
    {"idle",
        {"import { test } from \"bun:test\";\ntest(\"asserts nothing\", () => {});\n", "failed", "nothing_asserted",
            "no assertion"}},
    {"skipped",
        {"import { test } from \"bun:test\";\ntest.skip(\"later\", () => {});\n", "failed", "all_skipped", "skipped"}},
    {"memory",
        {kTest + "test(\"eats\", () => { const kept = []; for (;;) kept.push(new Uint8Array(16 << 20).fill(1)); });\n",
            "crashed", "out_of_memory", "killed for memory"}},
    {"crash",
        {kTest + "test(\"crashes\", () => { process.kill(process.pid, \"SIGSEGV\"); });\n", "crashed", "crashed", ""}},
    {"bomb",
        {kTest +
                "test(\"forks\", async () => { for (;;) { try { new Worker(\"data:text/javascript,setInterval(() => "
                "{}, 1000)\"); } catch {} await Bun.sleep(1); } });\n",
            "crashed", "pids_limit", "processes"}},
    {"flood",
        {kTest +
                "test(\"floods\", () => { for (let i = 0; i < 40_000; ++i) console.log(\"x\".repeat(100)); "
                "expect(1).toBe(1); });\n",
            "passed", "", ""}},
    {"library",
        {"throw new Error(\"libodd.so.3: cannot open shared object file: No such file or directory\");\n" + kTest,
            "failed", "missing_library", "libodd.so.3"}},
    {"hang", {kTest + "test(\"hangs\", () => { for (;;) {} });\n", "timed_out", "timed_out", "after \"quick\""}},
};

struct Results : ::testing::TestWithParam<std::string> {
  void SetUp() override {
    GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.configure("trust_namespace = true\n");  // what may start processes in a container may here
    project_.build_image(GetParam());
  }
  std::string add(const std::string& name) {
    const std::string file = fmt::format("sandbox/{}.test.ts", name);
    project_.write(file, kCases.at(name).text);
    return file;
  }
  ProgramResult run(
      const std::vector<std::string>& files, const std::string& format, const std::vector<std::string>& more) {
    std::vector<std::string> words = {
        "run", "--backend", GetParam(), "--format", format, "--quiet", "--file-timeout", "4", "--memory", "384m"};
    words.insert(words.end(), more.begin(), more.end());
    words.insert(words.end(), files.begin(), files.end());
    return project_.guard(words);
  }
  Project project_;
};

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

// What JSON says is in each of the others, and nothing else is.
void agree(
    const nlohmann::json& document, const std::string& text, const std::string& junit, const std::string& github) {
  const auto& failures = document["tests"]["failures"];
  EXPECT_EQ(count("\n" + text, "\nfailed: "), failures.size()) << text;
  // One more for the verdict.
  EXPECT_EQ(count(junit, "<failure ") + count(junit, "<error "), failures.size() + 1) << junit;
  EXPECT_EQ(count(github, "::error file="), failures.size()) << github;
  EXPECT_EQ(count(junit, "\\n") + count(github, "\\n"), 0u) << junit << github;
  for (const auto& failure : failures) {
    const std::string file = failure["file"];
    const std::string message = failure["message"];
    const std::string first = message.substr(0, message.find('\n'));
    EXPECT_NE(text.find("failed: " + file), std::string::npos) << text;
    EXPECT_NE(text.find(first), std::string::npos) << text;
    EXPECT_NE(github.find("::error file=" + file), std::string::npos) << github;
    EXPECT_NE(github.find(first), std::string::npos) << github;
    EXPECT_NE(junit.find(fmt::format("type=\"{}\"", failure["kind"].get<std::string>())), std::string::npos) << junit;
  }
  for (const auto& result : document["results"]) {
    for (const auto& test : result.value("tests", nlohmann::json::array()))
      EXPECT_NE(junit.find(fmt::format("name=\"{}\"", test["name"].get<std::string>())), std::string::npos) << junit;
  }
}

TEST_P(Results, OfEachKindOfFile) {
  for (const auto& [name, expected] : kCases) {
    SCOPED_TRACE(name);
    const std::string file = add(name);
    const auto result = run({file}, "json", {});
    const auto document = result.document();
    ASSERT_EQ(document["results"].size(), 1u) << result.out << result.err;
    EXPECT_EQ(document["results"][0]["file"], file);
    EXPECT_EQ(document["results"][0]["state"], expected.state) << result.out;
    EXPECT_EQ(document["verdict"] == "allowed", expected.kind.empty()) << result.out;
    const auto& failures = document["tests"]["failures"];
    ASSERT_EQ(failures.size(), expected.kind.empty() ? 0u : 1u) << result.out;
    if (expected.kind.empty()) continue;
    EXPECT_EQ(failures[0]["kind"], expected.kind) << result.out;
    EXPECT_NE(failures[0]["message"].get<std::string>().find(expected.says), std::string::npos) << failures;
  }
}

TEST_P(Results, OfAllFilesTogetherAreTheSameInEveryFormat) {
  std::vector<std::string> files;
  for (const auto& [name, expected] : kCases) files.push_back(add(name));
  for (const std::vector<std::string>& more : {std::vector<std::string>{}, {"--jobs", "3"}}) {
    SCOPED_TRACE(more.size());
    const auto document = run(files, "json", more).document();
    ASSERT_EQ(document["results"].size(), kCases.size()) << document;
    for (const auto& result : document["results"]) {
      const std::string file = result["file"];
      const std::string name = file.substr(8, file.size() - 16);
      EXPECT_EQ(result["state"], kCases.at(name).state) << result;
    }
    EXPECT_EQ(document["tests"]["failures"].size(),
        static_cast<std::size_t>(
            std::count_if(kCases.begin(), kCases.end(), [](const auto& one) { return !one.second.kind.empty(); })));
    if (more.empty())
      agree(document, run(files, "text", more).out, run(files, "junit", more).out, run(files, "github", more).out);
  }
}

// Without a limit of its own a file that hangs takes the time of those behind it, and nothing of those before it.
TEST_P(Results, OfFilesThatWereNotBegunSaySo) {
  const std::vector<std::string> files = {add("fail"), add("hang"), add("pass")};
  const auto run_for = [&](const std::string& format) {
    return project_.guard({"run", "--backend", GetParam(), "--format", format, "--quiet", "--timeout", "2", files[0],
        files[1], files[2]});
  };
  const auto document = run_for("json").document();
  std::map<std::string, std::string> states;
  for (const auto& result : document["results"]) states[result["file"]] = result["state"];
  EXPECT_EQ(states,
      (std::map<std::string, std::string>{{files[0], "failed"}, {files[1], "timed_out"}, {files[2], "not_begun"}}));
  EXPECT_EQ(document["tests"]["failed"], 1);
  agree(document, run_for("text").out, run_for("junit").out, run_for("github").out);
}

// A test can hold a secret in its title and in what it throws.
TEST_P(Results, HideSecrets) {
  project_.write("sandbox/a.test.ts",
      "import { expect, test } from \"bun:test\";\nconst parts = [\"ghp\", \"_\", \"0123456789abcdefgh\", "
      "\"ijABCDEFGHIJ456789\"];\nconst word = parts.join(\"\");\n"
      "test(\"passes with \" + word, () => { expect(1).toBe(1); });\ntest(\"fails with \" + word, () => { "
      "expect(word).toBe(1); });\n");
  for (const std::string format : {"json", "text", "junit", "github"}) {
    const auto result = run({"sandbox/a.test.ts"}, format, {});
    EXPECT_EQ(result.exit_status, 1) << result.out << result.err;
    EXPECT_EQ((result.out + result.err).find("0123456789abcdefghijABCDEFGHIJ"), std::string::npos)
        << result.out << result.err;
  }
}

INSTANTIATE_TEST_SUITE_P(
    Backends, Results, ::testing::Values("namespace", "docker"), [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
