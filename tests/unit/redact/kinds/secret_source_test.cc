#include "redact/kinds/secret_source.h"
#include "redact/kinds/kind_table.h"
#include "redact/kinds/secret_matcher.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

#include "redact/kinds/byte_set.h"
#include "redact/kinds/secret_kind.h"
#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

Rule rule(std::map<std::string, std::string> redact, std::string regex = "abcd-[a-z]{4,}") {
  Rule made;
  made.id = "secret.made";
  made.tier = Tier::secret;
  made.title = "made for a test";
  made.kind = "made";
  made.patterns = {Pattern{std::move(regex), {View::raw}, 0}};
  made.redact = std::move(redact);
  return made;
}

Result<SecretSource> source_of(Rule made) {
  GUARD_TRY_ASSIGN(const RuleSet rules, RuleSet::create({std::move(made)}, {}));
  return SecretSource::create(rules);
}

TEST(SecretSource, KindsComeFromTheRulesAlone) {
  auto source = source_of(rule({{"prefix", "abcd-"}}));
  ASSERT_TRUE(source.has_value());
  EXPECT_EQ(redacted(*source, "x abcd-efgh y " + openai_key() + "\n"), "x [REDACTED:made] y " + openai_key() + "\n");
}

// Every way in which a rule could leave nothing bounded to hold back, or be read differently than its author meant.
TEST(SecretSource, RefusesRulesThatCannotBeStreamed) {
  const std::vector<std::map<std::string, std::string>> bad = {
      {},
      {{"prefix", "ab"}},
      {{"prefix", std::string(61, 'a')}},
      {{"prefix", "ab\n-"}},
      {{"prefix", "abcd-"}, {"tail", "z-a"}},
      {{"prefix", "abcd-"}, {"tail", "a-z"}},
      {{"prefix", "abcd-"}, {"left", "somewhere"}},
      {{"prefix", "abcd-"}, {"lead", "0-9"}},
      {{"prefix", "abcd-"}, {"lead", "0-9"}, {"lead_max", "99"}},
      {{"prefix", "abcd-"}, {"perfix", "abd-"}},
      {{"prefix", "abcd-"}, {"machine", "engine"}},
      {{"prefix", "abcd-"}, {"next", "z-a"}},
      {{"prefix", "abcd-"}, {"next", "a-z"}, {"machine", "pem"}},
      {{"machine", "run"}},
      {{"machine", "run"}, {"chars", "a-z"}, {"min", "3"}},
      {{"machine", "run"}, {"chars", "a-z"}, {"min", "5000"}},
      {{"machine", "run"}, {"chars", "a-z"}, {"min", "ten"}},
  };
  for (const auto& redact : bad) {
    auto source = source_of(rule(redact));
    ASSERT_FALSE(source.has_value()) << testing::PrintToString(redact);
    EXPECT_EQ(source.error().code(), ErrorCode::rules_invalid);
  }
  Rule unnamed = rule({{"prefix", "abcd-"}});
  unnamed.kind = "Not A Name";
  EXPECT_FALSE(source_of(unnamed).has_value());
}

TEST(SecretSource, PrefixOfFewerThanFiveBytesSaysWhatFollowsIt) {
  const auto silent = source_of(rule({{"prefix", "abcdef- abc-"}}));
  ASSERT_FALSE(silent.has_value());
  EXPECT_EQ(silent.error().code(), ErrorCode::rules_invalid);
  EXPECT_NE(silent.error().to_string().find("`redact.next` is missing: the prefix abc- has fewer than 5 bytes"),
      std::string::npos)
      << silent.error().to_string();
  EXPECT_TRUE(source_of(rule({{"prefix", "abcdef- abc-"}, {"next", "a-z"}})).has_value());
}

// The pattern would take more than `next` promises; the stream and the definition both hold to the promise.
TEST(SecretSource, OnlyABytePromisedByNextMayFollowThePrefix) {
  const std::string text = "abc-1234 ABC-1234 x9abc-1234 abc-defg abc-";
  const std::string expected = "[REDACTED:made] [REDACTED:made] [REDACTED:made] abc-defg abc-";
  auto source =
      source_of(rule({{"prefix", "abc-"}, {"nocase", "true"}, {"next", "0-9"}, {"lead", "x0-9"}, {"lead_max", "4"}},
          "(?i)[x0-9]*abc-[a-z0-9]{4,}"));
  ASSERT_TRUE(source.has_value()) << source.error().to_string();
  EXPECT_EQ(stream(*source, text, {1}), expected);
  EXPECT_EQ(redact_whole(*source, text).value_or(""), expected);
}

// A pattern that does not compile is met in the middle of a stream: what follows is withheld, and so is the candidate.
TEST(SecretSource, BrokenPatternWithholdsTheStream) {
  auto source = source_of(rule({{"prefix", "abcd-"}, {"except", "abcd-("}}));
  ASSERT_TRUE(source.has_value());
  MemorySink sink;
  auto redactor = Redactor::create(*source, sink);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(std::string_view("fine\n")).has_value());
  const auto pushed = redactor->push(std::string_view("abcd-defgh\n"));
  ASSERT_FALSE(pushed.has_value());
  EXPECT_EQ(pushed.error().code(), ErrorCode::withheld);
  EXPECT_FALSE(redactor->push(std::string_view("more\n")).has_value());
  EXPECT_FALSE(redactor->finish_cut().has_value());
  EXPECT_EQ(sink.text, "fine\n");
  EXPECT_FALSE(sink.finished);
}

TEST(SecretSource, LongerPrefixNamesTheKind) { EXPECT_EQ(redacted(anthropic_key() + "\n"), "[REDACTED:anthropic]\n"); }

TEST(SecretSource, NamesOfValuesAreReducedToPlainLetters) {
  const std::string value = "Value-" + random_text(20, 90);
  const SecretSource source =
      source_with({{"A]\n\x1b[31m", value}, {std::string(300, 'N'), "other-" + random_text(20, 91)}});
  EXPECT_EQ(redacted(source, value + "\n"), "[REDACTED:env:A____31m]\n");
  EXPECT_EQ(redacted(source, "other-" + random_text(20, 91)), "[REDACTED:env:" + std::string(64, 'N') + "]");
}

TEST(SecretSource, RefusesAValueThatStandsInItsOwnMarker) {
  const SecretSource source = source_with({{"A_RATHER_LONG_VARIABLE_NAME", "A_RATHER_LONG_VARIABLE_NAME"}});
  ASSERT_EQ(source.refused().size(), 1u);
  EXPECT_EQ(source.refused()[0].first, "A_RATHER_LONG_VARIABLE_NAME");
}

// Two streams and two threads compile the same patterns at the same moment.
TEST(SecretSource, IsSharedByRedactorsOfSeveralThreads) {
  const SecretSource source = source_with({});
  const std::string text = repeat(openai_key() + " " + jwt() + " " + telegram_token() + "\n", 50);
  const std::string expected = redact_whole(shipped_kinds(), text).value_or("");
  std::vector<std::string> outs(4);
  std::vector<std::thread> threads;
  for (std::string& out : outs) threads.emplace_back([&] { out = stream(source, text, {100, 1000}); });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& out : outs) EXPECT_EQ(out, expected);
}

// The rules' own examples, as the redactor sees them: found in the middle of a line, and left alone.
TEST(SecretSource, ShippedExamplesHold) {
  std::size_t examples = 0;
  for (const Rule& shipped : secret_rules().rules()) {
    SCOPED_TRACE(shipped.id);
    EXPECT_FALSE(shipped.match.empty());
    EXPECT_FALSE(shipped.no_match.empty());
    for (const Example& example : shipped.match) {
      ++examples;
      const std::string out = redact_whole(shipped_kinds(), example.text + "\n").value_or("");
      EXPECT_NE(out.find("[REDACTED:" + shipped.kind + "]"), std::string::npos) << out;
    }
    for (const Example& example : shipped.no_match) {
      ++examples;
      EXPECT_EQ(redact_whole(shipped_kinds(), example.text + "\n").value_or(""), example.text + "\n");
    }
  }
  EXPECT_GT(examples, 60u);
}

TEST(ByteSet, ReadsRangesEscapesAndNegation) {
  const auto set = ByteSet::parse("A-Ca-c0\\-\\x41\\x7e-");
  ASSERT_TRUE(set.has_value());
  for (const char c : std::string("ABCabc0-~")) EXPECT_TRUE(set->has(c)) << c;
  for (const char c : std::string("Dd1\\x\n")) EXPECT_FALSE(set->has(c)) << c;
  const auto others = ByteSet::parse("^\"\\\\");
  ASSERT_TRUE(others.has_value());
  EXPECT_FALSE(others->has('"') || others->has('\\') || others->has('\n') || others->has('\r'));
  EXPECT_TRUE(others->has('a') && others->has('\0') && others->has('\xff'));
  EXPECT_FALSE(ByteSet::parse("").has_value());
  EXPECT_FALSE(ByteSet::parse("^").has_value());
  EXPECT_FALSE(ByteSet::parse("z-a").has_value());
}

TEST(WordStart, EscapesEndNoWord) {
  for (const char* left : {"", " ", "=", "-", "_", "\xc3\xa9", "\\n", "\\t", "%3D", "\\x3d", "\\u003d", "\x1b[32m",
           "\x1b[0m", "[38;5;1m"}) {
    EXPECT_TRUE(at_word_start(left)) << left;
  }
  for (const char* left : {"a", "ri", "9", "Z", "n", "3D", "u003d", "32m", "am"})
    EXPECT_FALSE(at_word_start(left)) << left;
}

TEST(SecretSource, TheSameValueUnderTwoNamesIsRefusedUnderNeither) {
  const std::string value = "x9Kx9" + std::string("Lq1");
  const auto source = SecretSource::shipped({{"A", value}, {"B", value}});
  ASSERT_TRUE(source.has_value());
  EXPECT_TRUE(source->refused().empty()) << source->refused().front().second;
}

// What is in read-only memory is what the rules say.
TEST(SecretSource, ShippedTableIsThatOfTheShippedRules) {
  const auto own = OwnKindTable::create(RuleSet::shipped()).value();
  const KindTable& made = own->table();
  const KindTable& shipped = shipped_kind_table();
  ASSERT_EQ(shipped.kinds.size(), made.kinds.size());
  ASSERT_EQ(shipped.runs.size(), made.runs.size());
  for (std::size_t i = 0; i < made.kinds.size(); ++i) {
    const SecretKind& a = shipped.kinds[i];
    const SecretKind& b = made.kinds[i];
    EXPECT_EQ(a.rule_id, b.rule_id);
    EXPECT_TRUE(std::equal(a.prefixes.begin(), a.prefixes.end(), b.prefixes.begin(), b.prefixes.end())) << b.rule_id;
    ASSERT_EQ(a.patterns.size(), b.patterns.size()) << b.rule_id;
    for (std::size_t p = 0; p < a.patterns.size(); ++p) {
      EXPECT_EQ(a.patterns[p].regex, b.patterns[p].regex);
      EXPECT_EQ(a.patterns[p].group, b.patterns[p].group);
    }
    EXPECT_EQ(a.except, b.except);
    EXPECT_EQ(a.entropy_min, b.entropy_min) << b.rule_id;
    EXPECT_EQ(a.tail.words(), b.tail.words()) << b.rule_id;
    EXPECT_EQ(a.next.words(), b.next.words()) << b.rule_id;
    EXPECT_EQ(a.lead.words(), b.lead.words()) << b.rule_id;
    EXPECT_EQ(a.lead_max, b.lead_max) << b.rule_id;
    EXPECT_EQ(a.fold_case, b.fold_case) << b.rule_id;
    EXPECT_EQ(a.any_left, b.any_left) << b.rule_id;
    EXPECT_EQ(a.behind, b.behind) << b.rule_id;
    EXPECT_EQ(a.has_group, b.has_group) << b.rule_id;
    EXPECT_EQ(a.needs.size(), b.needs.size()) << b.rule_id;
  }
}

}  // namespace
}  // namespace guard::test
