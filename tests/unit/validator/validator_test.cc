#include "validator/validator.h"

#include <algorithm>

#include "tests/support/validator/check_support.h"
#include "validator/judge/harmless_variables.h"
#include "validator/side_files.h"
#include "validator/snippet.h"

namespace guard {
namespace {

const Finding* find_rule(const Report& report, const std::string& rule) {
  for (const Finding& finding : report.findings) {
    if (finding.rule == rule) return &finding;
  }
  return nullptr;
}

TEST(Validator, SaysHowMuchItLookedAt) {
  const Report report = check({{"a.ts", "abc"}, {"b.ts", "defg"}});
  EXPECT_EQ(report.files, 2U);
  EXPECT_EQ(report.bytes, 7U);
  EXPECT_FALSE(report.rejected());
}

TEST(Validator, LooksAtNoFilesWithoutFinding) {
  const Report report = check({});
  EXPECT_EQ(report.files, 0U);
  EXPECT_FALSE(report.rejected());
}

TEST(Validator, PointsAtTheOriginalLineAndColumn) {
  const std::string text = "// one\r\nconst a = 1;\n  use(process\n    ['e' + 'nv']);\n";
  const Report report = check({{"a.ts", text}});
  const Finding* finding = find_rule(report, "always.env_dump");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->line, 3U);
  EXPECT_EQ(finding->column, 7U);
  EXPECT_EQ(text.substr(finding->begin, finding->end - finding->begin), "process\n    ['e' + 'nv']");
  EXPECT_EQ(finding->excerpt, "  use(process");
  EXPECT_EQ(finding->caret, 6U);
  EXPECT_EQ(finding->caret_width, 7U);
  EXPECT_FALSE(finding->fix.empty());
  EXPECT_TRUE(finding->confirmed);
}

TEST(Validator, ReportsEveryFindingInOrder) {
  const Report report =
      check({{"b.ts", "process.exit(0);\nuse(process.env);\nprocess.exit(1);"}, {"a.ts", "eval('x')"}});
  ASSERT_EQ(report.findings.size(), 4U);
  EXPECT_EQ(report.findings[0].path, "a.ts");
  EXPECT_EQ(report.findings[1].line, 1U);
  EXPECT_EQ(report.findings[2].line, 2U);
  EXPECT_EQ(report.findings[3].line, 3U);
}

TEST(Validator, ReportsOnePlaceOnce) {
  int count = 0;
  for (const Finding& finding : check({{"a.ts", "f('/proc/self/environ')"}}).findings)
    count += finding.rule == "always.proc_file";
  EXPECT_EQ(count, 1);
}

TEST(Validator, CapsTheFindingsOfOneRuleAndSaysSo) {
  std::string text;
  for (int i = 0; i < 500; ++i) text += "process.exit(0);\n";
  const Report report = check({{"a.ts", text}});
  EXPECT_EQ(report.findings.size(), 101U);
  EXPECT_TRUE(report.rejected());
  EXPECT_NE(report.findings.back().message.find("400"), std::string::npos) << report.findings.back().message;
}

TEST(Validator, AppliesTheTiersThatAreAskedFor) {
  const std::string text = "process.exit(0); readFileSync('.env'); use(process.env)";
  EXPECT_EQ(rules_of(text, {true, true}),
      (std::set<std::string>{"always.env_dump", "docker.secret_file", "docker.secret_name", "host.process_exit"}));
  EXPECT_EQ(rules_of(text, {true, false}),
      (std::set<std::string>{"always.env_dump", "docker.secret_file", "docker.secret_name"}));
  EXPECT_EQ(rules_of(text, {false, false}), (std::set<std::string>{"always.env_dump"}));
}

TEST(Validator, KeepsScopedRulesToTheirPaths) {
  const auto scoped = parse_rules(R"toml(
[[rule]]
id = "docker.scoped"
tier = "docker"
title = "t"
why = "w"
fix = "f"
paths = ["sandbox/**"]
patterns = [{ regex = '''\bforbidden\b''', views = ["code"] }]
match = ["forbidden"]
no_match = ["x"]
)toml",
      "scoped.toml");
  ASSERT_TRUE(scoped) << scoped.error().to_string();
  const auto engine = Matcher::create(*scoped);
  ASSERT_TRUE(engine);
  const Validator validator(*scoped, *engine, {});
  EXPECT_TRUE(validator.check({{"sandbox/a/b.ts", "forbidden"}})->rejected());
  EXPECT_FALSE(validator.check({{"src/b.ts", "forbidden"}})->rejected());
}

TEST(Validator, TakesTheConfiguredHarmlessNamesInsteadOfTheShippedOnes) {
  ValidatorOptions options;
  options.harmless_variables = {"REGION"};
  const Validator validator(rules(), matcher(), options);
  EXPECT_FALSE(validator.check({{"a.ts", "console.log(process.env.REGION)"}})->rejected());
  EXPECT_TRUE(validator.check({{"a.ts", "console.log(process.env.NODE_ENV)"}})->rejected());
}

TEST(Validator, CannotBeSwitchedOffFromTheFile) {
  EXPECT_TRUE(
      finds("always.env_dump", "// guard-ignore\n/* eslint-disable */ // nosemgrep\nuse(process.env) // guard: allow"));
}

TEST(Validator, ReadsHalfBrokenCode) {
  EXPECT_TRUE(finds("always.env_dump", "describe('x', () => { it('y', () => { use(process.env"));
  EXPECT_TRUE(finds("always.env_dump", ")}]} use(process.env) {[("));
}

TEST(Validator, FindsCodeFarToTheRight) {
  EXPECT_TRUE(finds("always.env_dump", "const a = 1;" + std::string(5000, ' ') + "use(process.env)"));
  EXPECT_TRUE(finds("always.env_dump", "const a = '" + std::string(200000, 'x') + "'; use(process.env)"));
}

TEST(HarmlessReads, NeedEveryNameToBeHarmless) {
  const std::vector<std::string> harmless = {"CI", "TZ"};
  EXPECT_TRUE(reads_only_harmless("CI", harmless));
  EXPECT_TRUE(reads_only_harmless("CI,TZ:zone=\"\"", harmless));
  EXPECT_TRUE(reads_only_harmless("CI,", harmless));
  EXPECT_FALSE(reads_only_harmless("CI,SECRET", harmless));
  EXPECT_FALSE(reads_only_harmless("CIX", harmless));
  EXPECT_FALSE(reads_only_harmless("[", harmless));
  EXPECT_FALSE(reads_only_harmless("...rest", harmless));
  EXPECT_FALSE(reads_only_harmless("[\"CI\"]:a", harmless));
  EXPECT_FALSE(reads_only_harmless("", harmless));
}

// --- encodings ---

TEST(Encoding, Utf16AndUtf32AreFindings) {
  EXPECT_TRUE(finds("encoding.not_utf8",
      std::string("\xff\xfe"
                  "a\0b\0",
          6)));
  EXPECT_TRUE(finds("encoding.not_utf8", std::string("\xfe\xff\0a\0b", 6)));
  EXPECT_TRUE(finds("encoding.not_utf8", std::string("a\0b\0c\0d\0e\0f\0", 12)));
  EXPECT_TRUE(finds("encoding.not_utf8", std::string("\xff\xfe\0\0a\0\0\0", 8)));
}

TEST(Encoding, NulBytesAreFindingsAndTheFileIsStillRead) {
  const std::set<std::string> found = rules_of(std::string("// \0\nuse(process.env)", 20));
  EXPECT_TRUE(found.count("encoding.nul_byte"));
  EXPECT_TRUE(found.count("always.env_dump"));
}

TEST(Encoding, InvalidUtf8IsAFindingAtItsPlaceAndTheFileIsStillRead) {
  const std::string text = "const a = 'caf\xc3\xa9';\nconst b = '\xff'; use(process.env)";
  const Report report = check({{"a.ts", text}});
  const Finding* finding = find_rule(report, "encoding.invalid_utf8");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->begin, text.find('\xff'));
  EXPECT_EQ(finding->line, 2U);
  EXPECT_NE(find_rule(report, "always.env_dump"), nullptr);
}

TEST(Encoding, BidiControlsAreFindingsEvenInComments) {
  for (const char* control : {"\xe2\x80\xaa", "\xe2\x80\xae", "\xe2\x81\xa6", "\xe2\x81\xa9"}) {
    EXPECT_TRUE(finds("encoding.bidi_control", std::string("/* ") + control + " */"));
  }
  EXPECT_FALSE(finds("encoding.bidi_control", "'\xe2\x80\x8d \xe2\x80\x99 \xe2\x81\xa0 \\u202e'"));
}

TEST(Encoding, AByteOrderMarkInsideCodeIsAFinding) {
  EXPECT_TRUE(finds("encoding.byte_order_mark",
      "a.\xef\xbb\xbf"
      "b"));
  EXPECT_FALSE(finds("encoding.byte_order_mark", "\xef\xbb\xbfimport a from 'b'"));
}

TEST(Encoding, AsciiLettersWrittenAsEscapesInNamesAreFindings) {
  EXPECT_TRUE(finds("encoding.escaped_name", "ev\\u0061l('1')"));
  EXPECT_TRUE(finds("encoding.escaped_name", "process.ex\\u{69}t(0)"));
  EXPECT_FALSE(finds("encoding.escaped_name", "const caf\\u00e9 = '\\u0061'"));
}

TEST(Encoding, LargeFilesAreFindingsAndStillRead) {
  ValidatorOptions options;
  options.file_bytes_max = 1000;
  const Validator validator(rules(), matcher(), options);
  const auto report = validator.check({{"a.ts", std::string(2000, ' ') + "use(process.env)"}});
  ASSERT_TRUE(report);
  EXPECT_NE(find_rule(*report, "encoding.file_too_large"), nullptr);
  EXPECT_NE(find_rule(*report, "always.env_dump"), nullptr);
}

// --- side files ---

TEST(SideFiles, AreFindingsByTheirNamesAlone) {
  for (const char* path : {"bunfig.toml", "sandbox/bunfig.toml", "sandbox/package.json", "sandbox/tsconfig.json",
           "sandbox/tsconfig.test.json", "sandbox/.env", "sandbox/.env.local", "sandbox/.npmrc",
           "sandbox/node_modules/x/index.js", "sandbox/a.wasm", "sandbox/a.node", "sandbox/liba.so",
           "sandbox/liba.so.1", "sandbox/BunFig.TOML", "sandbox/.git/hooks/pre-commit"}) {
    const Report report = check({{path, ""}}, kDocker);
    ASSERT_EQ(report.findings.size(), 1U) << path;
    EXPECT_EQ(report.findings[0].tier, FindingTier::side_file) << path;
    EXPECT_TRUE(report.rejected()) << path;
  }
}

TEST(SideFiles, LeaveTestsAndFixturesAlone) {
  for (const char* path : {"sandbox/a.test.ts", "sandbox/fixtures/data.json", "sandbox/helper.ts", "sandbox/env.ts",
           "sandbox/my-package.json", "sandbox/nodes.ts", "sandbox/also.txt"}) {
    EXPECT_FALSE(side_file(path).has_value()) << path;
  }
}

// --- excerpts ---

TEST(Snippet, CutsLongLinesAroundTheSpan) {
  const std::string line = std::string(1000, 'a') + "HIT" + std::string(1000, 'b');
  const Snippet snippet = make_snippet("first\n" + line + "\nlast", 6 + 1000, 6 + 1003);
  EXPECT_LE(snippet.excerpt.size(), kSnippetBytesMax + 6);
  EXPECT_EQ(snippet.excerpt.substr(snippet.caret, snippet.caret_width), "HIT");
  EXPECT_EQ(snippet.excerpt.substr(0, 3), "...");
}

TEST(Snippet, MakesHostileBytesVisibleAndCountsThem) {
  const std::string text = "a\x1b[31m HIT\xe2\x80\xae";
  const Snippet snippet = make_snippet(text, 7, 10);
  EXPECT_EQ(snippet.excerpt.find('\x1b'), std::string::npos);
  EXPECT_EQ(snippet.excerpt.substr(snippet.caret, snippet.caret_width), "HIT");
}

TEST(Snippet, ShowsTheFirstLineOfALongSpan) {
  const Snippet snippet = make_snippet("one two\nthree", 4, 13);
  EXPECT_EQ(snippet.excerpt, "one two");
  EXPECT_EQ(snippet.excerpt.substr(snippet.caret, snippet.caret_width), "two");
}

TEST(Snippet, HoldsAtTheEdges) {
  EXPECT_EQ(make_snippet("", 0, 0).caret_width, 0U);
  EXPECT_EQ(make_snippet("abc", 3, 3).caret, 3U);
  EXPECT_EQ(make_snippet("abc", 99, 120).excerpt, "abc");
}

}  // namespace
}  // namespace guard
