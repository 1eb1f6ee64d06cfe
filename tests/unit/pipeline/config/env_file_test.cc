#include "pipeline/config/env_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

std::vector<std::string> variables(std::string_view text) {
  const auto parsed = parse_env_file(text, "my.env");
  if (!parsed) return {parsed.error().message()};
  std::vector<std::string> list;
  for (const auto& variable : *parsed) list.push_back(variable.key + "=" + variable.text.value_or("(none)"));
  return list;
}

TEST(EnvFile, ReadsLinesAsDotenvWritesThem) {
  EXPECT_THAT(
      variables("\xef\xbb\xbf# a comment\n\nA=1\n  export B = two words  \r\nC=\nexport=x\n\tD=a#b # said\nE=#\n"),
      ElementsAre(
          "run.env.A=1", "run.env.B=two words", "run.env.C=", "run.env.export=x", "run.env.D=a#b", "run.env.E="));
  EXPECT_THAT(variables(""), ElementsAre());
  EXPECT_THAT(variables("LAST=no end"), ElementsAre("run.env.LAST=no end"));
  EXPECT_THAT(variables("A=it's $HOME \"here\""), ElementsAre("run.env.A=it's $HOME \"here\""));
}

TEST(EnvFile, QuotesKeepWhatTheyHold) {
  EXPECT_THAT(variables("A=' x #\\n$Y '\nB=\"a\\nb\\t\\\"\\\\\\$\\d\" # said\nC='one\ntwo'\nD=\"\"\n"),
      ElementsAre("run.env.A= x #\\n$Y ", "run.env.B=a\nb\t\"\\$\\d", "run.env.C=one\ntwo", "run.env.D="));
}

TEST(EnvFile, FaultsNameTheLineAndNeverTheText) {
  const std::pair<const char*, const char*> cases[] = {{"A=1\nhunter2\n", "my.env:2: there is no ="},
      {"hun ter2=x\n", "my.env:1: what stands before the ="}, {"=hunter2\n", "my.env:1: what stands"},
      {"2A=hunter2", "my.env:1: what stands"}, {"A='x\ny'\n\nB=\"hunter2\n\n", "my.env:4: the quote"},
      {"A=\"x\ny\" hunter2", "my.env:2: something stands"}, {"A=\"hunter2\\", "my.env:1: the quote"},
      {"A=1\nB=hunter2\nA=hunter2", "my.env:3: A is set in line 1 already"}, {"export A", "my.env:1: there is no ="}};
  for (const auto& [text, says] : cases) {
    const auto parsed = parse_env_file(text, "my.env");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::input_invalid);
    EXPECT_THAT(parsed.error().to_string(), HasSubstr(says)) << text;
    EXPECT_THAT(parsed.error().to_string(), Not(HasSubstr("ter2"))) << text;
  }
  EXPECT_FALSE(parse_env_file(std::string_view("A=\0b", 4), "my.env"));
}

TEST(EnvFile, MustBeThere) {
  const auto missing = read_env_file("/nonexistent/my.env");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().code(), ErrorCode::file_not_found);
}

}  // namespace
}  // namespace guard
