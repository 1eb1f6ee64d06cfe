#include "nightly/worth/mutants.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "common/file_io.h"
#include "nightly/worth/script_tokens.h"
#include "tests/support/corpus.h"

namespace guard::nightly {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::UnorderedElementsAre;

constexpr std::size_t kAll = 1000;

std::vector<std::string> versions(std::string_view text, std::string_view path = "src/a.ts") {
  std::vector<std::string> all;
  for (const auto& mutant : mutants_of(path, text, kAll)) all.push_back(mutated(text, mutant));
  return all;
}

TEST(Mutants, TurnEachOperatorIntoItsOpposite) {
  EXPECT_THAT(versions("x = a + b;"), ElementsAre("x = a - b;"));
  EXPECT_THAT(versions("x = a-b;"), ElementsAre("x = a+b;"));
  EXPECT_THAT(versions("x = a * b;"), ElementsAre("x = a / b;"));
  EXPECT_THAT(versions("x = a / b;"), ElementsAre("x = a * b;"));
  EXPECT_THAT(versions("x = a % b;"), ElementsAre("x = a * b;"));
  EXPECT_THAT(versions("x += a;"), ElementsAre("x -= a;"));
  EXPECT_THAT(versions("x++;"), ElementsAre("x--;"));
  EXPECT_THAT(versions("x = a < b;"), ElementsAre("x = a >= b;"));
  EXPECT_THAT(versions("x = a <= b;"), ElementsAre("x = a > b;"));
  EXPECT_THAT(versions("x = a > b;"), ElementsAre("x = a <= b;"));
  EXPECT_THAT(versions("x = a >= b;"), ElementsAre("x = a < b;"));
  EXPECT_THAT(versions("x = a === b;"), ElementsAre("x = a !== b;"));
  EXPECT_THAT(versions("x = a != b;"), ElementsAre("x = a == b;"));
  EXPECT_THAT(versions("x = a && b;"), ElementsAre("x = a || b;"));
  EXPECT_THAT(versions("x = a || b;"), ElementsAre("x = a && b;"));
  EXPECT_THAT(versions("x = a ?? b;"), ElementsAre("x = a && b;"));
}

TEST(Mutants, LeaveAloneWhatOnlyLooksLikeAnOperator) {
  EXPECT_THAT(versions("const x: Array<number> = f<string>(y);"), IsEmpty());
  EXPECT_THAT(versions("let x: A | B & C = -y;"), IsEmpty());
  EXPECT_THAT(versions("x = y! as Z;"), IsEmpty());
  EXPECT_THAT(versions("function* f() { yield* g(); }"), IsEmpty());
  EXPECT_THAT(versions("x = a << b; y = a >> b; z = a >>> b;"), IsEmpty());
  EXPECT_THAT(versions("x = <div>a + b</div>;", "src/a.tsx"), IsEmpty());
  EXPECT_THAT(versions("x = a */b/.source;"), IsEmpty());
  EXPECT_THAT(versions("x = /a+b/.source;"), IsEmpty());
}

TEST(Mutants, ForceAndNegateConditions) {
  EXPECT_THAT(versions("if (a) b();"), UnorderedElementsAre("if (false) b();", "if (true) b();", "if (!(a)) b();"));
  EXPECT_THAT(versions("while (a.b(c)) d();"), ElementsAre("while (false) d();"));
  EXPECT_THAT(versions("if (!a) b();"),
      UnorderedElementsAre("if (false) b();", "if (true) b();", "if (!(!a)) b();", "if (a) b();"));
  EXPECT_THAT(versions("x.if(a);"), IsEmpty());
}

TEST(Mutants, TakeResultsAway) {
  EXPECT_THAT(versions("function f() { return x; }"), ElementsAre("function f() { return undefined; }"));
  EXPECT_THAT(versions("function f() { return { a, b } }"), ElementsAre("function f() { return undefined }"));
  EXPECT_THAT(
      versions("function f() {\n  return x\n    .y(z)\n}\n"), ElementsAre("function f() {\n  return undefined\n}\n"));
  EXPECT_THAT(versions("const f = (x) => g(x);"), ElementsAre("const f = (x) => undefined;"));
  EXPECT_THAT(versions("f((x) => x.y, z);"), ElementsAre("f((x) => undefined, z);"));
  EXPECT_THAT(versions("const f = a ? (x) => x : y;"), ElementsAre("const f = a ? (x) => undefined : y;"));
  EXPECT_THAT(versions("const f = (x) => x\nconst g = h\n"), ElementsAre("const f = (x) => undefined\nconst g = h\n"));
  EXPECT_THAT(versions("function f() { return; }"), IsEmpty());
  EXPECT_THAT(versions("function f() { return undefined; }"), IsEmpty());
  EXPECT_THAT(versions("x.return(y);"), IsEmpty());
}

TEST(Mutants, ChangeLiterals) {
  EXPECT_THAT(versions("x = 5;"), ElementsAre("x = 6;"));
  EXPECT_THAT(versions("x = 199;"), ElementsAre("x = 200;"));
  EXPECT_THAT(versions("x = 99.5;"), ElementsAre("x = 100.5;"));
  EXPECT_THAT(versions("x = 9n;"), ElementsAre("x = 10n;"));
  EXPECT_THAT(versions("x = 0x1f;"), IsEmpty());
  EXPECT_THAT(versions("x = true;"), ElementsAre("x = false;"));
  EXPECT_THAT(versions("x = y ? true : z;"), ElementsAre("x = y ? false : z;"));
  EXPECT_THAT(versions("x = { true: y };"), IsEmpty());
  EXPECT_THAT(versions("x = \"abc\";"), ElementsAre("x = \"\";"));
  EXPECT_THAT(versions("x = 'abc';"), ElementsAre("x = '';"));
  EXPECT_THAT(versions("x = `abc`;"), ElementsAre("x = ``;"));
  EXPECT_THAT(versions("x = \"\";"), IsEmpty());
}

TEST(Mutants, LeaveCommentsTypesAndImportsAlone) {
  EXPECT_THAT(versions("// if (a) return 5;\n/* x + 1 */"), IsEmpty());
  EXPECT_THAT(
      versions(
          "import { a } from \"./b\";\nimport \"./c\";\nimport type { D } from './d';\nconst e = require(\"./e\");\n"),
      IsEmpty());
  EXPECT_THAT(
      versions(
          "export { a as b } from \"./c\";\nexport * from \"./d\";\nexport type { E } from \"./e\";\nexport { f };\n"),
      IsEmpty());
  EXPECT_THAT(versions("import data from \"./d.json\" with { type: \"json\" };"), IsEmpty());
  EXPECT_THAT(versions("interface A { b: 1; c(): true; d: \"e\" }"), IsEmpty());
  EXPECT_THAT(versions("export type A<T> =\n  | \"a\"\n  | 2\n  | (() => true);\n"), IsEmpty());
  EXPECT_THAT(versions("type A = { b: 1 }\nx = 1"), ElementsAre("type A = { b: 1 }\nx = 2"));
  EXPECT_THAT(versions("declare const a: 5;\ndeclare module \"x\" { const b: 6; }\nx = 1;"),
      ElementsAre("declare const a: 5;\ndeclare module \"x\" { const b: 6; }\nx = 2;"));
  EXPECT_THAT(versions("\"use strict\";"), IsEmpty());
}

TEST(Mutants, AreNotMadeOfWhatIsNoScript) {
  EXPECT_THAT(versions("{\"a\": 5}", "src/a.json"), IsEmpty());
  EXPECT_THAT(versions("export const a = 5;", "src/a.d.ts"), IsEmpty());
  EXPECT_THAT(versions("", "src/a.ts"), IsEmpty());
}

TEST(Mutants, DoNotLoseAComment) {
  EXPECT_THAT(versions("function f() { return a /* why */ (b); }"), IsEmpty());
  EXPECT_THAT(versions("if (a /* why */ (b)) c();"), IsEmpty());
}

TEST(Mutants, TellNothingOfTheTextsOfAScript) {
  for (const auto& mutant : mutants_of("src/a.ts", "if (key === 'hunter2') return 'hunter2' + `hunter2`;", kAll))
    EXPECT_THAT(mutant.what, Not(::testing::HasSubstr("hunter2")));
}

TEST(Mutants, SayWhichLineAndWhat) {
  const auto mutants = mutants_of("src/a.ts", "// a\r\n\rx =\n  a < b;", kAll);
  ASSERT_EQ(mutants.size(), 1u);
  EXPECT_EQ(mutants[0].line, 4u);
  EXPECT_EQ(mutants[0].what, "`<` became `>=`");
}

// The few that are taken must not all be of the first function, or of one kind.
TEST(Mutants, AreSpreadOverTheScriptAndOverKinds) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x = a + b;\n";
  for (int i = 0; i < 3; ++i) text += "y = true;\n";
  const auto mutants = mutants_of("src/a.ts", text, 6);
  ASSERT_EQ(mutants.size(), 6u);
  std::set<std::uint32_t> lines;
  for (const auto& mutant : mutants) lines.insert(mutant.line);
  EXPECT_THAT(lines, UnorderedElementsAre(1u, 51u, 26u, 101u, 102u, 103u));
}

TEST(Mutants, BeginWithTheLinesThatAreKnownToRun) {
  std::string text;
  for (int i = 0; i < 100; ++i) text += "x = a + b;\n";
  const auto mutants = mutants_of("src/a.ts", text, 3, {{70, true}, {71, true}});
  ASSERT_EQ(mutants.size(), 3u);
  EXPECT_EQ(mutants[0].line, 70u);
  EXPECT_EQ(mutants[1].line, 71u);
  EXPECT_EQ(mutants[2].line, 1u);
}

// --- laws, over all scripts of the examples and of the samples that honest and hostile people wrote, and over texts
// that no one wrote

std::vector<std::pair<std::string, std::string>> samples() {
  std::vector<std::pair<std::string, std::string>> all;
  for (const char* folder : {"/examples", "/tests/cases"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(std::string(GUARD_SOURCE_DIR) + folder)) {
      const std::string path = entry.path().string();
      if (!entry.is_regular_file() || (!path.ends_with(".ts") && !path.ends_with(".js") && !path.ends_with(".tsx")))
        continue;
      if (auto text = read_file(path, 1u << 20)) all.emplace_back(path, std::move(*text));
    }
  }
  for (testing::CorpusSample& sample : testing::whole_corpus())
    all.emplace_back(std::move(sample.path), std::move(sample.text));
  return all;
}

// What stands between tokens: comments, and blanks.
std::string comments_of(std::string_view path, std::string_view text) {
  const ScriptTokens script(path, text);
  std::string comments;
  std::size_t at = 0;
  for (std::size_t i = 0; i <= script.size(); ++i) {
    const std::size_t end = i < script.size() ? script.token(i).begin : text.size();
    for (; at < end;) {
      bool line_end = false;
      const std::size_t blank = blank_length(text, at, line_end);
      if (blank == 0) comments += text[at];
      at += std::max<std::size_t>(blank, 1);
    }
    if (i < script.size()) at = script.token(i).end;
  }
  return comments;
}

TEST(Mutants, DifferInOnePlaceAndKeepAllComments) {
  const auto all = samples();
  ASSERT_GT(all.size(), 20u);
  std::size_t count = 0;
  for (const auto& [path, text] : all) {
    const std::string comments = comments_of(path, text);
    for (const auto& mutant : mutants_of(path, text, 40)) {
      const std::string changed = mutated(text, mutant);
      ++count;
      ASSERT_NE(changed, text) << path;
      ASSERT_LT(mutant.begin, mutant.end);
      ASSERT_LE(mutant.end, text.size());
      ASSERT_EQ(changed.substr(0, mutant.begin), text.substr(0, mutant.begin));
      ASSERT_EQ(changed.substr(mutant.begin, mutant.with.size()), mutant.with);
      ASSERT_EQ(changed.substr(mutant.begin + mutant.with.size()), text.substr(mutant.end));
      EXPECT_EQ(comments_of(path, changed), comments) << path << ":" << mutant.line << " " << mutant.what;
    }
  }
  EXPECT_GT(count, 200u);
}

TEST(Mutants, AreTheSameForTheSameBytes) {
  for (const auto& [path, text] : samples()) {
    const auto once = mutants_of(path, text, 20);
    const auto again = mutants_of(path, text, 20);
    ASSERT_EQ(once.size(), again.size());
    std::set<std::string> different;
    for (std::size_t i = 0; i < once.size(); ++i) {
      EXPECT_EQ(mutated(text, once[i]), mutated(text, again[i]));
      different.insert(mutated(text, once[i]));
    }
    EXPECT_EQ(different.size(), once.size()) << path;
  }
}

TEST(Mutants, AreMadeOfAnyBytes) {
  const std::string whole = "if (a < b) { return `x${y + [1, {c: !d}]}` } // e\n<f g=\"h\">i</f> /* j";
  for (std::size_t i = 0; i <= whole.size(); ++i) {
    for (std::size_t j = i; j <= whole.size(); ++j) {
      const std::string part = whole.substr(i, j - i);
      for (const auto& mutant : mutants_of("src/a.tsx", part, kAll)) ASSERT_LE(mutant.end, part.size());
    }
  }
  for (int byte = 0; byte < 256; ++byte)
    ASSERT_LE(mutants_of("src/a.ts", std::string(3, static_cast<char>(byte)), kAll).size(), 3u) << byte;
}

}  // namespace
}  // namespace guard::nightly
