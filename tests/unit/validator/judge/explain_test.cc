#include "validator/judge/explain.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <optional>

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::HasSubstr;

const std::string kPath = "sandbox/a.test.ts";

Explanation explained(const std::vector<SourceFile>& files, std::uint32_t line, TierSet tiers = kHost) {
  ValidatorOptions options;
  options.tiers = tiers;
  auto result = explain(rules(), matcher(), options, files, 0, line);
  EXPECT_TRUE(result) << (result ? "" : result.error().to_string());
  return result ? std::move(*result) : Explanation{};
}

std::optional<RuleStory> told_of(const std::string& rule, const std::string& text, std::uint32_t line = 1,
    TierSet tiers = kHost, const std::vector<SourceFile>& others = {}) {
  std::vector<SourceFile> files = {{kPath, text}};
  files.insert(files.end(), others.begin(), others.end());
  for (const auto& story : explained(files, line, tiers).rules) {
    if (story.rule == rule) return story;
  }
  return std::nullopt;
}

RuleStory story_of(const std::string& rule, const std::string& text, std::uint32_t line = 1, TierSet tiers = kHost,
    const std::vector<SourceFile>& others = {}) {
  const auto story = told_of(rule, text, line, tiers, others);
  EXPECT_TRUE(story) << rule << " is not told of";
  return story.value_or(RuleStory{});
}

std::vector<std::string> texts(const Explanation& explanation, View view) {
  std::vector<std::string> list;
  for (const auto& piece : explanation.pieces) {
    if (piece.view == view) list.push_back(piece.text);
  }
  return list;
}

TEST(Explain, ShowsTheReadingsOfTheLineAlone) {
  const auto explanation = explained({{kPath, "first('1');\nconst p = '/pr' + 'oc/self/environ';\nlast('3');\n"}}, 2);
  EXPECT_EQ(texts(explanation, View::raw), std::vector<std::string>{"const p = '/pr' + 'oc/self/environ';"});
  ASSERT_EQ(texts(explanation, View::code).size(), 1U);
  EXPECT_THAT(texts(explanation, View::code)[0], HasSubstr("const p=\"\"+\"\""));
  EXPECT_THAT(texts(explanation, View::strings), Contains("/proc/self/environ"));
  EXPECT_THAT(texts(explanation, View::strings), testing::Not(Contains("1")));
  EXPECT_THAT(texts(explanation, View::strings), testing::Not(Contains("3")));
}

TEST(Explain, ACommentHasNoCode) {
  EXPECT_TRUE(texts(explained({{kPath, "a();\n// eval(x)\nb();\n"}}, 2), View::code).empty());
}

TEST(Explain, TellsOnceOfRulesThatCameCloseAndOfNoOther) {
  const auto explanation = explained({{kPath, "fs.rmSync(d); // eval(x)\n"}}, 1);
  std::map<std::string, int> told;
  for (const auto& story : explanation.rules) ++told[story.rule];
  EXPECT_EQ(told,
      (std::map<std::string, int>{
          {"host.eval", 1}, {"host.fs_remove", 1}, {"host.fs_remove_method", 1}, {"host.temp_removal", 1}}));
}

TEST(Explain, WhatFiresSaysWhatItWasReadAs) {
  const auto story = story_of("always.proc_file", "1;\nconst p = '/pr' + 'oc/self/environ';\n", 2);
  EXPECT_EQ(story.story, Story::fired);
  EXPECT_EQ(story.reading, "/proc/self/environ");
  EXPECT_EQ(story.lines, std::vector<std::uint32_t>{2});
}

TEST(Explain, ATierThatIsOff) {
  EXPECT_EQ(story_of("host.fs_remove", "fs.rmSync(d);\n", 1, kDocker).story, Story::tier_off);
  EXPECT_EQ(story_of("host.fs_remove", "fs.rmSync(d);\n", 1, kHost).story, Story::fired);
}

TEST(Explain, APreconditionThatHoldsNowhere) {
  const auto alone = story_of("always.native_escape", "mount('/dev/sda1');\n");
  EXPECT_EQ(alone.story, Story::needs_fact);
  EXPECT_THAT(alone.sentence, HasSubstr("fact.native_calls"));
  EXPECT_THAT(alone.sentence, HasSubstr("no other was named"));
}

TEST(Explain, HalfARuleNamesTheOtherHalf) {
  const auto alone = story_of("docker.two_hit", "const z = process.env.SECRET_X;\n");
  EXPECT_EQ(alone.story, Story::half);
  EXPECT_THAT(alone.sentence, HasSubstr("fact.output_sink"));
  EXPECT_THAT(alone.sentence, HasSubstr("nowhere"));
  const auto other = story_of("docker.two_hit", "import { z } from './b'; console.log(1);\n", 1, kHost,
      {{"sandbox/b.ts", "\nexport const z = process.env.SECRET_X;\n"}});
  EXPECT_EQ(other.story, Story::fired);
  EXPECT_THAT(other.sentence, HasSubstr("sandbox/b.ts:2"));
  const auto unrelated = story_of("docker.two_hit", "console.log(1);\n", 1, kHost,
      {{"sandbox/b.ts", "\nexport const z = process.env.SECRET_X;\n"}});
  EXPECT_EQ(unrelated.story, Story::half);
  EXPECT_THAT(unrelated.sentence, HasSubstr("nowhere in this file or in one that it loads"));
}

TEST(Explain, HarmlessVariablesAreAllowedByTheList) {
  const auto story = story_of("docker.two_hit", "const z = process.env.NODE_ENV;\nconsole.log(1);\n");
  EXPECT_EQ(story.story, Story::harmless);
  EXPECT_THAT(story.sentence, HasSubstr("two_hit_ignore"));
}

TEST(Explain, WordsInACommentOrAStringAreNoCode) {
  EXPECT_EQ(story_of("host.eval", "// eval(x)\n").story, Story::other_view);
  EXPECT_EQ(story_of("host.eval", "const t = 'eval(x)';\n").story, Story::other_view);
  EXPECT_EQ(story_of("always.env_dump", "// JSON.stringify(process.env)\nprocess['env'];\n").story, Story::other_view)
      << "more to the point than that it fires elsewhere";
  EXPECT_FALSE(told_of("host.eval", "evaluate(x)\n"));
  EXPECT_EQ(story_of("host.api_key_name", "// OPENAI_API_KEY\n").story, Story::other_view);
}

TEST(Explain, OfAWholeFileEachLineIsNamed) {
  const auto story = story_of("host.fs_remove", "1;\nfs.rmSync(d);\n\nfs.rmSync(e);\n", 0);
  EXPECT_EQ(story.story, Story::fired);
  EXPECT_EQ(story.lines, (std::vector<std::uint32_t>{2, 4}));
  EXPECT_FALSE(told_of("host.fs_remove", "1;\nfs.rmSync(d);\n", 1)) << "it is asked about another line";
}

TEST(Explain, ARuleLooksAtItsPathsOnly) {
  Rule rule;
  rule.id = "host.scoped";
  rule.tier = Tier::host;
  rule.title = rule.why = rule.fix = "x";
  rule.patterns = {{"zzzz", {View::code}, 0, 0, 0, 0}};
  rule.paths = {"other/**"};
  const auto set = RuleSet::create({rule}, {});
  ASSERT_TRUE(set);
  const auto engine = Matcher::create(*set, Engine::re2_only);
  ASSERT_TRUE(engine);
  const auto result = explain(*set, *engine, {}, {{kPath, "zzzz();\n"}}, 0, 1);
  ASSERT_TRUE(result);
  ASSERT_EQ(result->rules.size(), 1U);
  EXPECT_EQ(result->rules[0].story, Story::out_of_scope);
  EXPECT_THAT(result->rules[0].sentence, HasSubstr("other/**"));
}

TEST(Explain, FindingsThatNoRuleMakesAreToldToo) {
  EXPECT_EQ(story_of("encoding.nul_byte", std::string("1;\0\n", 4)).story, Story::fired);
}

TEST(Explain, TheWholeFileAndALineThatThereIsNot) {
  const auto whole = explained({{kPath, "1;\nfs.rmSync(d);\n"}}, 0);
  EXPECT_EQ(whole.rules.front().rule, "host.fs_remove");
  EXPECT_EQ(whole.rules.front().story, Story::fired);
  const auto beyond = explain(rules(), matcher(), {}, {{kPath, "1;\n"}}, 0, 3);
  ASSERT_FALSE(beyond);
  EXPECT_EQ(beyond.error().code(), ErrorCode::input_invalid);
  EXPECT_TRUE(explain(rules(), matcher(), {}, {{kPath, ""}}, 0, 1));
}

}  // namespace
}  // namespace guard
