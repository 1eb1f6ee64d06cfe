#include "common/text/characters.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

TEST(Characters, WhatIsWrittenIsReadAgain) {
  for (const char32_t point : {U'a', U'\u00e9', U'\u20ac', U'\U0001f600', U'\U0010ffff'}) {
    std::string text;
    append_utf8(point, text);
    char32_t read = 0;
    EXPECT_EQ(decode_utf8(text + "x", read), text.size());
    EXPECT_EQ(read, point);
  }
}

TEST(Characters, RefusesWhatIsNoUtf8) {
  for (const char* text : {"", "\x80", "\xc0\xaf", "\xc3", "\xe0\x80\x80", "\xe2\x82", "\xed\xa0\x80",
           "\xf0\x80\x80\x80", "\xf4\x90\x80\x80", "\xf5\x80\x80\x80", "\xff"}) {
    char32_t point = 0;
    EXPECT_EQ(decode_utf8(text, point), 0U) << testing::PrintToString(text);
  }
}

TEST(Characters, LowersAsciiAlone) { EXPECT_EQ(lower_case("AbZ\xc3\x89-1"), "abz\xc3\x89-1"); }

}  // namespace
}  // namespace guard
