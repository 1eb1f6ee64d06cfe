#include "common/text/text.h"

#include <gtest/gtest.h>

#include <cstdint>

namespace guard {
namespace {

TEST(Text, LineAndColumnCountAllThreeLineEnds) {
  const std::string_view text = "a\nbc\r\nd\re";
  EXPECT_EQ(line_column(text, 0).line, 1u);
  EXPECT_EQ(line_column(text, 2).line, 2u);
  EXPECT_EQ(line_column(text, 3).column, 2u);
  EXPECT_EQ(line_column(text, 6).line, 3u);
  EXPECT_EQ(line_column(text, 8).line, 4u);
  EXPECT_EQ(line_column(text, 8).column, 1u);
  EXPECT_EQ(line_column(text, 999).line, 4u);
  EXPECT_EQ(line_column(text, 999).column, 2u);
}

TEST(Text, LineAtLeavesTheLineEndOut) {
  EXPECT_EQ(line_at("one\ntwo\r\nthree", 5), "two");
  EXPECT_EQ(line_at("one\ntwo", 0), "one");
  EXPECT_EQ(line_at("one\n", 4), "");
  EXPECT_EQ(line_at("", 10), "");
}

TEST(Text, Utf8RefusesOverlongSurrogatesAndTooLarge) {
  EXPECT_TRUE(is_utf8("plain \xc3\xa9 \xe2\x9c\x93 \xf0\x9f\x98\x80"));
  EXPECT_FALSE(is_utf8("\xc0\xaf"));
  EXPECT_FALSE(is_utf8("\xe0\x80\xaf"));
  EXPECT_FALSE(is_utf8("\xed\xa0\x80"));
  EXPECT_FALSE(is_utf8("\xf4\x90\x80\x80"));
  EXPECT_FALSE(is_utf8("cut \xe2\x9c"));
  // Plain bytes are stepped over in groups: wherever in one the first that isn't plain stands.
  for (std::size_t at = 0; at < 24; ++at) {
    std::string text(24, 'a');
    EXPECT_TRUE(is_utf8(text));
    EXPECT_TRUE(is_utf8(text.substr(0, at) + "\xc3\xa9" + text.substr(at)));
    text[at] = '\x80';
    EXPECT_FALSE(is_utf8(text)) << at;
  }
}

TEST(Text, PrintableShowsWhatATerminalWouldObey) {
  EXPECT_EQ(printable("\x1b[2J"), "\\x1b[2J");
  EXPECT_EQ(printable("a\nb\r"), "a\\nb\\r");
  EXPECT_EQ(printable("tab\there"), "tab\there");
  EXPECT_EQ(printable("\xe2\x80\xae"
                      "evil"),
      "\\u{202e}evil");
  EXPECT_EQ(printable("\xc2\x9b"
                      "2J"),
      "\\x9b2J");
  EXPECT_EQ(printable("\xff"), "\\xff");
  EXPECT_EQ(printable("caf\xc3\xa9"), "caf\xc3\xa9");
}

TEST(Text, NearestWordSuggestsOnlyWhatIsNear) {
  EXPECT_EQ(nearest_word("memroy", {"memory", "cpus"}), "memory");
  EXPECT_EQ(nearest_word("xyz", {"memory", "cpus"}), "");
  EXPECT_EQ(nearest_word(std::string(100000, 'a'), {"memory"}), "");
}

TEST(Text, ParseBytesKnowsUnitsAndRefusesTheRest) {
  std::uint64_t bytes = 0;
  EXPECT_TRUE(parse_bytes("2g", bytes));
  EXPECT_EQ(bytes, 2ull << 30);
  EXPECT_TRUE(parse_bytes("500m", bytes));
  EXPECT_EQ(bytes, 500ull << 20);
  EXPECT_TRUE(parse_bytes("81920", bytes));
  EXPECT_EQ(bytes, 81920u);
  for (const char* bad : {"", "g", "-1", "1.5g", "2gb", "0x10", " 1", "99999999999999999999", "17179869184g"}) {
    EXPECT_FALSE(parse_bytes(bad, bytes)) << bad;
  }
}

}  // namespace
}  // namespace guard
