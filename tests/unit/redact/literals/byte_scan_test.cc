// The searches of many bytes at a time against one byte at a time.
#include "redact/literals/byte_scan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <string>

namespace guard {
namespace {

TEST(ByteScan, EveryByteIsJudgedLikeTheSetDoes) {
  for (const char* const members : {"A-Za-z0-9+/", "^a", "\\x00\\x08\\x1b\\xc2\\xcd", "\\x80-\\xff", "z"}) {
    const ByteSet set = *ByteSet::parse(members);
    const ByteScan scan(set);
    for (unsigned value = 0; value < 256; ++value) {
      const std::string text(40, static_cast<char>(value));
      EXPECT_EQ(scan.find(text), set.has(text[0]) ? 0 : text.size()) << members << " " << value;
      EXPECT_EQ(scan.find_other(text), set.has(text[0]) ? text.size() : 0) << members << " " << value;
      EXPECT_EQ(scan.behind_last_other(text), set.has(text[0]) ? 0 : text.size()) << members << " " << value;
    }
  }
}

TEST(ByteScan, OneByteIsFoundAtEveryPlaceOfTextsOfEverySize) {
  const ByteScan digits(*ByteSet::parse("0-9"));
  for (std::size_t size = 0; size < 140; ++size) {
    EXPECT_EQ(digits.find(std::string(size, 'x')), size);
    for (std::size_t at = 0; at < size; ++at) {
      std::string text(size, 'x');
      text[at] = '7';
      EXPECT_EQ(digits.find(text), at) << size;
      std::string other(size, '7');
      other[at] = 'x';
      EXPECT_EQ(digits.find_other(other), at) << size;
      EXPECT_EQ(digits.behind_last_other(other), at + 1) << size;
    }
  }
}

TEST(ByteScan, LongRunIsFoundAtEveryPlaceOfTextsOfEverySize) {
  const ByteScan letters(*ByteSet::parse("a-z"));
  for (std::size_t size = 0; size < 300; ++size) {
    EXPECT_EQ(letters.find_long_run(std::string(size, '.')), size);
    for (std::size_t at = 0; at < size; at += 1 + size % 3) {
      for (const std::size_t length : {1, 39, 40, 41, 64, 130}) {
        if (at + length > size) continue;
        std::string text(size, '.');
        text.replace(at, length, std::string(length, 'x'));
        const bool found = length >= ByteScan::kLongRun || at + length == size;
        EXPECT_EQ(letters.find_long_run(text), found ? at : size) << size << " " << length;
      }
    }
  }
}

// Runs that are too short stand before the long one.
TEST(ByteScan, FirstLongRunIsFoundBehindShortOnes) {
  const ByteScan letters(*ByteSet::parse("a-z"));
  std::mt19937 random(5);
  for (int round = 0; round < 2000; ++round) {
    std::string text;
    for (int i = 0; i < 20; ++i) text += std::string(random() % 55, 'x') + std::string(1 + random() % 3, '.');
    std::size_t expected = text.size();
    for (std::size_t at = 0; at < text.size() && expected == text.size(); ++at) {
      const std::size_t end = std::min(text.find('.', at), text.size());
      if (end - at >= ByteScan::kLongRun) expected = at;
      at = end;
    }
    EXPECT_EQ(letters.find_long_run(text), expected) << text;
  }
}

}  // namespace
}  // namespace guard
