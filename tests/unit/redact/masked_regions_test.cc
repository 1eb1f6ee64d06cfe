#include "redact/masked_regions.h"

#include <gtest/gtest.h>

#include <regex>

#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

// And so is redact_text().
TEST(MaskedRegions, AreWhatTheDefinitionHides) {
  const SecretSource source = source_with({{"DEPLOY_KEY", random_text(24, 5)}, {"PIN_CODE", "x9Kx9Lq1"}});
  std::vector<std::string> pieces = {"const a = 1;\n", "\"", "'", " ", "=", "\n", ":", "Bearer ",
      "password = ", random_text(24, 5), "x9Kx9Lq1", random_text(130, 9)};
  for (const Rule& rule : secret_rules().rules()) {
    for (const Example& example : rule.match) pieces.push_back(example.text);
  }
  std::minstd_rand random(11);
  std::size_t hidden = 0;
  for (int i = 0; i < 400; ++i) {
    std::string text;
    for (int j = 0; j < 6; ++j) text += pieces[random() % pieces.size()];
    const auto whole = redact_whole(source, text);
    const auto regions = masked_regions(source, text);
    ASSERT_TRUE(whole);
    ASSERT_TRUE(regions);
    ASSERT_EQ(redact_text(source, text).value(), *whole) << text;
    std::string shown;
    std::size_t at = 0;
    for (const MaskedRegion& region : *regions) {
      shown += text.substr(at, region.begin - at) + "[REDACTED]";
      at = region.end;
    }
    shown += text.substr(at);
    static const std::regex marker("\\[REDACTED:[^\\]]*\\]");
    ASSERT_EQ(std::regex_replace(*whole, marker, "[REDACTED]"), shown) << text;
    hidden += regions->size();
  }
  EXPECT_GT(hidden, 100u);
}

}  // namespace
}  // namespace guard::test
