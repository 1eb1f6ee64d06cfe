#include "egress/keys/value_mask.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

std::string masked(std::vector<std::string> values, const std::string& text, std::size_t step) {
  const HiddenValues hidden(std::move(values));
  ValueMask mask(hidden);
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += step) out += mask.push(text.substr(at, step));
  return out + mask.finish();
}

TEST(ValueMask, HidesAValueHoweverTheStreamIsCut) {
  const std::string text = "before sk-secret1 between sk-secresk-secret1sk-secret1 after sk-secre";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    EXPECT_EQ(
        masked({"sk-secret1", ""}, text, step), "before ********** between sk-secre******************** after sk-secre")
        << step;
  }
}

TEST(ValueMask, HidesValuesThatOverlap) {
  for (std::size_t step = 1; step <= 20; ++step) {
    EXPECT_EQ(masked({"xxxxxxxx"}, "xxxxxxxxxxxx.", step), "************.") << step;
    EXPECT_EQ(masked({"abcdefgh", "efghijkl"}, "__abcdefghijkl__", step), "__************__") << step;
    EXPECT_EQ(masked({"abcdefgh", "abcdefghij"}, "_abcdefghij_", step), "_**********_") << step;
    EXPECT_EQ(masked({"cdef", "abcdefgh"}, "_abcdefg_", step), "_ab****g_") << step;
  }
}

// What comes, and when, tells nothing of how much of a value the server has repeated.
TEST(ValueMask, HoldsBackTheSameWhateverComes) {
  const std::string key = "sk-secret1";
  const HiddenValues hidden({key, "short"});
  for (std::size_t right = 0; right <= key.size(); ++right) {
    for (const std::string& before : {std::string(), std::string("guess: "), std::string(20, 's')}) {
      const std::string guess = before + key.substr(0, right) + std::string(key.size() - right, '?');
      ValueMask whole(hidden), in_bytes(hidden);
      std::size_t out = 0;
      for (std::size_t i = 0; i < guess.size(); ++i) {
        out += in_bytes.push(guess.substr(i, 1)).size();
        EXPECT_EQ(out, i + 1 - std::min<std::size_t>(i + 1, 9)) << guess;
      }
      EXPECT_EQ(whole.push(guess).size(), guess.size() - 9) << guess;
      EXPECT_EQ(whole.finish(), guess.ends_with(key) ? "*********" : guess.substr(guess.size() - 9));
    }
  }
}

TEST(ValueMask, LearnsValuesAndKeepsWhatWasFound) {
  HiddenValues hidden({"old-value"});
  ValueMask mask(hidden);
  std::string out = mask.push("old-value, new-");
  hidden = HiddenValues({"a-much-longer-value", "new-value"});
  out += mask.push("value, a-much-longer-");
  out += mask.push("value");
  EXPECT_EQ(out + mask.finish(), "*********, *********, *******************");
}

}  // namespace
}  // namespace guard
