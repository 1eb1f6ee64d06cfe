// What a generator is told before it writes.
#include "pipeline/report/brief.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "common/file_io.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Briefs : ::testing::Test {
  std::string text() { return brief_text({folder.path(), &config, &RuleSet::shipped()}); }
  TempDir folder = TempDir::create().value();
  Config config;
};

TEST_F(Briefs, SayWhereWhatAndInsteadOfWhat) {
  ASSERT_TRUE(write_file_atomically(
      folder.path() / "package.json", R"({"dependencies":{"zod":"1"},"devDependencies":{"left\u001bpad":"2"}})"));
  EXPECT_THAT(text(),
      AllOf(HasSubstr("sandbox/**"), HasSubstr("zod"), HasSubstr("left\\x1bpad"), HasSubstr("bun:test"),
          HasSubstr("refers to the whole environment. Instead: "), HasSubstr("deletes files. Instead: "),
          HasSubstr("```ts\n"), HasSubstr("the project lies under /app")));
  ASSERT_TRUE(make_folders(folder.path() / "sandbox"));
  EXPECT_THAT(text(), AllOf(HasSubstr("`sandbox/` is writable"), Not(HasSubstr("the project lies under /app"))));
}

TEST_F(Briefs, FollowTheConfiguration) {
  config.check.paths = {"packages/*/test/**"};
  config.run.require_assertions = Assertions::test;
  EXPECT_THAT(text(), AllOf(HasSubstr("packages/*/test/**"), HasSubstr("Every test needs an assertion")));
  config.run.require_assertions = Assertions::off;
  EXPECT_THAT(text(), AllOf(Not(HasSubstr("Every test needs an assertion")), Not(HasSubstr("at least one assertion"))));
}

// Each rule that refuses is told once, and nothing is a secret's shape.
TEST_F(Briefs, TellOfEveryRuleThatRefuses) {
  const auto document = nlohmann::json::parse(brief_document({folder.path(), &config, &RuleSet::shipped()}));
  std::size_t wanted = 0;
  for (const Rule& rule : RuleSet::shipped().rules())
    wanted += (rule.tier == Tier::always || rule.tier == Tier::docker || rule.tier == Tier::host) &&
            rule.severity == Severity::block && rule.paths.empty()
        ? 1
        : 0;
  EXPECT_EQ(document["refused"].size(), wanted);
  EXPECT_GT(wanted, 60U);
  for (const auto& row : document["refused"]) EXPECT_FALSE(row["instead"].get<std::string>().empty()) << row;
}

}  // namespace
}  // namespace guard
