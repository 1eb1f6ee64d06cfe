// A key that something stands between any two bytes of, as a title of a test could have it.
#include <gtest/gtest.h>

#include "tests/support/redact/redact_fixture.h"

namespace guard::test {
namespace {

std::vector<std::string> separators() {
  std::vector<std::string> all = {"\x1b[31m", "\x1b[0m", "\x1b[1;38;5;196m", "\x1b[?25h", "\x1b[2K", "\x1b]0;t\a",
      "\x1b]8;;\x1b\\",
      "\x1b"
      "7",
      "\x1b"
      "8",
      "\x1b=", "\x1b>", "\x1b(B", "\x1b%G", "\x1b#8", "\x1b F",
      "\x1b"
      "c",
      "\x1bM", "\x1bN", "\x1bZ", "\x1bPq\x1b\\", "\x1b_x\x1b\\", "\x1b^x\x1b\\", "\x1bXx\x1b\\",
      "\xc2\x9b"
      "31m",
      "\x9b"
      "31m",
      "\x9d"
      "0;t\x9c",
      "\xc2\x9d"
      "0;t\xc2\x9c",
      "\xc2\xad", "\xe2\x80\x8b", "\xe2\x80\x8c", "\xe2\x80\x8d", "\xe2\x80\x8e", "\xe2\x80\x8f", "\xe2\x81\xa0",
      "\xef\xbb\xbf"};
  for (int c = 0; c < 0x20; ++c) {
    if (c != '\t' && c != '\n' && c != '\r' && c != 0x1b) all.emplace_back(1, static_cast<char>(c));
  }
  for (int c = 0x7f; c < 0xa0; ++c) all.emplace_back(1, static_cast<char>(c));
  for (int c = 0x80; c < 0xa0; ++c) all.push_back(std::string("\xc2") + static_cast<char>(c));
  return all;
}

TEST(Split, NothingOfAKeySurvivesWhateverSplitsIt) {
  std::size_t judged = 0;
  for (const std::string& key :
      {anthropic_key(), openai_key(), telegram_token(), jwt(), std::string("gh") + "p_" + random_text(36, 9)}) {
    for (const std::string& separator : separators()) {
      std::size_t shown = 0;
      std::string first;
      for (std::size_t at = 1; at < key.size(); ++at) {
        ++judged;
        const std::string text = "(pass) title " + key.substr(0, at) + separator + key.substr(at) + " [0.1ms]\n";
        const std::string out = at == 20 ? redacted(text) : redact_text(shipped_kinds(), text).value_or(text);
        if (!shows(out, key)) continue;
        if (shown++ == 0) first = fmt::format("{}: {}", at, out);
      }
      EXPECT_EQ(shown, 0u) << ::testing::PrintToString(separator) << " in " << key.substr(0, 8) << " first at "
                           << first;
    }
  }
  EXPECT_GT(judged, 10'000u);
}

// Characters of UTF-8 whose bytes look like C1 controls are text, and stay between secrets and in them.
TEST(Split, LettersAreNoSeparators) {
  for (const char* text :
      {"\xc3\x80\xc3\x9f\xe4\xb8\xad\xe6\x9c\x9f \xf0\x9f\x98\x80\n", "\xe2\x9c\x93 ok\n", "\x80\x9b\x9d alone\n",
          "a\x01"
          "b\x1f"
          "c\n"}) {
    EXPECT_EQ(redacted(text), text);
  }
}

}  // namespace
}  // namespace guard::test
