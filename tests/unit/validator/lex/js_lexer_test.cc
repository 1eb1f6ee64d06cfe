#include "validator/lex/js_lexer.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace guard {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

LexedText lexed(std::string_view text, Markup markup = Markup::no) {
  LexedText out;
  lex(text, markup, out);
  return out;
}

std::vector<std::string> texts(std::string_view text, const std::vector<Token>& tokens) {
  std::vector<std::string> all;
  for (const Token& token : tokens) all.emplace_back(text.substr(token.begin, token.end - token.begin));
  return all;
}

std::vector<std::string> main_texts(std::string_view text, Markup markup = Markup::no) {
  return texts(text, lexed(text, markup).tokens);
}

std::vector<std::string> other_texts(std::string_view text, Markup markup = Markup::no) {
  return texts(text, lexed(text, markup).alternative_tokens);
}

std::vector<std::string> of_kind(std::string_view text, TokenKind kind, Markup markup = Markup::no) {
  std::vector<std::string> all;
  for (const Token& token : lexed(text, markup).tokens) {
    if (token.kind == kind) all.emplace_back(text.substr(token.begin, token.end - token.begin));
  }
  return all;
}

TEST(JsLexer, LeavesCommentsOut) {
  EXPECT_THAT(main_texts("a /* b */ c // d\ne"), ElementsAre("a", "c", "e"));
  EXPECT_THAT(main_texts("#!/usr/bin/env bun\na"), ElementsAre("a"));
}

TEST(JsLexer, EndsLineCommentsAtEveryLineEndOfJavaScript) {
  EXPECT_THAT(main_texts("// a\rb"), ElementsAre("b"));
  EXPECT_THAT(main_texts("// a\r\nb"), ElementsAre("b"));
  EXPECT_THAT(main_texts("// a\xe2\x80\xa8"
                         "b"),
      ElementsAre("b"));
  EXPECT_THAT(main_texts("// a\xe2\x80\xa9"
                         "b"),
      ElementsAre("b"));
}

TEST(JsLexer, SeesLineEndsInsideBlockComments) {
  for (const char* line_end : {"\n", "\r", "\xe2\x80\xa8", "\xe2\x80\xa9"}) {
    const std::string text = std::string("a /* ") + line_end + " */ b";
    EXPECT_TRUE(lexed(text).tokens.at(1).line_before);
  }
  EXPECT_FALSE(lexed("a /* */ b\n").tokens.at(1).line_before);
}

TEST(JsLexer, SkipsEveryWhiteSpaceOfJavaScript) {
  for (const char* blank :
      {"\t", "\v", "\f", " ", "\xc2\xa0", "\xef\xbb\xbf", "\xe1\x9a\x80", "\xe2\x80\x80", "\xe2\x80\x8a",
          "\xe2\x80\xaf", "\xe2\x81\x9f", "\xe3\x80\x80", "\xe2\x80\xa8", "\xe2\x80\xa9", "\r", "\n"}) {
    EXPECT_THAT(main_texts(std::string("a") + blank + "." + blank + "b"), ElementsAre("a", ".", "b"));
  }
}

TEST(JsLexer, KeepsLettersOfEveryScriptInNames) {
  EXPECT_THAT(main_texts("caf\xc3\xa9 = \xe5\x90\x8d;"), ElementsAre("caf\xc3\xa9", "=", "\xe5\x90\x8d", ";"));
}

TEST(JsLexer, ReadsStringsWithEscapesAndContinuations) {
  EXPECT_THAT(main_texts(R"('a\'b' "c\"d")"), ElementsAre(R"('a\'b')", R"("c\"d")"));
  EXPECT_THAT(main_texts("'a\\\nb' c"), ElementsAre("'a\\\nb'", "c"));
  EXPECT_THAT(main_texts("'a\\\r\nb' c"), ElementsAre("'a\\\r\nb'", "c"));
  // Since ES2019 a line separator may stand in a string.
  EXPECT_THAT(of_kind("'a\xe2\x80\xa8//b' + c", TokenKind::string), ElementsAre("'a\xe2\x80\xa8//b'"));
}

TEST(JsLexer, HidesNothingBehindAnUnclosedQuote) {
  EXPECT_THAT(main_texts("it's code\nrun()"), ElementsAre("it", "'", "s", "code", "run", "(", ")"));
}

TEST(JsLexer, HidesNothingBehindAnUnclosedComment) {
  EXPECT_THAT(main_texts("/* a b"), ElementsAre("/", "*", "a", "b"));
}

TEST(JsLexer, HidesNothingBehindAnUnclosedTemplate) {
  EXPECT_THAT(other_texts("x = ` a; run()"), Contains("run"));
  EXPECT_THAT(other_texts("`${`${ run()"), Contains("run"));
}

TEST(JsLexer, ReadsNestedTemplates) {
  EXPECT_THAT(main_texts("`a${b + `c${d}e` + {f: 1}.f}g`"),
      ElementsAre("`", "a", "${", "b", "+", "`", "c", "${", "d", "}", "e", "`", "+", "{", "f", ":", "1", "}", ".", "f",
          "}", "g", "`"));
}

TEST(JsLexer, TakesDollarAndBackquoteInTemplatesLiterally) {
  EXPECT_THAT(of_kind("`a$b\\`c\\${d}`", TokenKind::template_text), ElementsAre("a$b\\`c\\${d}"));
}

TEST(JsLexer, TellsRegularExpressionsFromDivision) {
  EXPECT_THAT(of_kind("x = /a'b/g;", TokenKind::regex), ElementsAre("/a'b/g"));
  EXPECT_THAT(of_kind("return /[/\"]/.test(s)", TokenKind::regex), ElementsAre("/[/\"]/"));
  EXPECT_THAT(of_kind("a / b / c", TokenKind::regex), IsEmpty());
  EXPECT_THAT(of_kind("a[0] / b / c", TokenKind::regex), IsEmpty());
  EXPECT_THAT(of_kind("x.return / b / c", TokenKind::regex), IsEmpty());
  EXPECT_THAT(of_kind("f(/\\//)", TokenKind::regex), ElementsAre("/\\//"));
}

// `(a) / "/; run() //"` divides by a string; `if (a) /"/; run() //"` does not. Both are followed.
TEST(JsLexer, FollowsBothReadingsOfASlashBehindAParenthesis) {
  const std::string text = "if (a) / \"/; run(); // \"";
  EXPECT_THAT(main_texts(text), Contains("\"/; run(); // \""));
  EXPECT_THAT(other_texts(text), Contains("run"));
}

TEST(JsLexer, FollowsBothReadingsOfASlashBehindABrace) {
  const std::string text = "}\n/'/.x; run() /'/";
  std::vector<std::string> all = main_texts(text);
  const std::vector<std::string> others = other_texts(text);
  EXPECT_THAT(others, Not(IsEmpty()));
  all.insert(all.end(), others.begin(), others.end());
  EXPECT_THAT(all, Contains("run"));
}

// In TypeScript a type may end before a line end, and a regular expression may begin the next line.
TEST(JsLexer, FollowsARegularExpressionOnTheLineBehindAType) {
  const std::string text = "let x: string\n/\"/.test(run()); y = \"\"";
  EXPECT_THAT(other_texts(text), Contains("/\"/"));
}

TEST(JsLexer, FollowsHtmlComments) {
  EXPECT_THAT(main_texts("a <!-- ` \n run() /* ` */"), Not(Contains("run")));
  EXPECT_THAT(other_texts("a <!-- ` \n run() /* ` */"), Contains("run"));
  EXPECT_THAT(other_texts("a\n--> ` \n run() /* ` */"), Contains("run"));
}

TEST(JsLexer, FindsTheWayBackToTheMainReading) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "x = (a + b) / 2 / (c);\n";
  const LexedText out = lexed(text);
  EXPECT_FALSE(out.undecidable);
  EXPECT_LT(out.alternative_tokens.size(), out.tokens.size() * 10);
}

TEST(JsLexer, TakesTextBetweenTagsForText) {
  EXPECT_THAT(of_kind("x = <p>it's // {run('a')} `isn't</p>; y", TokenKind::word, Markup::possible),
      ElementsAre("x", "p", "run", "p", "y"));
  EXPECT_THAT(
      of_kind("x = <p>it's // {run('a')} `isn't</p>; y", TokenKind::string, Markup::possible), ElementsAre("'a'"));
}

TEST(JsLexer, KnowsNoEscapesInAttributes) {
  EXPECT_THAT(of_kind("x = <a t=\"\\\" {...run} b=\"\\\" />;", TokenKind::word, Markup::possible),
      ElementsAre("x", "a", "t", "run", "b"));
}

TEST(JsLexer, ReadsNestedElementsAndFragments) {
  EXPECT_THAT(of_kind("return <><A b={<B/>}>t<C.D x='1'/></A></> / 2;", TokenKind::markup_text, Markup::possible),
      ElementsAre("t"));
}

TEST(JsLexer, FollowsBothReadingsOfTypeParametersAndTags) {
  const std::string generic = "const f = <T,>(x: T) => { run('a') };";
  EXPECT_THAT(of_kind(generic, TokenKind::word, Markup::possible), Contains("run"));
  const std::string tag = "const f = <T>({run('it')})</T>;";
  std::vector<std::string> all = main_texts(tag, Markup::possible);
  EXPECT_THAT(all, Contains("run"));
}

TEST(JsLexer, ComparesInPlainTypeScript) {
  EXPECT_THAT(
      main_texts("a = <string>b; c = 'd'"), ElementsAre("a", "=", "<", "string", ">", "b", ";", "c", "=", "'d'"));
}

TEST(JsLexer, NotesByteOrderMarksBetweenTokens) {
  EXPECT_THAT(lexed("\xef\xbb\xbf"
                    "a")
                  .byte_order_marks,
      IsEmpty());
  EXPECT_THAT(lexed("a.\xef\xbb\xbf"
                    "b")
                  .byte_order_marks,
      ElementsAre(2));
  EXPECT_THAT(lexed("'\xef\xbb\xbf'").byte_order_marks, IsEmpty());
}

TEST(JsLexer, TokensAreInOrderAndInsideTheText) {
  const std::string pieces[] = {
      "'", "\"", "`", "${", "}", "/", "*", "//", "\n", "<", ">", "a", "(", ")", "\\", "\xe2", "\x80"};
  std::uint32_t seed = 1;
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 24; ++i) {
      seed = seed * 1664525 + 1013904223;
      text += pieces[(seed >> 16) % std::size(pieces)];
    }
    for (const Markup markup : {Markup::no, Markup::possible}) {
      const LexedText out = lexed(text, markup);
      std::uint32_t last = 0;
      for (const Token& token : out.tokens) {
        ASSERT_LE(last, token.begin) << text;
        ASSERT_LT(token.begin, token.end) << text;
        ASSERT_LE(token.end, text.size()) << text;
        last = token.end;
      }
      for (const Token& token : out.alternative_tokens) ASSERT_LE(token.end, text.size()) << text;
    }
  }
}

// The reading that turns out to be none may have been right as far as its last doubt.
TEST(JsLexer, KeepsWhatStandsBeforeADoubtInARefusedReading) {
  EXPECT_THAT(other_texts("if (a) /\"/.test(b); act(c); if (d) /\" e/.test(f); g(\"h\")"), Contains("act"));
}

TEST(JsLexer, FollowsMinifiedArithmetic) {
  std::string text;
  for (int i = 0; i < 4000; ++i) text += "a=(b+c)/d*(e-f),g=h(\"x\")/(i-j),k(l?`${m}`:'n')/2;";
  const LexedText out = lexed(text, Markup::possible);
  EXPECT_FALSE(out.undecidable);
  EXPECT_LT(out.steps, 3 * text.size());
}

}  // namespace
}  // namespace guard
