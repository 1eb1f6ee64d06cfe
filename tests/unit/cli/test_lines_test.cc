#include "cli/test_lines.h"

#include <gtest/gtest.h>

namespace guard {
namespace {

std::string painted(std::string_view text, std::size_t cut) {
  StringSink out;
  TestLines lines(out);
  EXPECT_TRUE(lines.push(text.substr(0, cut)).has_value());
  EXPECT_TRUE(lines.push(text.substr(cut)).has_value());
  EXPECT_TRUE(lines.finish().has_value());
  return out.text;
}

TEST(TestLines, PaintsWhatBeginsALineHoweverItIsCut) {
  const std::string text = "a.test.ts:\n(pass) one (fail)\n(fail) two\n(skip) x\n (pass)\n(passed)\n(pa";
  const std::string wanted =
      "a.test.ts:\n\x1b[32m(pass)\x1b[0m one (fail)\n\x1b[31m(fail)\x1b[0m two\n\x1b[33m(skip)\x1b[0m x\n "
      "(pass)\n(passed)\n(pa";
  for (std::size_t cut = 0; cut <= text.size(); ++cut) EXPECT_EQ(painted(text, cut), wanted) << cut;
}

}  // namespace
}  // namespace guard
