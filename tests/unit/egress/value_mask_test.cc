#include "egress/value_mask.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

std::string masked(std::vector<std::string> values, const std::string& text, std::size_t step) {
  ValueMask mask(std::move(values));
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += step) out += mask.push(text.substr(at, step));
  return out + mask.finish();
}

TEST(ValueMask, HidesAValueHoweverTheStreamIsCut) {
  const std::string text = "before sk-secret1 between sk-secresk-secret1sk-secret1 after";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    const std::string out = masked({"sk-secret1"}, text, step);
    ASSERT_EQ(out.size(), text.size()) << step;
    EXPECT_EQ(out.find("secret1"), std::string::npos) << step << " " << out;
    EXPECT_EQ(out.substr(0, 7), "before ");
    EXPECT_EQ(out.substr(text.size() - 6), " after");
  }
  EXPECT_EQ(masked({"sk-secret1"}, text, text.size()), "before ********** between sk-secre******************** after");
}

TEST(ValueMask, HidesValuesThatOverlap) {
  for (std::size_t step = 1; step <= 20; ++step) {
    EXPECT_EQ(masked({"xxxxxxxx"}, "xxxxxxxxxxxx.", step).substr(3), "*********.") << step;
    EXPECT_EQ(masked({"abcdefgh", "efghijkl"}, "__abcdefghijkl__", step).substr(5), "*********__") << step;
    EXPECT_EQ(masked({"abcdefgh", "abcdefghij"}, "_abcdefghij_", step).substr(4), "*******_") << step;
  }
}

TEST(ValueMask, LetsOutAtOnceWhatIsHardlyTheBeginningOfAValue) {
  ValueMask mask({"sk-secret1"});
  EXPECT_EQ(mask.push("ends in sk-"), "ends in sk-");
  EXPECT_EQ(mask.push("secret1!"), "*******!");
  EXPECT_EQ(mask.push("sk-s"), "");
  EXPECT_EQ(mask.push("o"), "sk-so");
  EXPECT_EQ(mask.push("sk-secret"), "");
  EXPECT_EQ(mask.finish(), "*********");
  EXPECT_EQ(ValueMask().push("sk-"), "sk-");
}

}  // namespace
}  // namespace guard
