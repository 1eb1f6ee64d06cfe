#include "pipeline/rule_page.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/file_io.h"
#include "redact/masked_regions.h"
#include "tests/unit/pipeline/gate_fixture.h"

namespace guard {
namespace {

using ::testing::HasSubstr;

const SecretSource& secrets() {
  static const SecretSource kSecrets = SecretSource::shipped().value();
  return kSecrets;
}

std::string page() {
  auto written = rules_page(RuleSet::shipped_with_examples(), secrets());
  EXPECT_TRUE(written);
  return written ? *written : std::string();
}

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
    EXPECT_THAT(text, HasSubstr(rule.fix)) << rule.id;
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

TEST(RulePage, ExamplesWithSecretsAreLeftOut) {
  Rule rule;
  rule.id = "host.example";
  rule.tier = Tier::host;
  rule.title = "an example";
  rule.patterns = {{"zzzz", {View::code}, 0, 0, 0, 0}};
  rule.match = {{"zzzz ```` a"}, {"zzzz('" + made_up_key() + "')"}};
  const auto set = RuleSet::create({rule}, {});
  ASSERT_TRUE(set);
  const auto written = rules_page(*set, secrets());
  ASSERT_TRUE(written);
  EXPECT_THAT(*written, HasSubstr("`````ts\nzzzz ```` a\n`````\n"));
  EXPECT_EQ(written->find(made_up_key()), std::string::npos);
  EXPECT_THAT(*written, HasSubstr("(1 example not written out"));
}

}  // namespace
}  // namespace guard
