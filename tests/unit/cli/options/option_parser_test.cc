#include "cli/options/option_parser.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "cli/options/verbs.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

using Words = std::vector<std::string_view>;

constexpr std::string_view kModes[] = {"fast", "slow"};
constexpr OptionRow kRows[] = {
    {.name = "--file", .value = "FILE"},
    {.name = "--name", .value = "NAME", .repeats = true},
    {.name = "--mode", .value = "MODE", .choices = kModes},
    {.name = "--flag"},
    {.name = "--pattern", .value = "PATTERN", .short_name = "-p"},
};

SplitArguments split(const Words& arguments, Placement placement = Placement::anywhere) {
  auto result = split_arguments(arguments, kRows, placement);
  if (!result) ADD_FAILURE() << result.error().to_string();
  return result ? *result : SplitArguments{};
}

std::string mistake(const Words& arguments, Placement placement = Placement::anywhere) {
  const auto result = split_arguments(arguments, kRows, placement);
  if (result) return "(split)";
  EXPECT_EQ(result.error().code(), ErrorCode::usage);
  return result.error().to_string();
}

// In every place where a text can stand, it arrives as it is and nothing else is taken for it.
void expect_unchanged(std::string_view text) {
  const std::string joined = "--file=" + std::string(text);
  const std::string joined_name = "--name=" + std::string(text);
  if (!text.empty()) {
    const auto result = split({joined, "x", joined_name, joined_name});
    EXPECT_EQ(result.value("--file"), text);
    EXPECT_THAT(result.options.at("--name"), ElementsAre(text, text));
    EXPECT_THAT(result.positional, ElementsAre("x"));
    EXPECT_FALSE(result.has("--flag"));
  }
  if (!text.empty() && !text.starts_with("--")) {
    const auto result = split({"--name", text, "x", "--file", text, "--name", text});
    EXPECT_EQ(result.value("--file"), text);
    EXPECT_THAT(result.options.at("--name"), ElementsAre(text, text));
    EXPECT_THAT(result.positional, ElementsAre("x"));
  }
  if (!text.starts_with("-") || text.size() == 1) {
    const auto result = split({text, "--flag", text, "--file", "x", text});
    EXPECT_THAT(result.positional, ElementsAre(text, text, text));
    EXPECT_EQ(result.dash_dash, 3U);
    EXPECT_TRUE(result.has("--flag"));
    EXPECT_EQ(result.value("--file"), "x");
  }
  const auto result = split({"a", "--", text, text}, Placement::anywhere);
  EXPECT_THAT(result.positional, ElementsAre("a", text, text));
  EXPECT_EQ(result.dash_dash, 1U);
  EXPECT_THAT(result.options, IsEmpty());
  EXPECT_THAT(split({"--", text}, Placement::behind_dashes).positional, ElementsAre(text));
}

// Each of these means something to CLI11 or to a shell.
constexpr std::string_view kListsAndMaps[] = {
    "[a,b]", "[slug]", "[]", "[", "[[a],[b,c]]", "{x}", "{}", "{a,b}.ts", "a,b", ","};
constexpr std::string_view kQuotes[] = {"\"quoted\"", "'q'", "`q`", "\"", "\\", "\\n", "%x", "%%"};
constexpr std::string_view kBlanks[] = {"", " ", " padded ", "\ttab\t", "\n", "a\nb"};
constexpr std::string_view kEquals[] = {"=", "=x", "a=b", "a:b", "/opt:x", "/flag", "/file", "/file:x"};
constexpr std::string_view kDashes[] = {
    "-", "-5", "-1.5", "-x", "-h", "-=", "---x", "--other", "--flag", "--file=x", "--", "--="};
constexpr std::string_view kConversions[] = {"true", "false", "on", "x64", "0x10", "1k", "++", "+", "!x", "!", "#x"};
constexpr std::string_view kShell[] = {"$HOME", "$(x)", "a;b", "@file", "*", "~"};
constexpr std::string_view kBytes[] = {"\xff\xfe", "\xef\xbb\xbf", "\x1b[31m", "\x01\x7f"};

TEST(OptionParser, TextsThatMeanSomethingToCli11ArriveAsTheyAre) {
  const std::span<const std::string_view> groups[] = {
      kListsAndMaps, kQuotes, kBlanks, kEquals, kDashes, kConversions, kShell, kBytes};
  for (const auto group : groups) {
    for (const auto text : group) {
      SCOPED_TRACE(text);
      expect_unchanged(text);
    }
  }
}

TEST(OptionParser, AnyBytesArriveAsTheyAre) {
  std::mt19937 random(20'240'131);  // one seed: a failure can be repeated
  const std::string_view marks = "-=[]{}\"'`,:; \n\t!+%#$\\/\xff\x80";
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (std::size_t left = random() % 12; left > 0; --left) {
      text += random() % 2 == 0 ? marks[random() % marks.size()] : static_cast<char>(1 + random() % 255);
    }
    SCOPED_TRACE(::testing::PrintToString(text));
    expect_unchanged(text);
    if (HasFailure()) break;
  }
}

TEST(OptionParser, LongArgumentsArriveWhole) {
  std::string text(100'000, 'x');
  expect_unchanged(text);
  for (std::size_t i = 0; i < text.size(); i += 2) text[i] = ',';
  expect_unchanged("[" + text + "]");
  expect_unchanged("--" + text);

  const std::string name = "--" + text;
  const auto result = split_arguments(Words{name}, kRows, Placement::anywhere);
  ASSERT_FALSE(result);
  EXPECT_LT(result.error().to_string().size(), 400U);
}

TEST(OptionParser, ManyArgumentsKeepTheirOrder) {
  std::vector<std::string> names;
  for (int i = 0; i < 10'000; ++i) names.push_back(std::to_string(i));
  EXPECT_EQ(split({names.begin(), names.end()}).positional, names);
}

TEST(OptionParser, AnOptionIsAValueOnlyBehindAnEqualsSign) {
  const auto result = split({"--file=--flag", "--name=--name=x", "--name=--"});
  EXPECT_EQ(result.value("--file"), "--flag");
  EXPECT_THAT(result.options.at("--name"), ElementsAre("--name=x", "--"));
  EXPECT_FALSE(result.has("--flag"));
  EXPECT_THAT(mistake({"--file", "--flag"}), HasSubstr("--file needs a value: --file FILE"));
  EXPECT_THAT(mistake({"--file", "--unknown"}), HasSubstr("--file needs a value"));
  EXPECT_THAT(mistake({"--file", "--", "x"}), HasSubstr("--file needs a value"));
  EXPECT_THAT(mistake({"x", "--name", "a", "--name"}), HasSubstr("--name needs a value"));
}

TEST(OptionParser, ANameIsNeverTakenForAForgottenValue) {
  EXPECT_THAT(mistake({"--file=", "x"}), HasSubstr("--file has an empty value"));
  EXPECT_THAT(mistake({"--file", "", "x"}), HasSubstr("--file has an empty value"));
  EXPECT_THAT(mistake({"--name", "a", "--name=", "x"}), HasSubstr("--name has an empty value"));
}

TEST(OptionParser, AShortNameTakesItsValueInAnyForm) {
  for (const Words& words : {Words{"-p", "a=b"}, Words{"-pa=b"}, Words{"--pattern", "a=b"}, Words{"--pattern=a=b"}})
    EXPECT_EQ(split(words).value("--pattern"), "a=b");
  EXPECT_THAT(mistake({"-p"}), HasSubstr("--pattern needs a value"));
  EXPECT_THAT(mistake({"-p", "a", "--pattern", "b"}), HasSubstr("--pattern is given twice"));
}

TEST(OptionParser, AFlagTakesNoValue) {
  for (const std::string_view text : {"--flag=", "--flag=true", "--flag=false", "--flag={}", "--flag=1", "--flag=[]"}) {
    EXPECT_THAT(mistake({text}), HasSubstr("--flag takes no value")) << text;
  }
  const auto result = split({"--flag", "true"});
  EXPECT_THAT(result.options.at("--flag"), ElementsAre(""));
  EXPECT_THAT(result.positional, ElementsAre("true"));
}

TEST(OptionParser, OnlyWhatTheTableHasIsAnOption) {
  for (const std::string_view text : {"-h", "--help", "--help-all", "--version", "-f", "-F", "--fil", "--FLAG",
           "--no-flag", "-flag", "---flag", "--!flag", "- flag", "-5", "--=", "--=x", "--file:x", "--fl_ag"}) {
    EXPECT_THAT(mistake({"x", text}), HasSubstr("unknown option")) << text;
  }
  EXPECT_THAT(mistake({"--flga", "x"}), HasSubstr("did you mean --flag?"));
  EXPECT_THAT(mistake({"--fiel=secret"}),
      ::testing::AllOf(HasSubstr("did you mean --file?"), ::testing::Not(HasSubstr("secret"))));
  EXPECT_THAT(mistake({"--flag", "-x.ts"}), HasSubstr("behind `--`"));
}

TEST(OptionParser, OnlyWhatMayRepeatIsGivenTwice) {
  EXPECT_THAT(split({"--name", "b", "x", "--name=a", "--name", "b"}).options.at("--name"), ElementsAre("b", "a", "b"));
  EXPECT_THAT(mistake({"--file", "a", "--file=a"}), HasSubstr("--file is given twice"));
  EXPECT_THAT(mistake({"--flag", "x", "--flag"}), HasSubstr("--flag is given twice"));
  EXPECT_THAT(mistake({"--mode", "fast", "--mode", "slow"}), HasSubstr("--mode is given twice"));
}

TEST(OptionParser, ChoicesAreCheckedAsTyped) {
  EXPECT_EQ(split({"--mode", "slow"}).value("--mode"), "slow");
  for (const std::string_view text :
      {"--mode=slwo", "--mode=Slow", "--mode= slow", "--mode=[slow]", "--mode=\"slow\""}) {
    EXPECT_THAT(mistake({text}), HasSubstr("--mode must be fast, slow, not")) << text;
  }
}

TEST(OptionParser, BehindDashesOnlyOptionsStandBefore) {
  const auto result = split({"--file", "a", "--flag", "--", "x", "--file", "b", "--"}, Placement::behind_dashes);
  EXPECT_THAT(result.positional, ElementsAre("x", "--file", "b", "--"));
  EXPECT_EQ(result.dash_dash, 0U);
  EXPECT_EQ(result.value("--file"), "a");
  for (const std::string_view text : {"x", "-", "", "[x]"}) {
    EXPECT_THAT(mistake({"--flag", text, "--", "y"}, Placement::behind_dashes), HasSubstr("stands before `--`"));
    EXPECT_THAT(mistake({text, "--unknown"}, Placement::behind_dashes), HasSubstr("stands before `--`"));
  }
  EXPECT_THAT(mistake({"--unknown", "x"}, Placement::behind_dashes), HasSubstr("unknown option --unknown"));
}

// CLI11 refuses names like these with exceptions. None gets out.
TEST(OptionParser, ATableThatCli11RefusesIsAnError) {
  constexpr OptionRow kBadName[] = {{.name = "--a b", .value = "X"}};
  constexpr OptionRow kSameTwice[] = {{.name = "--a"}, {.name = "--a"}};
  for (const auto& result : {split_arguments(Words{"--a b=x"}, kBadName, Placement::anywhere),
           split_arguments(Words{"--a"}, kSameTwice, Placement::anywhere)}) {
    ASSERT_FALSE(result);
    EXPECT_EQ(result.error().code(), ErrorCode::internal);
  }
}

// A name without them would become a positional argument of CLI11's, with all that it does to those; one dash, a group
// of single letters.
TEST(OptionParser, EveryOptionOfGuardHasTwoDashes) {
  for (const auto& verb : verbs()) {
    for (const auto& row : verb.options) EXPECT_TRUE(row.name.starts_with("--")) << verb.name << row.name;
    EXPECT_TRUE(split_arguments(Words{}, verb.options, verb.placement)) << verb.name;
  }
}

}  // namespace
}  // namespace guard
