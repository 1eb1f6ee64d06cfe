// Runs that shall look as if their tests had passed, and runs that honestly have. The cases lie in tests/forgeries:
//   forged    never allowed, whatever the rules say: the shipped rules of the docker and host tiers are left out, so that the run
//             alone has to show it. The first line of a case names the reason ("a|b": either).
//   ordinary  allowed, with the shipped rules.
#include <gtest/gtest.h>

#include <algorithm>

#include "tests/cli/guard_program.h"

namespace guard::testing {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kRuleThatFindsNothing = R"([[rule]]
id = "docker.nothing"
tier = "docker"
title = "finds nothing"
why = "So that what the run itself shows is seen."
fix = "There is nothing to mend."
patterns = [{ regex = "nobody writes this word", views = ["code"] }]
match = ["nobody writes this word"]
no_match = ["anything else"]
)";

std::vector<fs::path> cases_of(std::string_view folder) {
  std::vector<fs::path> cases;
  for (const auto& entry : fs::directory_iterator(fs::path(GUARD_SOURCE_DIR) / "tests/forgeries" / folder)) {
    if (entry.path().native().ends_with(".test.ts")) cases.push_back(entry.path());
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

  nlohmann::json run(const fs::path& path, std::vector<std::string> more) const {
    project_.write("sandbox/case.test.ts", text_of(path));
    more.insert(more.end(), {"--memory", "512m", "--timeout", "20"});
    return project_.run(GetParam(), {"sandbox/case.test.ts"}, more).document();
  }

  Project project_;
};

TEST_P(Forgeries, NoneIsAllowed) {
  project_.write("rules/nothing.toml", kRuleThatFindsNothing);
  const auto cases = cases_of("forged");
  ASSERT_GT(cases.size(), 40u);
  for (const auto& path : cases) {
    SCOPED_TRACE(path.filename());
    const std::string text = text_of(path);
    ASSERT_TRUE(text.starts_with("// "));
    const std::string wanted = "|" + text.substr(3, text.find('\n') - 3) + "|";
    const auto document = run(path, {"--rules", "rules"});
    EXPECT_NE(document.value("verdict", "allowed"), "allowed") << document;
    EXPECT_NE(wanted.find("|" + document.value("reason", "") + "|"), std::string::npos) << document;
  }
}

TEST_P(Forgeries, OrdinarySuitesAreAllowed) {
  project_.write("sandbox/echo.worker.ts", text_of(fs::path(GUARD_SOURCE_DIR) / "tests/forgeries/ordinary/echo.worker.ts"));
  const auto cases = cases_of("ordinary");
  ASSERT_GT(cases.size(), 15u);
  for (const auto& path : cases) {
    SCOPED_TRACE(path.filename());
    const auto document = run(path, {});
    EXPECT_EQ(document.value("verdict", ""), "allowed") << document;
  }
}

INSTANTIATE_TEST_SUITE_P(Backends, Forgeries, ::testing::Values("namespace", "docker"),
                         [](const auto& parameter) { return parameter.param; });

}  // namespace
}  // namespace guard::testing
