// What splits a secret on its way to a terminal, and what of it stays. That the output does not depend on the cuts is
// part of redacted().
#include "redact/stream/visible_text.h"

#include <gtest/gtest.h>

#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

const std::string kReset = "\x1b[0m";
const std::string kRed = "\x1b[1;38;5;196m";

TEST(VisibleText, SecretIsFoundWhereverAnEscapeSplitsIt) {
  const std::string key = anthropic_key();
  for (const std::string& gap : {kReset, kRed, kReset + kRed, std::string("\x1b[K"), std::string("\x1b(B"),
           std::string("\x1b]8;;https://h/\x1b\\"), std::string("\x1b]0;t\a")}) {
    for (std::size_t at = 1; at < key.size(); at += at < 24 ? 1 : 17) {
      SCOPED_TRACE(testing::PrintToString(gap) + " at " + std::to_string(at));
      const std::string out = redacted("a " + key.substr(0, at) + gap + key.substr(at) + " b\n");
      EXPECT_EQ(out, "a [REDACTED:anthropic]" + gap + " b\n");
    }
  }
}

TEST(VisibleText, InvisibleCharactersInsideASecretGoWithIt) {
  const std::string key = openai_key();
  for (const std::string& gap : {std::string("\xe2\x80\x8b"), std::string("\xc2\xad"), std::string("\xef\xbb\xbf"),
           std::string("\b"), std::string(1, '\0'), std::string("\xe2\x81\xa0\xe2\x80\x8d")}) {
    for (std::size_t at = 1; at < key.size(); at += 7) {
      const std::string out = redacted("a " + key.substr(0, at) + gap + key.substr(at) + " b\n");
      EXPECT_EQ(out, "a [REDACTED:openai] b\n") << testing::PrintToString(gap) << " at " << at;
    }
  }
}

TEST(VisibleText, ColourOfEveryCharacter) {
  std::string painted;
  for (const char c : openai_key()) painted += "\x1b[31m" + std::string(1, c);
  std::string escapes;
  for (std::size_t i = 1; i < openai_key().size(); ++i) escapes += "\x1b[31m";
  EXPECT_EQ(redacted("x " + painted + kReset + "\n"), "x \x1b[31m[REDACTED:openai]" + escapes + kReset + "\n");
}

TEST(VisibleText, KnownValueSplitByAColour) {
  const std::string value = "x9Kx9Lq-" + random_text(32, 71);
  const SecretSource source = source_with({{"TOKEN", value}, {"PASS", "hunter2-pw"}});
  EXPECT_EQ(redacted(source, value.substr(0, 9) + kRed + value.substr(9) + kReset + "\n"),
      "[REDACTED:env:TOKEN]" + kRed + kReset + "\n");
  EXPECT_EQ(redacted(source, "hunt" + kRed + "er2-pw" + kReset + "\n"), "[REDACTED:env:PASS]" + kRed + kReset + "\n");
}

// UTF-16LE is ASCII with a NUL behind each character.
TEST(VisibleText, Utf16) {
  std::string wide;
  for (const char c : anthropic_key()) wide += std::string(1, c) + std::string(1, '\0');
  EXPECT_EQ(redacted(wide), "[REDACTED:anthropic]" + std::string(1, '\0'));
}

TEST(VisibleText, OrdinaryColoursStay) {
  for (const std::string& text : {
           std::string("\x1b[32m\xe2\x9c\x93\x1b[0m keeps the order of keys \x1b[2m[1.03ms]\x1b[0m\n"),
           std::string("task\x1b[0m-sk\x1b[1m-one\n\xf0\x9f\x91\xa8\xe2\x80\x8d\xf0\x9f\x91\xa9 family\n"),
           std::string("\x1b[2Jcleared\x1b[1;1H\x1b]0;title\a\x1b[3"),
           std::string("unfinished \x1b]8;;https://h/"),
       }) {
    EXPECT_EQ(redacted(text), text);
  }
}

// The escape before a line must not make it the end of a word of the line before.
TEST(VisibleText, LinesAreJoinedOnlyWhereASecretIsBroken) {
  const std::string key = random_text(30, 3);
  const std::string begin = "word" + kReset + "\n" + kRed;
  EXPECT_EQ(redacted(begin + "sk" + kReset + "\n-" + key + kReset + "\n"),
      begin + "[REDACTED:openai]" + kReset + kReset + "\n");
  const std::string text = begin + "task" + kReset + "\n-" + key + kReset + "\n";
  EXPECT_EQ(redacted(text), text);
}

TEST(VisibleText, FloodOfEscapesIsBounded) {
  const std::string key = openai_key();
  const std::string flood = repeat("\x1b[31m", 200000);
  const std::string text = key.substr(0, 5) + flood + key.substr(5) + "\n";
  EXPECT_EQ(stream(shipped_kinds(), text, {}), text);
  EXPECT_EQ(stream(shipped_kinds(), text, random_cuts(text.size(), 1)), text);
  const std::string nothing(300000, '\0');
  EXPECT_EQ(stream(shipped_kinds(), nothing, random_cuts(nothing.size(), 2)), nothing);
}

TEST(VisibleText, FarFromTheBeginningOfItsLine) {
  const std::string words = repeat("word ", 2000);
  EXPECT_EQ(stream(shipped_kinds(), words + "sk-" + kRed + random_text(40, 4) + "\n", random_cuts(10060, 3)),
      words + "[REDACTED:openai]" + kRed + "\n");
  EXPECT_EQ(redact_whole(shipped_kinds(), words + "sk-" + kRed + random_text(40, 4) + "\n").value_or(""),
      words + "[REDACTED:openai]" + kRed + "\n");
}

TEST(VisibleText, HalfASecretAtAForcedEnd) {
  EXPECT_EQ(stream(shipped_kinds(), "a sk-" + kRed + "ant-" + random_text(5, 1), {}, Ending::cut).find("ant-"),
      std::string::npos);
  EXPECT_FALSE(
      shows(stream(shipped_kinds(), "a gh" + kRed + "p_" + random_text(9, 1), {}, Ending::cut), random_text(9, 1)));
}

TEST(VisibleText, AGapBehindEveryCharacter) {
  const std::string nul(1, '\0');
  for (const std::size_t size : {101u, 120u, 300u, 600u}) {
    std::string text;
    for (const char c : random_text(size, 12)) text += c + nul;
    EXPECT_EQ(redacted("a" + nul + text + "\n"), "[REDACTED:base64]" + nul + "\n") << size;
  }
}

}  // namespace
}  // namespace guard::test
