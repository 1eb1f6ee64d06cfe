#include "redact/stream/terminal_safety.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "common/output_cap.h"
#include "common/text/text.h"
#include "tests/support/redact/redact_fixture.h"

namespace guard::test {
namespace {

std::string safe_in_pieces(std::string_view text, const std::vector<std::size_t>& cuts) {
  MemorySink sink;
  TerminalSafety safety(sink);
  std::size_t from = 0;
  for (const std::size_t cut : cuts) {
    EXPECT_TRUE(safety.push(text.substr(from, cut - from)).has_value());
    from = cut;
  }
  EXPECT_TRUE(safety.push(text.substr(from)).has_value());
  EXPECT_TRUE(safety.finish().has_value());
  EXPECT_TRUE(sink.finished);
  return sink.text;
}

// The same for every cut, and nothing is left to do a second time.
std::string safe(std::string_view text) {
  const std::string out = safe_in_pieces(text, {});
  EXPECT_EQ(safe_in_pieces(text, every_byte(text.size())), out);
  for (std::size_t cut = 1; cut < text.size(); ++cut) EXPECT_EQ(safe_in_pieces(text, {cut}), out) << "cut at " << cut;
  EXPECT_EQ(safe_in_pieces(out, {}), out) << "not idempotent";
  EXPECT_TRUE(is_utf8(out));
  return out;
}

void kept(std::string_view text) { EXPECT_EQ(safe(text), text); }

TEST(TerminalSafety, KeepsTextTabsLinesAndColours) {
  kept("plain\ttext\nnext line\r\n\n");
  kept("\x1b[32mgreen\x1b[0m \x1b[1;38;5;8mgrey\x1b[m \x1b[48;2;8;8;8mdark\x1b[0m \x1b[4:3mcurly\x1b[38:5:8m\x1b[0m\n");
  kept("caf\xc3\xa9 \xe2\x9c\x93 \xf0\x9f\x91\xa9\xe2\x80\x8d\xf0\x9f\x92\xbb \xe2\x9d\xa4\xef\xb8\x8f\n");
}

TEST(TerminalSafety, ShowsEscapesThatActInsteadOfPassingThem) {
  EXPECT_EQ(safe("\x1b]0;title\a"), "\\x1b]0;title\\x07");
  EXPECT_EQ(safe("\x1b]52;c;aGk=\x1b\\"), "\\x1b]52;c;aGk=\\x1b\\");
  EXPECT_EQ(safe("\x1b]8;;https://h/\x1b\\text\x1b]8;;\x1b\\"), "\\x1b]8;;https://h/\\x1b\\text\\x1b]8;;\\x1b\\");
  EXPECT_EQ(safe("\x1bPq#0\x1b\\ \x1b_G\x1b\\ \x1b^x\x1b\\ \x1bXy\x1b\\"),
      "\\x1bPq#0\\x1b\\ \\x1b_G\\x1b\\ \\x1b^x\\x1b\\ \\x1bXy\\x1b\\");
  EXPECT_EQ(safe("\x1b[2J\x1b[1;1H\x1b[6n\x1b[?25l\x1b[>4;1m"), "\\x1b[2J\\x1b[1;1H\\x1b[6n\\x1b[?25l\\x1b[>4;1m");
  EXPECT_EQ(safe("\x1b"
                 "c \x1b(0 \x1b"),
      "\\x1b"
      "c \\x1b(0 \\x1b");
  EXPECT_EQ(safe("\x1b\x1b[31mred"), "\\x1b\x1b[31mred");
}

// Hidden text is text that only the program's author and the clipboard see.
TEST(TerminalSafety, ShowsConcealedText) {
  EXPECT_EQ(safe("\x1b[8mhidden\x1b[0m"), "\\x1b[8mhidden\x1b[0m");
  EXPECT_EQ(safe("\x1b[1;08m"), "\\x1b[1;08m");
  EXPECT_EQ(safe("\x1b[38;5;1;8m"), "\\x1b[38;5;1;8m");
  EXPECT_EQ(safe("\x1b[38:5:8;8m"), "\\x1b[38:5:8;8m");
}

TEST(TerminalSafety, ShowsControlsAndBytesThatAreNoText) {
  EXPECT_EQ(safe(std::string("a\0b\x07\x08\x0b\x0c\x0e\x7f", 9)), "a\\x00b\\x07\\x08\\x0b\\x0c\\x0e\\x7f");
  EXPECT_EQ(safe("\x9b"
                 "31m \xc2\x9b"
                 "31m \xc2\x85"),
      "\\x9b31m \\u009b31m \\u0085");
  EXPECT_EQ(safe("\xff \xc3 \xe2\x9c \xed\xa0\x80 \xf0\x80\x80\x80 \xf4\x90\x80\x80 \xc0\xaf"),
      "\\xff \\xc3 \\xe2\\x9c \\xed\\xa0\\x80 \\xf0\\x80\\x80\\x80 \\xf4\\x90\\x80\\x80 \\xc0\\xaf");
  EXPECT_EQ(safe("cut \xf0\x9f\x98"), "cut \\xf0\\x9f\\x98");
}

TEST(TerminalSafety, ShowsBidiControlsAndCharactersOfNoWidth) {
  EXPECT_EQ(safe("a\xe2\x80\xae"
                 "b\xe2\x81\xa6"
                 "c\xd8\x9c"),
      "a\\u202eb\\u2066c\\u061c");
  EXPECT_EQ(safe("sk\xe2\x80\x8b-\xc2\xad\xef\xbb\xbf\xe2\x80\xa8"), "sk\\u200b-\\u00ad\\ufeff\\u2028");
  EXPECT_EQ(safe("#\xe2\x80\x8d#"), "#\\u200d#");
}

// A line that was painted over is shown as it was.
TEST(TerminalSafety, TurnsLoneCarriageReturnIntoALineEnd) {
  EXPECT_EQ(safe("FAIL\rPASS\n"), "FAIL\nPASS\n");
  EXPECT_EQ(safe("a\r\r\nb\r"), "a\n\r\nb\n");
}

TEST(TerminalSafety, BreaksWorkflowCommands) {
  EXPECT_EQ(safe("::error file=x::boo\n"), "\\::error file=x::boo\n");
  EXPECT_EQ(safe("ok\n  \t::set-output name=a::b"), "ok\n  \t\\::set-output name=a::b");
  EXPECT_EQ(safe("\x1b[31m::add-mask::x"), "\x1b[31m\\::add-mask::x");
  EXPECT_EQ(safe("\xc2\xa0::warning::x"), "\xc2\xa0\\::warning::x");
  EXPECT_EQ(safe("x\r::stop-commands::x"), "x\n\\::stop-commands::x");
  EXPECT_EQ(safe("##vso[task.setvariable]x"), "#\\#vso[task.setvariable]x");
  EXPECT_EQ(safe("text ##[error]x ###[group]y ##teamcity[z]"), "text #\\#[error]x ##\\#[group]y #\\#teamcity[z]");
  EXPECT_EQ(safe("##\xe2\x80\x8bvso[x]"), "#\\#\\u200bvso[x]");
  kept("std::vector<int> a; x ::y\n::1 is an address\n:: \n## heading\n#!/bin/sh\n### three\n:\n::");
}

TEST(TerminalSafety, OutputDoesNotDependOnHowTheInputIsCut) {
  const std::vector<std::string> pieces = {"\x1b", "[", "3", ";", "m", "\x1b[32m", "\x1b[8m", "]", "0", "\r", "\n", ":",
      "::", "::e", "#", "##", "##[", "\xe2", "\x80", "\xae", "\xc2", "\x9b", "\xf0\x9f\x98\x80", "\xe2\x80\x8d", " ",
      "\t", "a", "text", "\\", "[REDACTED:jwt]", std::string(1, '\0'), "\x1b[" + std::string(60, '1') + "m"};
  for (unsigned seed = 0; seed < 3000; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    for (auto i = random() % 40; i > 0; --i) text += pieces[random() % pieces.size()];
    const std::string out = safe_in_pieces(text, {});
    ASSERT_EQ(safe_in_pieces(text, every_byte(text.size())), out) << "seed " << seed;
    ASSERT_EQ(safe_in_pieces(text, random_cuts(text.size(), seed)), out) << "seed " << seed;
    ASSERT_EQ(safe_in_pieces(out, {}), out) << "seed " << seed << ": not idempotent";
    ASSERT_TRUE(is_utf8(out)) << "seed " << seed;
    for (const char c : out)
      ASSERT_TRUE(c == '\n' || c == '\r' || c == '\t' || c == '\x1b' || (c >= ' ' && c != '\x7f') || c < 0);
  }
}

// Nothing is removed, so no two parts of a secret that the redactor saw apart come together here.
TEST(TerminalSafety, NeverJoinsWhatStoodApart) {
  const std::string key = anthropic_key();
  for (const std::string between : {"\x1b]0;\a", "\x1b[K", "\b", "\r", "\xe2\x80\x8b", "\xff", "\x1b_\x1b\\"}) {
    EXPECT_EQ(safe(key.substr(0, 40) + between + key.substr(40)).find(key), std::string::npos);
  }
}

TEST(TerminalSafety, LeavesMarkersWholeBetweenRedactorAndCap) {
  const std::string text = "##" + openai_key() + "\n::" + openai_key() + "\n\x1b]0;" + openai_key() + "\a";
  const std::string expected = "#\\#[REDACTED:openai]\n::[REDACTED:openai]\n\\x1b]0;[REDACTED:openai]\\x07";
  for (std::size_t cap = 1; cap <= expected.size(); ++cap) {
    MemorySink sink;
    OutputBudget budget(cap);
    OutputCap capped(budget, sink);
    TerminalSafety safety(capped);
    auto redactor = Redactor::create(shipped_kinds(), safety);
    ASSERT_TRUE(redactor.has_value());
    ASSERT_TRUE(redactor->push(text).has_value());
    ASSERT_TRUE(redactor->finish().has_value());
    EXPECT_TRUE(sink.finished);
    EXPECT_EQ(sink.text, expected.substr(0, sink.text.size()));
    const std::size_t open = sink.text.rfind("[REDACTED");
    EXPECT_TRUE(open == std::string::npos || sink.text.find(']', open) != std::string::npos) << sink.text;
  }
}

}  // namespace
}  // namespace guard::test
