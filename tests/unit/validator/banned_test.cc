// Banned patterns look at raw bytes. The samples are joined here, so that this file stays clean.
#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

std::string many(const char* piece, int times) {
  std::string all;
  for (int i = 0; i < times; ++i) all += piece;
  return all;
}

TEST(Banned, ShapesOfSecrets) {
  const std::string telegram = std::string("TELEGRAM_BOT") + "_TOKEN=" + "abc123";
  const std::string anthropic = std::string("sk-") + "ant-api03-" + many("x", 20);
  const std::string openai = std::string("sk") + "-" + many("a", 40);
  const std::string project = std::string("sk") + "-proj-" + many("a", 40);
  const std::string github = std::string("gh") + "p_" + many("a", 36);
  const std::string amazon = std::string("AK") + "IA" + many("A", 16);
  const std::string slack = std::string("xox") + "b-" + many("1", 12);
  const std::string stripe = std::string("sk") + "_live_" + many("a", 24);
  const std::string jwt = "ey" + ("J" + many("a", 20)) + ".ey" + ("J" + many("b", 20)) + "." + many("c", 20);
  const std::string pem = std::string("-----BEGIN RSA ") + "PRIVATE KEY-----";
  const std::pair<const char*, std::string> samples[] = {{"banned.telegram_bot_token", telegram},
      {"banned.anthropic_key", anthropic}, {"banned.openai_key", openai}, {"banned.openai_key", project},
      {"banned.github_token", github}, {"banned.cloud_key", amazon}, {"banned.service_token", slack},
      {"banned.service_token", stripe}, {"banned.jwt", jwt}, {"banned.private_key", pem}};
  for (const auto& [rule, secret] : samples) {
    for (const TierSet tiers : {kDocker, kHost}) {
      EXPECT_TRUE(finds(rule, "const a = '" + secret + "';", tiers)) << rule;
      EXPECT_TRUE(finds(rule, "// " + secret, tiers)) << rule << " in a comment";
    }
  }
}

TEST(Banned, ConcatenationIsTheAgreedWayToWriteTestData) {
  for (const std::string& rule :
      rules_of("const t = 'TELE' + 'GRAM_BOT_TOKEN=abc123'; const k = 'sk-' + 'ant-abcdefgh';")) {
    EXPECT_NE(rule.substr(0, 7), "banned.") << rule;
  }
}

TEST(Banned, LeavesShortFakesAlone) {
  EXPECT_TRUE(rules_of("new Client('sk-fake-not-real'); const id = 'AKIAFAKE'; '-----BEGIN CERTIFICATE-----'", kDocker)
                  .empty());
}

}  // namespace
}  // namespace guard
