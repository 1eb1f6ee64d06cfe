#include "validator/lex/byte_scan.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace guard {
namespace {

TEST(ByteScan, FindsWhatASlowLoopFinds) {
  std::mt19937 random(3);
  for (int i = 0; i < 2000; ++i) {
    std::string text(random() % 80, 'x');
    for (char& c : text) {
      if (random() % 20 == 0) c = "\n\r\xe2\x80"[random() % 4];
    }
    const std::size_t from = random() % 90;
    const std::size_t slow = std::string_view(text).find_first_of("\n\r\xe2", from);
    const std::size_t fast = find_any_of<'\n', '\r', '\xe2'>(text, from);
    if (slow == std::string_view::npos) {
      ASSERT_GE(fast, text.size());
    } else {
      ASSERT_EQ(fast, slow);
    }
  }
}

}  // namespace
}  // namespace guard
