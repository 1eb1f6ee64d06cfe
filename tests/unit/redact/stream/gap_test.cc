// Where a reader of a terminal may see something else than the bytes.
#include "redact/stream/gap.h"

#include <gtest/gtest.h>

#include <string>

namespace guard {
namespace {

TEST(Gap, FirstByteIsFoundAtEveryPlace) {
  for (std::size_t before = 0; before < 80; ++before) {
    const std::string plain(before, 'x');
    for (const std::string& gap : {std::string("\x1b"), std::string(1, '\0'), std::string("\b"),
             std::string("\xc2\xad"), std::string("\xe2\x80\x8b"), std::string("\xe1\xa0\x8e"), std::string("\n"),
             std::string("\r"), std::string("&#115;"), std::string("%73"), std::string("\\x73")}) {
      EXPECT_EQ(next_place(plain + gap + std::string(70, 'y'), 0), before);
      EXPECT_EQ(next_place(plain + gap[0], before / 2), before) << "cut";
    }
    const std::string ticks = plain + "\xe2\x9c\x93 passed\tin time";
    EXPECT_EQ(next_place(ticks, 0), ticks.size()) << "a tick is visible, and so is a tab";
    EXPECT_EQ(next_place(std::string(before, '\xff'), 0), before);
  }
}

TEST(Gap, CharactersThatAreWrittenAsTheirNumbers) {
  for (const std::string text :
      {"&#115;", "&#x73;", "\\x73", "\\u0073", "\\u{73}", "\\163", "%73", "%u0073", "%2573"}) {
    const Gap gap = written_at(text + "k", false);
    EXPECT_EQ(gap.kind, Gap::Kind::written) << text;
    EXPECT_EQ(gap.size, text.size()) << text;
    EXPECT_EQ(gap.shows, 's') << text;
    EXPECT_EQ(written_at(text.substr(0, 2), false).kind, Gap::Kind::undecided) << text;
  }
  for (const char* const text : {"&amp;", "%0a", "\\x0a", "\\n ", "% 73", "&#;"})
    EXPECT_EQ(written_at(text, true).kind, Gap::Kind::none) << text;
}

}  // namespace
}  // namespace guard
