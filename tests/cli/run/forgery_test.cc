// Runs that shall look as if their tests had passed, and runs that honestly have. The cases lie in tests/forgeries:
//   forged    never allowed, whatever the rules say: the shipped rules of the docker and host tiers are left out, so
//             that the run alone has to show it, and again with all of them. The first line of a case names the reason
//             ("a|b": either). All of them run in the embedded sandbox; in a container, where what is judged and the
//             code that judges it are the same and a run takes five times as long, every third one does, unless
//             GUARD_TEST_ALL_FORGERIES is set (`./dev soak`).
//   ordinary  allowed, with the shipped rules.
//   open      still allowed, and known: not run.
// A case is a file, or a folder whose test files run together in the order of their names (the first line of the first
// counts). A second line "// with KEY=VALUE ..." sets keys of the configuration.
#include <gtest/gtest.h>

#include <sys/stat.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "tests/support/program/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRuleThatFindsNothing = R"([[rule]]
id = "docker.nothing"
tier = "docker"
title = "finds nothing"
why = "So that what the run itself shows is seen."
fix = "There is nothing to fix."
patterns = [{ regex = "nobody writes this word", views = ["code"] }]
match = ["nobody writes this word"]
no_match = ["anything else"]
)";

std::vector<fs::path> cases_of(std::string_view folder) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(GUARD_SOURCE_DIR) / "tests/forgeries" / folder)) {
    if (entry.is_directory() || entry.path().native().ends_with(".test.ts")) cases.push_back(entry.path());
  }
  std::sort(cases.begin(), cases.end());
  return cases;
}

std::string text_of(const fs::path& path) {
  auto text = read_file(path, 1u << 20);
  EXPECT_TRUE(text.has_value()) << path;
  return text.value_or("");
}

class Forgeries : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    GUARD_NEEDS(GetParam() == "docker" ? Needs::docker : Needs::namespace_sandbox);
    project_.configure("trust_namespace = true\n");
  }

  struct Case {
    std::vector<std::string> files;
    std::string text;  // of the first
  };

  // Puts a case into sandbox/, in place of the one before.
  Case place(const fs::path& path) const {
    Case placed;
    std::error_code error;
    fs::remove_all(project_.path() / "sandbox", error);
    if (!fs::is_directory(path)) {
      placed = {{"sandbox/case.test.ts"}, text_of(path)};
      project_.write(placed.files.front(), placed.text);
      project_.write(
          "sandbox/echo.worker.ts", text_of(fs::path(GUARD_SOURCE_DIR) / "tests/forgeries/ordinary/echo.worker.ts"));
      return placed;
    }
    for (const auto& entry : fs::recursive_directory_iterator(path)) {
      if (!entry.is_regular_file()) continue;
      const std::string name = "sandbox/" + fs::relative(entry.path(), path).string();
      project_.write(name, text_of(entry.path()));
      if (name.find(".test.") != std::string::npos) placed.files.push_back(name);
    }
    std::sort(placed.files.begin(), placed.files.end());
    EXPECT_FALSE(placed.files.empty()) << path;
    placed.text = text_of(path / fs::path(placed.files.at(0)).lexically_relative("sandbox"));
    return placed;
  }

  // "// with run.isolation=run": as the environment says it
  static std::map<std::string, std::string> settings_of(const std::string& text) {
    std::map<std::string, std::string> settings;
    const std::size_t second = text.find('\n') + 1;
    std::istringstream line(text.substr(second, text.find('\n', second) - second));
    std::string word;
    if (!(line >> word) || word != "//" || !(line >> word) || word != "with") return settings;
    while (line >> word) {
      const std::size_t equals = word.find('=');
      std::string name = "GUARD_" + word.substr(0, equals);
      std::transform(name.begin(), name.end(), name.begin(),
          [](unsigned char c) { return c == '.' ? '_' : static_cast<char>(std::toupper(c)); });
      settings[name] = word.substr(equals + 1);
    }
    return settings;
  }

  nlohmann::json run(const Case& placed, std::vector<std::string> more) const {
    project_.build_image(GetParam());
    std::vector<std::string> arguments = {
        "run", "--format", "json", "--backend", GetParam(), "--memory", "512m", "--timeout", "20"};
    arguments.insert(arguments.end(), more.begin(), more.end());
    arguments.insert(arguments.end(), placed.files.begin(), placed.files.end());
    return project_.guard(std::move(arguments), settings_of(placed.text)).document();
  }

  Project project_;
};

class ForgeriesUnderShippedRules : public Forgeries {};

TEST_P(Forgeries, NoneIsAllowed) {
  project_.write("rules/nothing.toml", kRuleThatFindsNothing);
  const auto cases = cases_of("forged");
  ASSERT_GT(cases.size(), 150u);
  const std::size_t step = GetParam() == "docker" && std::getenv("GUARD_TEST_ALL_FORGERIES") == nullptr ? 3 : 1;
  for (std::size_t i = 0; i < cases.size(); i += step) {
    const fs::path& path = cases[i];
    SCOPED_TRACE(path.filename());
    const Case placed = place(path);
    ASSERT_TRUE(placed.text.starts_with("// "));
    const std::string wanted = "|" + placed.text.substr(3, placed.text.find('\n') - 3) + "|";
    const auto document = run(placed, {"--rules", "rules"});
    EXPECT_NE(document.value("verdict", "allowed"), "allowed") << document;
    EXPECT_NE(wanted.find("|" + document.value("reason", "") + "|"), std::string::npos) << document;
  }
}

// What the gate refuses does not run; what it lets through has to be seen as above.
TEST_P(ForgeriesUnderShippedRules, NoneIsAllowed) {
  for (const auto& path : cases_of("forged")) {
    SCOPED_TRACE(path.filename());
    const auto document = run(place(path), {});
    EXPECT_NE(document.value("verdict", "allowed"), "allowed") << document;
  }
}

TEST_P(Forgeries, OrdinarySuitesAreAllowed) {
  const auto cases = cases_of("ordinary");
  ASSERT_GT(cases.size(), 15u);
  for (const auto& path : cases) {
    SCOPED_TRACE(path.filename());
    const auto document = run(place(path), {});
    EXPECT_EQ(document.value("verdict", ""), "allowed") << document;
  }
}

// bun then runs the text that the bytecode was made of; what counts has to be counted all the same.
TEST(AttestationBytecode, ThatIsNotWholeOrOfAnotherTextIsNotRun) {
  GUARD_NEEDS(Needs::namespace_sandbox);
  Project project;
  project.configure("trust_namespace = true\n");
  project.write("sandbox/passes.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"passes\", () => { expect(1).toBe(1); });\n");
  project.write("sandbox/swallows.test.ts",
      "import { expect, test } from \"bun:test\";\ntest(\"swallows\", () => { try { expect(1).toBe(2); } catch {} "
      "});\n");
  const TempDir cache = TempDir::create(fs::temp_directory_path()).value();
  ASSERT_EQ(::chmod(cache.path().c_str(), 0755), 0);  // root's sandbox runs as another user
  const std::map<std::string, std::string> environment = {{"GUARD_CACHE_DIR", cache.path().string()}};
  ASSERT_EQ(project.guard({"image", "build", "--root-folder"}, environment).exit_status, 0);
  fs::path bytecode;
  for (const auto& entry : fs::recursive_directory_iterator(cache.path() / "images")) {
    if (entry.path().extension() == ".jsc" && entry.is_regular_file() && !entry.is_symlink()) bytecode = entry.path();
  }
  ASSERT_FALSE(bytecode.empty());
  const std::string whole = read_file(bytecode, 1u << 22).value();
  const auto reason_of = [&](const char* file) {
    return project.guard({"run", "--format", "json", "--backend", "namespace", file}, environment)
        .document()
        .value("reason", "");
  };
  const auto changed_at = [&](std::size_t at) {
    std::string bytes = whole;
    bytes[at] = static_cast<char>(bytes[at] ^ 0x55);
    return bytes;
  };
  // The first bytes are a checksum and the version.
  for (const std::string& bytes : {whole, std::string(), whole.substr(0, 64), whole.substr(0, whole.size() / 2),
           whole.substr(0, whole.size() - 1), std::string(whole.size(), '\0'), changed_at(0), changed_at(8),
           changed_at(12), changed_at(whole.size() / 2), changed_at(whole.size() - 9)}) {
    SCOPED_TRACE(bytes.size());
    std::ofstream(bytecode, std::ios::binary | std::ios::trunc) << bytes;
    EXPECT_EQ(reason_of("sandbox/passes.test.ts"), "tests_passed");
    EXPECT_EQ(reason_of("sandbox/swallows.test.ts"), "assertion_swallowed");
  }
  // Of this bun, but of another text.
  const fs::path core = bytecode.parent_path() / bytecode.stem();
  const std::string text = read_file(core, 1u << 22).value();
  std::ofstream(bytecode, std::ios::binary | std::ios::trunc) << whole;
  std::ofstream(core, std::ios::binary | std::ios::trunc) << text << "\nthis is no script";
  EXPECT_EQ(reason_of("sandbox/passes.test.ts"), "tests_failed");
}

// The rules are the same everywhere.
INSTANTIATE_TEST_SUITE_P(Backends, ForgeriesUnderShippedRules, ::testing::Values("namespace"),
    [](const auto& parameter) { return parameter.param; });

INSTANTIATE_TEST_SUITE_P(Backends, Forgeries, ::testing::Values("namespace", "docker"),
    [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
