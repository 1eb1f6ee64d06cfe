#include "common/text/toml_file.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

TEST(TomlFile, KeepsValuesKindsAndPlaces) {
  const auto parsed = parse_toml("b = \"x\"\n[t]\nn = 3\nlist = [1, true, 2.5]\nday = 2030-12-31\n", "f.toml");
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  const TomlValue* text = parsed->find("b");
  ASSERT_NE(text, nullptr);
  EXPECT_EQ(text->text, "x");
  EXPECT_EQ(text->line, 1u);
  const TomlValue* table = parsed->find("t");
  ASSERT_NE(table, nullptr);
  EXPECT_EQ(table->find("n")->integer, 3);
  EXPECT_EQ(table->find("n")->line, 3u);
  ASSERT_EQ(table->find("list")->items.size(), 3u);
  EXPECT_EQ(table->find("list")->items[1].boolean, true);
  EXPECT_EQ(table->find("day")->text, "2030-12-31");
  EXPECT_EQ(parsed->find("absent"), nullptr);
}

TEST(TomlFile, MembersKeepTheOrderOfTheFile) {
  const auto parsed = parse_toml("z = 1\na = 2\nm = 3\n", "f.toml");
  ASSERT_TRUE(parsed);
  EXPECT_EQ(parsed->members[0].key, "z");
  EXPECT_EQ(parsed->members[1].key, "a");
  EXPECT_EQ(parsed->members[2].key, "m");
}

TEST(TomlFile, FaultsNameTheirPlace) {
  const auto broken = parse_toml("ok = 1\nbroken = = 2\n", "f.toml");
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().code(), ErrorCode::config_invalid);
  EXPECT_NE(broken.error().message().find("f.toml:2:"), std::string::npos) << broken.error().message();
  EXPECT_FALSE(parse_toml(std::string_view("a = \"\0\"", 7), "f.toml"));
  EXPECT_FALSE(parse_toml("a = \"\xff\"", "f.toml"));
}

std::string repeated(std::string_view piece, std::size_t times) {
  std::string text;
  for (std::size_t i = 0; i < times; ++i) text += piece;
  return text;
}

// Every way to nest: toml++ recurses, and so does what reads its tables.
TEST(TomlFile, DeepNestingIsAnErrorWithItsPlaceAndNoCrash) {
  for (const std::size_t times : {40u, 20'000u, 100'000u}) {
    for (const std::string& text : {"a" + repeated(".a", times) + " = 1", "[a" + repeated(".a", times) + "]",
             "[[a" + repeated(".a", times) + "]]", "a" + repeated(" . \"x\"", times) + " = 1",
             "'a'" + repeated(".'a'", times) + " = 1", "a = " + repeated("[", times) + repeated("]", times),
             "a = " + repeated("[", times), "a = " + repeated("{a = ", times) + "1" + repeated("}", times),
             "a = { a" + repeated(".a", times) + " = 1 }", "a = [" + repeated("{b = [", times),
             "a = [\n" + repeated("[\n", times)}) {
      const auto parsed = parse_toml("ok = 1\n" + text + "\n", "f.toml");
      ASSERT_FALSE(parsed) << text.substr(0, 40);
      EXPECT_EQ(parsed.error().code(), ErrorCode::config_invalid);
      EXPECT_EQ(parsed.error().message().rfind("f.toml:", 0), 0u) << parsed.error().message();
      EXPECT_TRUE(parsed.error().message().find("nested more than") != std::string::npos ||
          parsed.error().message().find("parts") != std::string::npos)
          << parsed.error().message();
    }
  }
}

TEST(TomlFile, WhatIsLongAndNotDeepIsRead) {
  const std::string dots = repeated("1.5, ", 1'000);
  const auto parsed = parse_toml("list = [" + dots + "]\nwords = [" + repeated("'a.b.c', ", 1'000) + "]\n" +
          repeated("# . . . .", 100) + "\n" + repeated("[[t.u.v]]\na.b.c = 1.5\nd = { e = 2.5, f.g = 1 }\n", 1'000),
      "f.toml");
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->find("list")->items.size(), 1'000u);
  EXPECT_TRUE(parse_toml("a" + repeated(".a", 30) + " = " + repeated("[", 30) + repeated("]", 30), "f.toml"));
}

// Both end toml++ itself, by assertion or worse.
TEST(TomlFile, BrokenKeysAreErrorsAndNoCrash) {
  for (const char* text : {"[={", "[[ =]]", "[]", "\xc3\x9b = 1\n", "a = { \xc3\x9b = 1 }\n", "[a]\n\xc3\x9b\n"}) {
    const auto parsed = parse_toml(text, "f.toml");
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().code(), ErrorCode::config_invalid);
  }
}

TEST(TomlFile, BracketsInsideValuesAndLettersInsideStringsAreFine) {
  const auto parsed = parse_toml(
      "# \xc3\x9b\na = [\n  [ [1], [2] ],\n  [\n  ],\n]\nb = \"\xc3\x9b\\\" [=\"\nc = "
      "'''\n[=\n'''\n[t.\"\xc3\x9b\"]\nx = 1\n",
      "f.toml");
  ASSERT_TRUE(parsed) << parsed.error().to_string();
  EXPECT_EQ(parsed->find("t")->members.size(), 1u);
}

}  // namespace
}  // namespace guard
