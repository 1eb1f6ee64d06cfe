#include "rules/rule_loader.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <regex>
#include <set>

#include "common/file_io.h"

namespace guard {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr std::string_view kFact = R"toml(
[[fact]]
id = "fact.spawns"
title = "can start a process"
patterns = [ { regex = '''\bspawn\(''', views = ["code"] } ]
match = ["spawn('x')"]
no_match = ["respawn"]
)toml";

constexpr std::string_view kRule = R"toml(
[[rule]]
id = "always.dump"
tier = "always"
title = "t"
why = "w"
fix = "f"
patterns = [ { regex = '''dump\(''', views = ["code"] } ]
match = ["dump(1)"]
no_match = ["dumb"]
)toml";

// The rule above with `from` replaced by `to`.
std::string rule_with(std::string_view from, std::string_view to) {
  std::string text(kRule);
  const std::size_t at = text.find(from);
  EXPECT_NE(at, std::string::npos) << from;
  return text.replace(at, from.size(), to);
}

std::string complaint(std::string_view text) {
  const auto rules = parse_rules(text, "x.toml");
  EXPECT_FALSE(rules.has_value()) << text;
  if (rules) return {};
  EXPECT_EQ(rules.error().code(), ErrorCode::rules_invalid);
  return rules.error().message();
}

// In patterns and in hints to the redactor, and a definition may follow its use.
TEST(RuleLoader, SharesDefinitions) {
  const auto rules = parse_rules(R"toml(
[[rule]]
id = "secret.made"
tier = "secret"
kind = "made"
title = "t"
patterns = [ { regex = '(?&name)=((?&value))', views = ["raw"], capture = 1 } ]
redact = { prefix = "abcde", except = "x|(?&value)" }

[define]
name = "a|b"
value = '[0-9]{4}'
)toml",
      "x.toml");
  ASSERT_TRUE(rules.has_value()) << rules.error().message();
  EXPECT_EQ(rules->rules().front().patterns.front().regex, "(?:a|b)=((?:[0-9]{4}))");
  EXPECT_EQ(rules->rules().front().redact.at("except"), "x|(?:[0-9]{4})");
}

TEST(RuleLoader, ReadsAListOfPackagesAsASpecifierInQuotes) {
  const auto rules =
      parse_rules(rule_with("dump\\(", "(?&spawns)") + "[packages]\nspawns = [\"a.b\", \"@c/d-*\"]\n", "x.toml");
  ASSERT_TRUE(rules.has_value()) << rules.error().message();
  EXPECT_EQ(rules->rules().front().patterns.front().regex,
      "(?:\"(?:node:|npm:)?(?:a\\.b|@c/d-[\\w.\\-]+)(?:@[^\"/]*)?(?:/[^\"]*)?\")");
}

TEST(RuleLoader, RefusesPackagesThatAreNone) {
  EXPECT_THAT(complaint("packages = 1\n"), HasSubstr("x.toml:1:12: expected a table, found"));
  EXPECT_THAT(complaint("[packages]\nspawns = 1\n"), HasSubstr("expected an array of strings"));
  EXPECT_THAT(complaint("[packages]\nspawns = []\n"), HasSubstr("a list of packages is expected"));
  EXPECT_THAT(complaint("[packages]\nspawns = [\"a|b\"]\n"), HasSubstr("\"a|b\" is no name of a package"));
  EXPECT_THAT(complaint("[packages]\nspawns = [\"*\"]\n"), HasSubstr("is no name of a package"));
  EXPECT_THAT(complaint("[define]\na = 'x'\n[packages]\na = [\"b\"]\n"), HasSubstr("a is defined twice"));
}

TEST(RuleLoader, RefusesDefinitionsThatAreNone) {
  EXPECT_THAT(complaint(rule_with("dump\\(", "(?&call)\\(")), HasSubstr("x.toml:8:24: \"call\" is not defined"));
  EXPECT_THAT(complaint(rule_with("dump\\(", "(?&call")), HasSubstr("\"call\" is not defined"));
  EXPECT_THAT(complaint("[define]\nA = 'x'\n"), HasSubstr("x.toml:2:1: a definition's name has"));
  EXPECT_THAT(complaint("define = 1\n"), HasSubstr("x.toml:1:10: expected a table, found"));
}

TEST(RuleLoader, ReadsEveryField) {
  const auto rules = parse_rules(fmt::format("{}{}", kFact, R"toml(
[[rule]]
id = "host.spawn"
tier = "host"
severity = "block"
title = "starts a process"
why = "because"
fix = "don't"
patterns = [ { regex = '''spawn\(('[a-z]+')\)''', views = ["strings", "code"], capture = 1 } ]
needs = ["fact.spawns"]
paths = ["**/*.test.ts"]
references = ["https://example.org/"]
match = ["spawn('ls')", { text = "spawn('x')", path = "sandbox/x.test.ts" }]
no_match = ["x", { parts = ["sp", { repeat = "aw", times = 3 }, "n"] }]

[[rule]]
id = "secret.thing"
tier = "secret"
title = "a thing"
kind = "thing"
patterns = [ { regex = '''thing-[0-9]{8}''', views = ["raw"] } ]
redact = { prefix = 6, tail = "digits", cut = true }
)toml"),
      "x.toml");
  ASSERT_TRUE(rules.has_value()) << rules.error().to_string();
  ASSERT_EQ(rules->rules().size(), 2u);
  ASSERT_EQ(rules->facts().size(), 1u);
  const Rule& rule = *rules->find("host.spawn");
  EXPECT_EQ(rule.tier, Tier::host);
  EXPECT_EQ(rule.severity, Severity::block);
  EXPECT_EQ(rule.title, "starts a process");
  EXPECT_EQ(rule.why, "because");
  EXPECT_EQ(rule.fix, "don't");
  ASSERT_EQ(rule.patterns.size(), 1u);
  EXPECT_THAT(rule.patterns[0].views, ElementsAre(View::code, View::strings));
  EXPECT_EQ(rule.patterns[0].capture, 1);
  EXPECT_EQ(rule.patterns[0].bytes_max, Pattern::kUnbounded);
  EXPECT_THAT(rule.needs, ElementsAre("fact.spawns"));
  EXPECT_THAT(rule.paths, ElementsAre("**/*.test.ts"));
  EXPECT_THAT(rule.references, ElementsAre("https://example.org/"));
  ASSERT_EQ(rule.match.size(), 2u);
  EXPECT_EQ(rule.match[0].path, "sandbox/example.test.ts");
  EXPECT_EQ(rule.match[1].path, "sandbox/x.test.ts");
  ASSERT_EQ(rule.no_match.size(), 2u);
  EXPECT_EQ(rule.no_match[1].text, "spawawawn");
  EXPECT_EQ(rule.file, "x.toml");
  EXPECT_EQ(rule.line, 10u);
  const Rule& secret = *rules->find("secret.thing");
  EXPECT_EQ(secret.kind, "thing");
  EXPECT_EQ(secret.patterns[0].bytes_max, 14u);
  EXPECT_EQ(secret.redact.at("prefix"), "6");
  EXPECT_EQ(secret.redact.at("tail"), "digits");
  EXPECT_EQ(secret.redact.at("cut"), "true");
  EXPECT_EQ(rules->find_fact("fact.spawns")->title, "can start a process");
  EXPECT_EQ(rules->find("fact.spawns"), nullptr);
}

TEST(RuleLoader, ReportsAllFaultsOfOneFileWithTheirPlaces) {
  const std::string text = complaint(R"toml([[rule]]
id = "always.a"
tier = "allways"
title = "t"
why = "w"
fix = "f"
patterns = [ { regex = '''a(b''', views = ["code"] } ]
match = ["ab"]
no_mach = ["c"]
)toml");
  EXPECT_THAT(text,
      HasSubstr("x.toml:3:8: \"allways\" is none of always, docker, host, banned, secret; did you mean \"always\"?"));
  EXPECT_THAT(text, HasSubstr("x.toml:7:24: RE2 refuses the regex: missing ): a(b"));
  EXPECT_THAT(text, HasSubstr("x.toml:9:1: unknown key \"no_mach\"; did you mean \"no_match\"?"));
  EXPECT_THAT(text, HasSubstr("always.a has no no_match example"));
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3) << text;
}

// A file that is no TOML doesn't hide the faults of the others.
TEST(RuleLoader, ReportsFaultsOfAllFilesOfAFolder) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  const auto write = [&](const char* name, const std::string& text) {
    ASSERT_TRUE(make_folders((folder->path() / name).parent_path()).has_value());
    ASSERT_TRUE(write_file_atomically(folder->path() / name, text).has_value());
  };
  write("a.toml", "[[rule]\n");
  write("b.toml", rule_with("tier", "tierr"));
  write("sub/c.toml", std::string(kRule));
  write("sub/d.toml", std::string(kRule));
  write("notes.txt", "not a rule");
  const auto rules = load_rules(folder->path());
  ASSERT_FALSE(rules.has_value());
  const std::string text = rules.error().message();
  EXPECT_THAT(text, HasSubstr("a.toml:1:"));
  EXPECT_THAT(text, HasSubstr("b.toml:4:1: unknown key \"tierr\"; did you mean \"tier\"?"));
  EXPECT_THAT(text, HasSubstr("d.toml:3:6: the id \"always.dump\" is taken already, at "));
  EXPECT_THAT(text, Not(HasSubstr("notes.txt")));
}

TEST(RuleLoader, RefusesWhatIsNoFolder) {
  EXPECT_EQ(load_rules("/nonexistent/rules").error().code(), ErrorCode::file_not_found);
  EXPECT_EQ(load_rules("/dev/null").error().code(), ErrorCode::rules_invalid);
}

TEST(RuleLoader, TakesAnEmptyFolder) {
  auto folder = TempDir::create();
  ASSERT_TRUE(folder.has_value());
  const auto rules = load_rules(folder->path());
  ASSERT_TRUE(rules.has_value());
  EXPECT_TRUE(rules->rules().empty());
  EXPECT_EQ(rules->digest().size(), 64u);
}

TEST(RuleLoader, RefusesDoubledIdsAcrossRulesAndFacts) {
  EXPECT_THAT(
      complaint(fmt::format("{}{}", kRule, kRule)), HasSubstr("the id \"always.dump\" is taken already, at x.toml:3"));
  std::string fact(kFact);
  fact.replace(fact.find("fact.spawns"), 11, "always.dump");
  EXPECT_THAT(complaint(fmt::format("{}{}", kRule, fact)), HasSubstr("is taken already"));
}

TEST(RuleLoader, RefusesFactsThatAreNotThereAndSuggestsTheNearest) {
  EXPECT_THAT(complaint(fmt::format("{}{}", kFact, rule_with("why", "needs = [\"fact.spawn\"]\nwhy"))),
      HasSubstr("names the fact \"fact.spawn\", which is not defined; did you mean \"fact.spawns\"?"));
}

struct Refusal {
  const char* name;
  const char* from;
  const char* to;
  const char* sentence;
};

class RuleLoaderRefuses : public ::testing::TestWithParam<Refusal> {};

TEST_P(RuleLoaderRefuses, WithAReason) {
  EXPECT_THAT(complaint(rule_with(GetParam().from, GetParam().to)), HasSubstr(GetParam().sentence));
}

INSTANTIATE_TEST_SUITE_P(Fields, RuleLoaderRefuses,
    ::testing::Values(Refusal{"IdWithoutDot", "always.dump", "dump", "is no id"},
        Refusal{"IdUpperCase", "always.dump", "always.Dump", "is no id"},
        Refusal{"IdDoubleDot", "always.dump", "always..dump", "is no id"},
        Refusal{"IdEndsInDot", "always.dump", "always.", "is no id"},
        Refusal{"IdStartsWithDigit", "always.dump", "1always.dump", "is no id"},
        Refusal{"NoId", "id = \"always.dump\"\n", "", "a rule without an id"},
        Refusal{"NoTier", "tier = \"always\"\n", "", "a rule without a tier"},
        Refusal{"NoTitle", "title = \"t\"\n", "", "always.dump has no title"},
        Refusal{"EmptyTitle", "title = \"t\"", "title = \" \"", "an empty text"},
        Refusal{"TitleOfAnotherKind", "title = \"t\"", "title = 5", "expected a string, found"},
        Refusal{"NoWhy", "why = \"w\"\n", "", "does not say why"},
        Refusal{"NoFix", "fix = \"f\"\n", "", "how to fix it"},
        Refusal{"NoMatch", "match = [\"dump(1)\"]\n", "", "has no match example"},
        Refusal{"NoNoMatch", "no_match = [\"dumb\"]\n", "", "has no no_match example"},
        Refusal{"NoteInATier", "title", "severity = \"note\"\ntitle", "always blocks"},
        Refusal{"UnknownSeverity", "title", "severity = \"warn\"\ntitle", "severity is"},
        Refusal{"PatternsAndAllOf", "why", "all_of = [\"fact.a\", \"fact.b\"]\nwhy", "needs either patterns or all_of"},
        Refusal{"NoPatterns", "patterns = [ { regex = '''dump\\(''', views = [\"code\"] } ]\n", "",
            "either patterns or all_of"},
        Refusal{"EmptyPatterns", "[ { regex = '''dump\\(''', views = [\"code\"] } ]", "[]", "has no patterns"},
        Refusal{"PatternOfAnotherKind", "[ { regex = '''dump\\(''', views = [\"code\"] } ]", "[\"dump\"]",
            "expected a table"},
        Refusal{"NoViews", ", views = [\"code\"]", "", "without views"},
        Refusal{"EmptyViews", "[\"code\"]", "[]", "at least one view"},
        Refusal{"UnknownView", "[\"code\"]", "[\"codes\"]", "did you mean \"code\""},
        Refusal{"DoubledView", "[\"code\"]", "[\"code\", \"code\"]", "named twice"},
        Refusal{"NoRegex", "regex = '''dump\\(''', ", "", "without a regex"},
        Refusal{"CaptureWithoutGroup", "views", "capture = 1, views", "capture = 1, but the regex has 0 group(s)"},
        Refusal{"CaptureNegative", "views", "capture = -1, views", "0 to 15"},
        Refusal{"BannedOutsideRaw", "\"always\"", "\"banned\"", "look at views = [\"raw\"]"},
        Refusal{"SecretWithoutKind", "\"always\"", "\"secret\"", "has no kind"},
        Refusal{"KindOutsideSecret", "why", "kind = \"k\"\nwhy", "only a rule of tier \"secret\""},
        Refusal{"RedactOutsideSecret", "why", "redact = { a = 1 }\nwhy", "only a rule of tier \"secret\""},
        Refusal{"TopLevelKey", "[[rule]]", "version = 1\n[[rule]]", "unknown key \"version\""},
        Refusal{"MisspeltTable", "[[rule]]", "[[rules]]", "did you mean \"rule\"?"},
        Refusal{"SingleTable", "[[rule]]", "[rule]", "expected an array of tables"},
        Refusal{"ExampleWithTextAndParts", "[\"dumb\"]", "[{ text = \"a\", parts = [\"b\"] }]", "either text or parts"},
        Refusal{"ExampleUnknownKey", "[\"dumb\"]", "[{ txt = \"a\" }]", "did you mean \"text\"?"},
        Refusal{
            "HugeRepeat", "[\"dumb\"]", "[{ parts = [{ repeat = \"a\", times = 999999999 }] }]", "a repeated part is"},
        Refusal{"LookAhead", "dump\\(", "dump(?=x)", "no look-around"},
        Refusal{"HyperscanOnly", "dump\\(", "dump\\z\\(", "Hyperscan refuses the regex"},
        Refusal{"EmptyMatch", "dump\\(", "(dump)*", "matches the empty text"}),
    [](const auto& refusal) { return refusal.param.name; });

// An extra pack may give advice; it then stands outside the tiers.
TEST(RuleLoader, TakesANoteWithoutATier) {
  const auto rules = parse_rules(rule_with("tier = \"always\"", "severity = \"note\""), "x.toml");
  ASSERT_TRUE(rules.has_value()) << rules.error().to_string();
  EXPECT_EQ(rules->rules()[0].severity, Severity::note);
}

TEST(RuleLoader, DigestChangesWithWhatDecidesAMatchAndNotWithWords) {
  const auto digest = [](const std::string& text) {
    const auto rules = parse_rules(text, "x.toml");
    EXPECT_TRUE(rules.has_value()) << rules.error().to_string();
    return rules ? rules->digest() : std::string();
  };
  const std::string plain = digest(std::string(kRule));
  EXPECT_EQ(digest(rule_with("title = \"t\"", "title = \"other\"")), plain);
  EXPECT_EQ(digest(rule_with("\"dump(1)\"", "\"dump(2)\"")), plain);
  std::set<std::string> digests = {plain, digest(rule_with("always.dump", "always.dumq")),
      digest(rule_with("tier = \"always\"", "tier = \"host\"")), digest(rule_with("'''dump", "'''dumq")),
      digest(rule_with("[\"code\"]", "[\"raw\"]")), digest(rule_with("why", "paths = [\"a\"]\nwhy")),
      digest(fmt::format("{}{}", kFact, kRule)),
      digest(fmt::format("{}{}", kFact, rule_with("why", "needs = [\"fact.spawns\"]\nwhy")))};
  EXPECT_EQ(digests.size(), 8u);
}

TEST(RuleLoader, SurvivesHostileText) {
  for (const std::string_view text : {"\xff\xfe", "a = \"\\u0000\"", "[[rule]]\nid = 1979-05-27\n",
           "[[rule]]\n[[rule]]\n", "rule = 5", "[[rule]]\npatterns = [{ regex = \"\\u0000\", views = [\"raw\"] }]"}) {
    EXPECT_FALSE(parse_rules(text, "x.toml").has_value()) << text;
  }
}

// schema.md and the loader name the same keys, in both directions.
TEST(RuleSchema, DocumentsEveryKeyAndOnlyThose) {
  const auto page = read_file(std::string(GUARD_SOURCE_DIR) + "/rules/schema.md", 1u << 20);
  ASSERT_TRUE(page.has_value());
  std::map<std::string, std::set<std::string>> documented;
  const std::regex row("\\n\\| `([a-z]+)\\.([a-z_]+)` \\|");
  for (std::sregex_iterator at(page->begin(), page->end(), row), end; at != end; ++at)
    documented[(*at)[1]].insert((*at)[2]);

  // One text per table, with a key in it that only this test uses: what the loader does not complain of, it knows.
  const std::map<std::string, std::string> frames = {
      {"rule", "[[rule]]\n{} = 1\n"},
      {"fact", "[[fact]]\n{} = 1\n"},
      {"pattern", "[[fact]]\npatterns = [ {{ {} = 1 }} ]\n"},
      {"example", "[[fact]]\nmatch = [ {{ {} = 1 }} ]\n"},
      {"part", "[[fact]]\nmatch = [ {{ parts = [ {{ {} = 1 }} ] }} ]\n"},
  };
  // Every word of the loader's source that could be a key.
  const auto source = read_file(std::string(GUARD_SOURCE_DIR) + "/rules/rule_loader.cc", 1u << 20);
  ASSERT_TRUE(source.has_value());
  std::set<std::string> words;
  const std::regex taken("\\{\"([a-z_]+)\", ");
  for (std::sregex_iterator at(source->begin(), source->end(), taken), end; at != end; ++at) words.insert((*at)[1]);
  ASSERT_GT(words.size(), 20u);

  for (const auto& [table, frame] : frames) {
    ASSERT_FALSE(documented[table].empty()) << table;
    for (const auto& [other, keys] : documented) words.insert(keys.begin(), keys.end());
    for (const std::string& word : words) {
      const auto rules = parse_rules(fmt::format(fmt::runtime(frame), word), "x.toml");
      ASSERT_FALSE(rules.has_value());
      const bool known = rules.error().message().find(fmt::format("unknown key \"{}\"", word)) == std::string::npos;
      EXPECT_EQ(known, documented[table].count(word) == 1) << table << '.' << word;
    }
  }
}

}  // namespace
}  // namespace guard
