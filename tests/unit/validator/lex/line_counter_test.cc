#include "validator/lex/line_counter.h"

#include <gtest/gtest.h>

#include <random>

namespace guard {
namespace {

// Whatever was asked before, the answer is line_column()'s.
TEST(LineCounter, AgreesWithLineColumnInAnyOrder) {
  std::mt19937 random(1);
  for (int round = 0; round < 200; ++round) {
    std::string text;
    for (std::size_t size = random() % 80; text.size() < size;) text += "aaaaaa\r\n"[random() % 8];
    LineCounter lines(text);
    for (int asked = 0; asked < 40; ++asked) {
      const std::size_t offset = random() % (text.size() + 3);
      const LineColumn expected = line_column(text, offset);
      const LineColumn got = lines.at(offset);
      ASSERT_EQ(got.line, expected.line) << round << " at " << offset;
      ASSERT_EQ(got.column, expected.column) << round << " at " << offset;
    }
  }
}

}  // namespace
}  // namespace guard
