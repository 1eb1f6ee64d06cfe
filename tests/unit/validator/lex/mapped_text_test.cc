#include "validator/lex/mapped_text.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace guard {
namespace {

// What MappedText promises, written down byte by byte.
struct SlowText {
  struct Byte {
    std::size_t begin;
    std::size_t end;
  };
  std::vector<Byte> bytes;

  void append(std::size_t size, std::uint32_t begin, std::uint32_t end) {
    for (std::size_t i = 0; i < size; ++i) {
      bytes.push_back(size == end - begin ? Byte{begin + i, begin + i + 1} : Byte{begin, end});
    }
  }
};

TEST(MappedText, LeadsEveryByteBack) {
  std::mt19937 random(5);
  for (int round = 0; round < 200; ++round) {
    MappedText text;
    SlowText slow;
    std::uint32_t place = 0;
    for (int i = 0; i < 60; ++i) {
      const std::uint32_t begin = place + static_cast<std::uint32_t>(random() % 2 == 0 ? 0 : random() % 5);
      const std::uint32_t end = begin + static_cast<std::uint32_t>(random() % 6);
      const std::size_t size = random() % 3 != 0 ? end - begin : random() % 4;
      text.append(std::string(size, 'x'), begin, end);
      slow.append(size, begin, end);
      place = end;
      if (random() % 7 == 0) {
        // Only where a one-to-one piece is cut can the rest be told; others are cut whole by those who use this.
        std::size_t to = slow.bytes.empty() ? 0 : random() % (slow.bytes.size() + 1);
        while (to > 0 && to < slow.bytes.size() && slow.bytes[to - 1].end - slow.bytes[to - 1].begin != 1) --to;
        text.truncate(to);
        slow.bytes.resize(std::min(to, slow.bytes.size()));
      }
    }
    ASSERT_EQ(text.size(), slow.bytes.size());
    for (std::size_t i = 0; i < slow.bytes.size(); ++i) {
      const TextSpan span = text.original(i, i + 1);
      ASSERT_EQ(span.begin, slow.bytes[i].begin) << "byte " << i;
      ASSERT_EQ(span.end, std::max(slow.bytes[i].end, slow.bytes[i].begin)) << "byte " << i;
    }
  }
}

}  // namespace
}  // namespace guard
