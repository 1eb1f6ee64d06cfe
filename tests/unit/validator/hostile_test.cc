// Texts made to cost much or to break the readers. Work is counted, not timed: twice the text may cost about twice the
// steps.
#include "tests/support/validator/check_support.h"
#include "validator/lex/js_lexer.h"
#include "validator/views/source_view.h"

namespace guard {
namespace {

std::string repeated(const std::string& piece, std::size_t bytes) {
  std::string text;
  text.reserve(bytes + piece.size());
  while (text.size() < bytes) text += piece;
  return text;
}

// Pieces that doubled or nested themselves into quadratic work in some scanner.
const std::vector<std::string>& hostile_pieces() {
  static const std::vector<std::string> kPieces = {"'", "\"", "`", "`${", "\\'", "'\\", "/*", "*/", "//", "/", ")/",
      ")/[", "}/", "(", ")", "[", "]", "{", "}", "<a", "<a>", "<", "<T,>(", "<!--", "\n-->", "a", "a.", "a+", "'a'+",
      "'a',", "[", "['a',", "${", "\\u0061", "\\", "\xe2\x80\xa8", "\xef\xbb\xbf", "\xff", "import {",
      "import a from 'b';", "const a = process;", "const a='b';f(a);", "a=a+a;", "'x'.split('')", "x?.", "x!", "as ",
      "<a b='", "<a>{", "<a>'", "`a`+", "f(", "f(f(", "f('a',", "const {a} = ", "...", "=>", "/a/", "'\n", "$IFS",
      "/./", "/../", "process.env", "(process", "''.concat(", "atob('ZW52')", "/)/", "<b>{`", "a<", "${`", "{'"};
  return kPieces;
}

TEST(Hostile, WorkGrowsWithTheTextAndNotFaster) {
  for (const std::string& piece : hostile_pieces()) {
    for (const char* path : {"a.ts", "a.tsx"}) {
      SourceViews views;
      const std::string small = repeated(piece, 4 * 1024);
      const std::string large = repeated(piece, 16 * 1024);
      views.build(small, path);
      const std::uint64_t few = views.steps();
      views.build(large, path);
      const std::uint64_t many = views.steps();
      EXPECT_LE(many, 6 * few + (1U << 20)) << "piece: " << piece << " in " << path;
      EXPECT_LE(many, 64 * large.size() + (8U << 20)) << "piece: " << piece << " in " << path;
    }
  }
}

TEST(Hostile, AMegabyteOfQuotesIsReadToItsEnd) {
  for (const char* piece : {"'", "\"'`"}) {
    const std::string text = repeated(piece, 1 << 20) + "\n;use(process.env);";
    EXPECT_TRUE(check({{"a.test.tsx", text}}).rejected()) << piece;
  }
}

TEST(Hostile, LongTextsOfOpeningsAreReadToTheirEnd) {
  for (const char* piece :
      {"`${", "/*", ")/[", "<a>", "{[(", "\\u0061", "'a'+", "const a='b';f(a);", "((", "[[", "<!--", "f('a',"}) {
    const std::string text = repeated(piece, 128 * 1024) + "\n;use(process.env);";
    EXPECT_TRUE(check({{"a.test.tsx", text}}).rejected()) << piece;
  }
}

// What is judged at each of many places must not read the whole file at each of them: with the square of these sizes as
// work, each text takes minutes.
TEST(Hostile, AMegabyteOfPlacesToJudgeIsReadToItsEnd) {
  const std::string kept = "let a;" + repeated("a=1;", 1 << 20) + "a=process.env.HOME_PAGE;process.env.HOME_PAGE=a;";
  const std::string asked = "let a=process.env.B;process.env.B=a;function f(){" + repeated("a=a===1;", 1 << 20) + "}";
  const std::string offered = "const b=1;f(" + repeated("process.env.A||", 1 << 20) + "1)";
  const std::string imported = "import{" + repeated("rm,", 1 << 20) + "}from'fs';";
  const std::string levels = "import fs from 'fs';let a=fs.mkdtempSync('x');fs.rmSync(a);" + repeated("f(", 120) +
      repeated("a,", 760) + repeated("x,", 1 << 20) + repeated(")", 60) + ";";
  std::string folders = "import fs from 'fs';";
  for (int i = 0; i < 15000; ++i)
    folders += "const a" + std::to_string(i) + "=fs.mkdtempSync('x');fs.rmSync(a" + std::to_string(i) + ");";
  for (const std::string& text : {kept, asked, offered, imported, levels, folders}) {
    EXPECT_TRUE(check({{"a.test.ts", text + "\n;use(process.env);"}}).rejected()) << text.substr(0, 60);
  }
}

// Whatever stands in front of it, an act at the end of the file is found, or the file is refused as undecidable.
TEST(Hostile, NothingInFrontOfAnActHidesIt) {
  for (const std::string& piece : hostile_pieces()) {
    for (const std::size_t times : {1U, 2U, 3U, 7U}) {
      std::string text;
      for (std::size_t i = 0; i < times; ++i) text += piece;
      text += "\nuse(process.env);\n";
      // What really opens a comment that is closed by nobody, or a template, makes no program; all others must be
      // rejected.
      EXPECT_TRUE(check({{"a.test.tsx", text}}, kDocker).rejected()) << text;
      EXPECT_TRUE(check({{"a.test.ts", text}}, kDocker).rejected()) << text;
    }
  }
}

TEST(Hostile, ConstantsUsedAgainAndAgainDoNotBlowUpTheViews) {
  std::string text = "const a = '" + std::string(4000, 'x') + "';\n";
  for (int i = 0; i < 100000; ++i) text += "f(a);";
  SourceViews views;
  views.build(text, "a.ts");
  EXPECT_LE(views.view(View::strings).size(), 20 * text.size() + (8U << 20));
  EXPECT_TRUE(views.undecidable());
}

// A short text that runs as code stands in a file whose views are longer than its own budget.
TEST(Hostile, CodeInAStringOfALongFileIsReadToItsEnd) {
  const std::string text = repeated("f('some text', other);\n", 1 << 21) + "eval('use(process.env)');";
  SourceViews views;
  views.build(text, "a.ts");
  EXPECT_FALSE(views.undecidable());
  EXPECT_NE(views.view(View::code).find("use(process.env)"), std::string_view::npos);
}

TEST(Hostile, EveryByteAloneAndInPairsIsRead) {
  SourceViews views;
  for (int a = 0; a < 256; ++a) {
    for (int b = 0; b < 256; ++b) {
      const std::string text = {static_cast<char>(a), static_cast<char>(b)};
      views.build(text, "a.tsx");
      for (const View view : {View::code, View::strings}) {
        const TextSpan span = views.original(view, 0, views.view(view).size());
        ASSERT_LE(span.begin, span.end);
        ASSERT_LE(span.end, text.size());
      }
    }
  }
}

}  // namespace
}  // namespace guard
