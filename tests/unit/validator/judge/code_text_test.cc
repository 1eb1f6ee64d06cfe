#include "validator/judge/code_text.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

TEST(CodeText, KnowsNamesAndTheirPlaces) {
  const CodeText code("let a=b.a;f(ab,a\xc3\xa9)");
  EXPECT_EQ(code.names(), (std::vector<std::string_view>{"let", "a", "b", "a", "f", "ab", "a\xc3\xa9"}));
  EXPECT_EQ(code.places_of("a"), (std::vector<std::size_t>{4, 8}));
  EXPECT_TRUE(code.places_of("c").empty());
  EXPECT_EQ(code.keyword_before(4), "let");
  EXPECT_EQ(code.keyword_before(8), "");
  EXPECT_EQ(code.name_at(10), "f");
  EXPECT_EQ(code.chain_before(9), "b.a");
}

TEST(CodeText, PairsBrackets) {
  const CodeText code("a([{b}],c)");
  EXPECT_EQ(code.partner(1), 9U);
  EXPECT_EQ(code.partner(9), 1U);
  EXPECT_EQ(code.enclosing(4), 3U);
  EXPECT_EQ(code.enclosing(8), 1U);
  EXPECT_EQ(code.enclosing_brace(4), 3U);
  EXPECT_EQ(code.enclosing_brace(8), CodeText::kNowhere);
  EXPECT_EQ(code.enclosing(0), CodeText::kNowhere);
}

// Whatever is torn has no partner, and is no reason to stop.
TEST(CodeText, ReadsTornTexts) {
  const CodeText code(")}a({");
  EXPECT_EQ(code.partner(0), CodeText::kNowhere);
  EXPECT_EQ(code.partner(3), CodeText::kNowhere);
  EXPECT_EQ(code.enclosing(5), 4U);
  EXPECT_EQ(CodeText("").enclosing(0), CodeText::kNowhere);
}

TEST(CodeText, TellsBracesApart) {
  using Brace = CodeText::Brace;
  for (const auto& [text, kind] :
      std::initializer_list<std::pair<std::string, Brace>>{{"f(){", Brace::block}, {"()=>{", Brace::block},
          {"if(a){", Brace::block}, {"try{", Brace::block}, {"f():Promise<string>{", Brace::block}, {"{", Brace::block},
          {"a;{", Brace::block}, {"class A{", Brace::class_body}, {"class A extends f(){", Brace::class_body},
          {"a={", Brace::other}, {"f({", Brace::other}, {"const{", Brace::other}, {"let a=class{", Brace::other}}) {
    EXPECT_EQ(CodeText(text).kind_of(text.size() - 1), kind) << text;
  }
}

TEST(CodeText, TellsWhatIsGivenFromWhatIsAsked) {
  EXPECT_TRUE(assigns("=a"));
  for (const char* rest : {"==a", "===a", "=>a", "+=a", ";"}) EXPECT_FALSE(assigns(rest)) << rest;
  for (const char* rest : {"===a", "!=a", "&&a", "?a:b"}) EXPECT_TRUE(is_asked(rest)) << rest;
  for (const char* rest : {"&&=a", "?.a", "??a", "=a", ""}) EXPECT_FALSE(is_asked(rest)) << rest;
}

}  // namespace
}  // namespace guard
