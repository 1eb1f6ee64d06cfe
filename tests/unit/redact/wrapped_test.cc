// Secrets that a terminal or a pretty-printer broke into lines, and what only looks like them.
#include <gtest/gtest.h>

#include "redact/stream/seam.h"
#include "tests/support/redact/redact_fixture.h"

namespace guard::test {
namespace {

std::string in_lines(std::string_view text, std::size_t width, std::string_view line_end = "\n") {
  std::string out;
  for (; !text.empty(); text.remove_prefix(std::min(width, text.size())))
    out += std::string(text.substr(0, width)) + std::string(line_end);
  return out;
}

TEST(Wrapped, KeyThatATerminalBroke) {
  const std::string key = anthropic_key();
  for (const std::string& line_end : {std::string("\n"), std::string("\r\n"), std::string("\n    ")}) {
    EXPECT_EQ(redacted("2024-05-01 the request failed, key " + key.substr(0, 53) + line_end + key.substr(53) +
                  " was refused\n"),
        "2024-05-01 the request failed, key [REDACTED:anthropic] was refused\n");
  }
  EXPECT_EQ(redacted(in_lines("x " + key, 42)), "x [REDACTED:anthropic]\n");
  EXPECT_EQ(redacted("\x1b[31m" + std::string(30, '.') + key.substr(0, 50) + "\x1b[0m\n\x1b[31m" + key.substr(50) +
                "\x1b[0m\n"),
      "\x1b[31m" + std::string(30, '.') + "[REDACTED:anthropic]\x1b[0m\x1b[31m\x1b[0m\n");
}

// It may be the first of a block.
TEST(Wrapped, ALineThatWaitsForItsEndIsHiddenWhereTheStreamIsCut) {
  constexpr std::size_t kWidthMin = 40;
  for (std::size_t size = kWidthMin - 3; size < kWidthMin + 3; ++size) {
    for (const std::string& end : {std::string("\r"), std::string("=\r"), std::string("==\r")}) {
      const std::string line = random_text(size) + end;
      const bool hidden = line.size() >= kWidthMin;
      EXPECT_EQ(stream(shipped_kinds(), "x\n" + line, {}, Ending::cut), "x\n" + (hidden ? "[REDACTED:base64]" : line))
          << size << end.size();
    }
  }
}

// From where the first line holds enough of the key.
TEST(Wrapped, KeysAtAnyWidth) {
  for (const std::string& key : {anthropic_key(), openai_key()}) {
    for (std::size_t width = 30; width <= 100; ++width) {
      for (const char* line_end : {"\n", "\r\n", "\n    "}) {
        std::string broken;
        for (std::size_t at = 0; at < key.size(); at += width)
          broken += (at > 0 ? line_end : "") + key.substr(at, width);
        const std::string out = redact_text(shipped_kinds(), "it said\n" + broken + "\nno more\n").value_or(key);
        EXPECT_FALSE(shows(out, key)) << width << ": " << out;
        EXPECT_TRUE(out.ends_with("\nno more\n")) << out;
      }
    }
  }
  const std::string key = anthropic_key();
  EXPECT_EQ(redacted("key:\n" + in_lines(key.substr(0, 100), 20) + "ok\n"), "key:\n[REDACTED:anthropic]\nok\n");
}

TEST(Wrapped, WhatFollowsAWholeKeyStays) {
  const std::string line = "the key of this request is not valid: " + openai_key() + "\n";
  const std::string hidden = "the key of this request is not valid: [REDACTED:openai]\n";
  for (const char* next :
      {"done in 5s\n", "2024-05-01T12:00:03Z INFO\n", "getElementById(x)\n", "version1\n", "\n", "  at x.ts:3\n"}) {
    EXPECT_EQ(redacted(line + next), hidden + next);
  }
}

TEST(Wrapped, Base64InLines) {
  for (const std::size_t width : {60u, 64u, 76u}) {
    const std::string text = random_text(width * 3 + 21, 8);
    EXPECT_EQ(redacted("data:\n" + in_lines(text + "==", width) + "end of data\n"),
        "data:\n[REDACTED:base64]\nend of data\n");
    EXPECT_EQ(redacted("data:\r\n" + in_lines(text, width, "\r\n") + "\r\n"), "data:\r\n[REDACTED:base64]\r\n\r\n");
  }
}

TEST(Wrapped, NoBase64InLines) {
  std::string text = "two lines\n" + random_text(76, 1) + "\n" + random_text(76, 2) + "\nthat is all\n";
  EXPECT_EQ(redacted(text), text);
  text.clear();
  for (unsigned i = 0; i < 6; ++i) text += hex_text(64, i) + "\n";
  EXPECT_EQ(redacted(text), text);
  text = pem("CERTIFICATE", "\n", "", 6) + "\n" + pem("PGP MESSAGE", "\n", "", 6) + "\n";
  EXPECT_EQ(redacted(text), text);
  text.clear();
  for (unsigned i = 0; i < 4; ++i) text += random_text(50 + i, i) + "\n";
  EXPECT_EQ(redacted(text), text);
}

// What stands behind a header is public or was hidden with it; where a value hid the header, the next reader sees a
// marker.
TEST(Wrapped, TheNextReaderSeesAnArmourWhereAHeaderWasHidden) {
  const std::string body = in_lines(random_text(192, 5), 64);
  for (const std::string header :
      {"-----BEGIN -----", "\"-----BEGIN CERTIFICATE-----", "\"m\x1b]\x1b\\-----BEGIN -----"}) {
    const std::string once = redacted(
        "TELEGRAM_"
        "BOT_TOKEN=" +
        header + "\n" + body);
    EXPECT_TRUE(once.ends_with(body)) << once;
    EXPECT_EQ(redacted(once), once);
  }
}

TEST(Wrapped, WhatReadsAsWords) {
  for (const char* text : {"", "2024-05-01T12:00:03Z", "getElementById", "XMLHttpRequest", "production", "12345678",
           "version10", "v1.2.3", "FAILED", "12ms", "node_modules/foo-bar.ts", "a", "OK"}) {
    EXPECT_TRUE(reads_as_words(text)) << text;
  }
  for (const std::string& text :
      {random_text(12, 3), std::string("a1B2c3"), std::string("7xKq"), std::string("qWeRtZuI")}) {
    EXPECT_FALSE(reads_as_words(text)) << text;
  }
}

}  // namespace
}  // namespace guard::test
