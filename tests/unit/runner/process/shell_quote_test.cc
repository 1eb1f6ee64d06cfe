#include "runner/process/shell_quote.h"

#include <gtest/gtest.h>

#include "runner/process/subprocess.h"

namespace guard {
namespace {

TEST(ShellQuote, QuotesEveryWord) {
  EXPECT_EQ(shell_quoted("bun"), "'bun'");
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
  EXPECT_EQ(shell_quoted("'"), "''\\'''");
  EXPECT_EQ(shell_line({"a b", "", "-c"}), "'a b' '' '-c'");
  EXPECT_EQ(shell_line({}), "");
}

// What real shells make of it: the same words, byte for byte, and nothing has run.
TEST(ShellQuote, ShellsTakeTheWordsAsTheyAre) {
  std::string every_byte;
  for (int byte = 1; byte < 256; ++byte) every_byte += static_cast<char>(byte);
  const std::vector<std::string> words = {every_byte, "", "$(echo run)", "`echo run`", "a;echo run", "'", "''", "\\",
      "\\'", "'\\''", "*", "~", "-n", "#x", "!!", "$HOME", "\n", "a\nb", "a\n\n", "\"", "<x", "x>y", "&", "|| echo run",
      "\xff\xfe\x80", "{a,b}", "a=b", "$'x'"};
  for (const char* shell : {"sh", "bash"}) {
    ProcessSpec spec;
    spec.argv = {shell, "-c", "printf '%s\\0' " + shell_line(words)};
    spec.env = {{"PATH", "/usr/bin:/bin"}, {"LC_ALL", "C"}};
    const CancelToken never;
    const auto done = collect_process(spec, 1u << 20, never);
    ASSERT_TRUE(done) << done.error().to_string();
    std::string expected;
    for (const auto& word : words) expected += word + '\0';
    EXPECT_EQ(done->out, expected) << shell;
    EXPECT_EQ(done->err, "") << shell;
  }
}

}  // namespace
}  // namespace guard
