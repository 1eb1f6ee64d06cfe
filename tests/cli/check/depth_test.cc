// Documents that are nested a hundred thousand levels deep, through the binary: guard says that it cannot decide, and
// does not die of it.
#include <gtest/gtest.h>

#include <string>

#include "tests/support/program/git_repository.h"
#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

constexpr std::size_t kDepth = 100'000;

std::string repeated(std::string_view piece) {
  std::string text;
  for (std::size_t i = 0; i < kDepth; ++i) text += piece;
  return text;
}

std::vector<std::string> deep_toml() {
  return {"a" + repeated(".a") + " = 1\n", "[a" + repeated(".a") + "]\n", "[[a" + repeated(".a") + "]]\n",
      "a = " + repeated("[") + repeated("]") + "\n", "a = " + repeated("{a = ") + "1" + repeated("}") + "\n"};
}

std::vector<std::string> deep_json() {
  return {repeated("[") + repeated("]"), repeated("{\"a\":") + "1" + repeated("}"), repeated("[")};
}

void expect_undecided(const ProgramResult& result, std::string_view what, int exit_status = 2) {
  EXPECT_EQ(result.exit_status, exit_status) << what << result.out.substr(0, 500) << result.err.substr(0, 500);
  const std::string said = result.out + result.err;
  EXPECT_TRUE(said.find("parts") != std::string::npos || said.find("nested") != std::string::npos)
      << what << said.substr(0, 500);
}

TEST(Depth, OfTomlIsAnErrorWhereverItIsRead) {
  const Repository repository;
  repository.write(
      "sandbox/a.test.ts", "import { expect, test } from \"bun:test\";\ntest(\"is\", () => { expect(1).toBe(1); });\n");
  for (const auto& text : deep_toml()) {
    SCOPED_TRACE(text.substr(0, 20));
    repository.write("guard.toml", text);
    expect_undecided(repository.guard({"run", "sandbox/a.test.ts"}), "run");
    expect_undecided(repository.guard({"check", "."}), "check");
    repository.must("git commit -q -am deep; echo '// more' >> sandbox/a.test.ts");
    expect_undecided(repository.guard({"gate"}), "gate");
    repository.must("git reset -q --hard HEAD~1");
    repository.write("sandbox/a.test.ts", "");
    repository.write("rules/x.toml", text);
    expect_undecided(repository.guard({"rules", "check", "rules"}), "rules check");
    expect_undecided(repository.guard({"check", "--rules", "rules", "."}), "check --rules");
    repository.write("plan.toml", text);
    expect_undecided(repository.guard({"nightly", "plan", "plan.toml"}), "plan");
  }
}

TEST(Depth, OfJsonIsAnErrorWhereverItIsRead) {
  const Project project;
  for (const auto& text : deep_json()) {
    SCOPED_TRACE(text.substr(0, 20));
    ProgramCall event;
    event.arguments = {"hook", "agent"};
    for (const std::string& input :
        {text, R"({"hook_event_name":"PreToolUse","tool_name":"Write","tool_input":)" + text + "}"}) {
      event.stdin_text = input;
      expect_undecided(project.guard(event), "agent");
    }
    project.write("record.json", text);
    expect_undecided(project.guard({"verify", "record.json"}), "verify");
    for (const char* name : {"package.json", "bun.lock"}) {
      project.write("package.json", R"({"dependencies":{"a":"1"}})");
      project.write(name, R"({"dependencies":{"a":)" + text + "}}");
      expect_undecided(project.guard({"image", "build", "--root-folder"}), name, 3);  // no image, no environment
    }
  }
}

// Code may nest as it likes; whatever is found in it, it is read to its end.
TEST(Depth, OfCodeAndOfCommandsIsNoMatter) {
  const Project project;
  for (const auto& [open, close] :
      {std::pair("(", ")"), std::pair("[", "]"), std::pair("{", "}"), std::pair("`${", "}`"),
          std::pair("(()=>{", "})()"), std::pair("a=>", ""), std::pair("!", ""), std::pair("f(", ")"),
          std::pair("class A{static{", "}}"), std::pair("<a>", "</a>"), std::pair("\"a\"+", ""),
          std::pair("JSON.parse(\"[", "]\")"), std::pair("Bun.$`echo $(", ")`"), std::pair("new RegExp(\"(", ")\")")}) {
    SCOPED_TRACE(open);
    project.write("sandbox/a.test.ts", "const v = " + repeated(open) + "x" + repeated(close) + ";\n");
    const auto result = project.guard({"check", "--mode", "host", "sandbox/a.test.ts"});
    EXPECT_TRUE(result.exit_status == 0 || result.exit_status == 1) << result.exit_status << result.err.substr(0, 300);
  }
}

}  // namespace
}  // namespace guard::testing
