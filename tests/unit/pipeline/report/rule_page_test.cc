#include "pipeline/report/rule_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/file_io.h"
#include "redact/masked_regions.h"
#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

using ::testing::HasSubstr;

const SecretSource& secrets() {
  static const SecretSource kSecrets = SecretSource::shipped().value();
  return kSecrets;
}

std::string page() { return rules_page(RuleSet::shipped()); }

TEST(RulePage, TheCommittedOneIsWhatTheToolWrites) {
  const auto committed = read_file(GUARD_SOURCE_DIR "/docs/rules.md", 1u << 22);
  ASSERT_TRUE(committed);
  EXPECT_TRUE(*committed == page()) << "write it anew: guard rules doc > docs/rules.md";
}

TEST(RulePage, EveryFindingHasItsAnchor) {
  const std::string text = page();
  for (const auto& rule : RuleSet::shipped().rules()) {
    if (rule.tier == Tier::secret) continue;
    EXPECT_THAT(text, HasSubstr("<a id=\"" + rule.id + "\"></a>"));
  }
  for (const auto tier : {FindingTier::encoding, FindingTier::side_file, FindingTier::policy}) {
    EXPECT_THAT(text, HasSubstr("<a id=\"" + rule_anchor("encoding.nul_byte", tier) + "\"></a>"));
  }
  EXPECT_EQ(rule_page("host.eval", FindingTier::host), "docs/rules.md#host.eval");
  EXPECT_EQ(rule_page("encoding.nul_byte", FindingTier::encoding), "docs/rules.md#encoding");
}

// A page about banned patterns must be fit to be committed.
TEST(RulePage, HoldsNothingThatIsBannedOrASecret) {
  const std::string text = page();
  const Validator validator(RuleSet::shipped(), shipped_matcher(), {});
  const auto report = validator.check_banned({{"docs/rules.md", text}});
  ASSERT_TRUE(report);
  EXPECT_TRUE(report->findings.empty()) << report->findings[0].rule << " at line " << report->findings[0].line;
  const auto regions = masked_regions(secrets(), text);
  ASSERT_TRUE(regions);
  EXPECT_TRUE(regions->empty()) << text.substr(regions->empty() ? 0 : (*regions)[0].begin, 40);
}

// Somebody who looks for a rule reads one line of it.
TEST(RulePage, HasOneLineForEachRule) {
  const std::string text = page();
  for (const auto& rule : RuleSet::shipped().rules()) {
    if (rule.tier == Tier::secret) continue;
    const std::size_t start = text.find("| <a id=\"" + rule.id + "\"");
    ASSERT_NE(start, std::string::npos) << rule.id;
    const std::string line = text.substr(start, text.find('\n', start) - start);
    EXPECT_THAT(line, HasSubstr(rule.title));
    EXPECT_TRUE(line.ends_with(" |")) << line;
  }
}

}  // namespace
}  // namespace guard
