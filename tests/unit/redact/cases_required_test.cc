// What the redactor does to which text, A: the kinds that have to be known, plain. Numbers are those of the list of
// cases; each runs in all the ways of redact_case.h.
#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

const std::string kJwtHead = joined("ey", "JhbGciOiJIUzI1NiJ9.");

TEST(RedactCases, A01_AnthropicKey) { hides("key <1> ok\n", "key [REDACTED:anthropic] ok\n", {anthropic_key()}); }

TEST(RedactCases, A02_EveryAnthropicFamily) {
  hides(
      "<1>, <2>\n", "[REDACTED:anthropic], [REDACTED:anthropic]\n", {anthropic_key("admin01"), anthropic_key("oat01")});
}

TEST(RedactCases, A03_LegacyOpenAiKey) { hides("<1>\n", "[REDACTED:openai]\n", {openai_key()}); }

// Whatever they are made of where a name says key, and with three digits anywhere.
TEST(RedactCases, A03_ShortKeys) {
  const std::string named = joined("sk", "-abc");
  const std::string alone = joined("sk", "-abc123");
  for (const char* before : {"OPENAI_API_KEY=", "export MY_KEY=\"", "  \"apiKey\": \"", "key: ", "the token is ",
           "got key ", "Authorization: Bearer "}) {
    hides(std::string(before) + "<1> ok\n", std::string(before) + "[REDACTED:openai] ok\n", {named});
  }
  hides("a\n<1>\n  '<1>'\nb\n", "a\n[REDACTED:openai]\n  '[REDACTED:openai]'\nb\n", {alone});
  hides("it printed <1> here\n", "it printed [REDACTED:openai] here\n", {alone});
  hides("it printed <1>.\n", "it printed [REDACTED:openai].\n", {joined("sk", "-abc123DEF456")});
  hides("it printed <1> here\n", "it printed [REDACTED:anthropic] here\n", {joined("sk", "-ant-abc")});
  keeps("class=\"sk-button sk-circle12\" <div key=\"a\" class=\"sk-cube\">\n", Lines::may_wait);
  keeps("assets/sk-DkX93a2b.js desk-abc123DEF456 sk-SK monkey sk-abc and sk-2024-01-01\n", Lines::may_wait);
  keeps("sk-ant-api03-... sk-ant-oat01 sk-circle12 sk-cube-grid2 monkey sk-fading-circle\n", Lines::may_wait);
  keeps("api.mailjet.com/v3/4e5f0a1b9c8d72634e5f and mailjet-4e5f0a1b9c8d7263.js\n", Lines::may_wait);
}

TEST(RedactCases, A04_OpenAiProjectKeyWithHyphens) {
  hides("key: <1>;\n", "key: [REDACTED:openai];\n",
      {joined("sk", "-proj-", random_text(20, 21), "_", random_text(20, 22), "-", random_text(60, 23))});
}

TEST(RedactCases, A05_OtherVendorsThatShareSk) {
  const std::string uuid =
      joined(hex_text(8, 1), "-", hex_text(4, 2), "-", hex_text(4, 3), "-", hex_text(4, 4), "-", hex_text(12, 5));
  hides("<1> <2> <3>\n", "[REDACTED:openai] [REDACTED:openrouter] [REDACTED:langfuse]\n",
      {joined("sk", "-svcacct-", random_text(60, 24)), joined("sk", "-or-v1-", hex_text(64)),
          joined("sk", "-lf-", uuid)});
}

TEST(RedactCases, A06_TelegramTokenByName) {
  hides(kTelegram + "=<1>\n", kTelegram + "=[REDACTED:telegram]\n", {telegram_token()});
}

TEST(RedactCases, A07_TelegramTokenInQuotes) {
  hides(kTelegram + "=\"<1>\"\n", kTelegram + "=\"[REDACTED:telegram]\"\n", {telegram_token()});
  hides(kTelegram + "='<1>' x\n", kTelegram + "='[REDACTED:telegram]' x\n", {telegram_token()});
  hides(kTelegram + " = \"<1>\";\n", kTelegram + " = \"[REDACTED:telegram]\";\n", {"two words " + random_text(12, 26)});
}

TEST(RedactCases, A08_TelegramTokenByALongerName) {
  hides("export MY_" + kTelegram + "=<1>\n", "export MY_" + kTelegram + "=[REDACTED:telegram]\n", {"x9"});
}

TEST(RedactCases, A09_TelegramTokenInAPrintedEnvironment) {
  hides("{ " + kTelegram + ": \"<1>\", PATH: \"/usr/bin\" }\n",
      "{ " + kTelegram + ": \"[REDACTED:telegram]\", PATH: \"/usr/bin\" }\n", {telegram_token()});
}

TEST(RedactCases, A10_TelegramTokenInJson) {
  hides("{\"" + kTelegram + "\":\"<1>\",\"a\":1}\n", "{\"" + kTelegram + "\":\"[REDACTED:telegram]\",\"a\":1}\n",
      {"123:AA" + random_text(33, 25)});
  hides("{\\\"" + kTelegram + "\\\":\\\"<1>\\\"}", "{\\\"" + kTelegram + "\\\":\\\"[REDACTED:telegram]\\\"}",
      {telegram_token()});
}

TEST(RedactCases, A11_BareTelegramToken) {
  hides("bot <1>/getMe\n", "bot [REDACTED:telegram]/getMe\n", {telegram_token()}, Begun::without_one);
  hides("GET /bot<1>/getMe\n", "GET /bot[REDACTED:telegram]/getMe\n", {telegram_token()}, Begun::without_one);
}

TEST(RedactCases, A12_Base64Of100IsKept) { keeps("x " + random_text(100) + " y\n"); }

TEST(RedactCases, A13_Base64Of101IsHidden) {
  hides("x <1> y\n", "x [REDACTED:base64] y\n", {random_text(101)}, Begun::without_one);
}

TEST(RedactCases, A14_PaddingGoesWithTheRun) {
  hides("x <1>== y\n", "x [REDACTED:base64] y\n", {random_text(101)}, Begun::without_one);
  hides("x <1>=== y\n", "x [REDACTED:base64]= y\n", {random_text(102)}, Begun::without_one);
}

TEST(RedactCases, A15_Base64LongerThanAnyBuffer) {
  hides("a <1> b\n", "a [REDACTED:base64] b\n", {random_text(70000, 27)}, Begun::without_one);
}

TEST(RedactCases, A16_SignedToken) { hides("t=<1> u\n", "t=[REDACTED:jwt] u\n", {jwt()}); }

TEST(RedactCases, A17_UnsignedToken) {
  hides("t=<1> u\n", "t=[REDACTED:jwt] u\n", {joined(kJwtHead, "ey", "J", random_text(30, 28), ".")});
}

TEST(RedactCases, A18_EncryptedTokenOfFiveParts) {
  hides("t=<1> u\n", "t=[REDACTED:jwt] u\n",
      {joined(kJwtHead, random_text(40, 29), ".", random_text(16, 30), ".", random_text(50, 31), ".",
          random_text(22, 32))});
  hides("t=<1> u\n", "t=[REDACTED:jwt] u\n",
      {joined(kJwtHead, ".", random_text(16, 33), ".", random_text(40, 34), ".", random_text(22, 35))});
}

TEST(RedactCases, A17_HeaderOfATokenAlone) {
  const std::string header = joined("ey", "JhbGciOiJIUzI1NiJ9");
  hides("<1>\n", "[REDACTED:jwt]\n", {header});
  hides("the header is <1>, and\n", "the header is [REDACTED:jwt], and\n", {header});
}

TEST(RedactCases, A19_TokenLongerThanTheWindow) { hides("t=<1> u\n", "t=[REDACTED:jwt] u\n", {jwt(6000)}); }

TEST(RedactCases, A20_AuthorizationHeaders) {
  hides("Authorization: Bearer <1>\n", "Authorization: Bearer [REDACTED:authorization]\n", {random_text(40, 36)});
  hides("authorization: basic <1>\n", "authorization: basic [REDACTED:authorization]\n", {random_text(24, 37) + "="});
  hides("{\"authorization\":\"Bearer <1>\"}", "{\"authorization\":\"Bearer [REDACTED:authorization]\"}",
      {random_text(40, 36)});
  hides("curl -H \"bearer <1>\"\n", "curl -H \"bearer [REDACTED:authorization]\"\n", {random_text(40, 36)});
}

}  // namespace
}  // namespace guard::test
