// What the redactor does to which text, B: other kinds that are well known. Numbers are those of the list of cases.
#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

constexpr std::string_view kUpper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
constexpr std::string_view kDigits = "0123456789";

std::string github_key() { return joined("gh", "p_", random_text(36, 43)); }

// In brackets, so that both neighbours have to be kept.
void hides_one(const std::string& kind, const std::string& secret) {
  hides("(<1>)\n", "([REDACTED:" + kind + "])\n", {secret});
}

TEST(RedactCases, B21_AwsKeys) {
  hides_one("aws", joined("AK", "IA", random_text(16, 41, kUpper)));
  hides_one("aws", joined("AS", "IA", random_text(16, 42, kUpper)));
  hides("aws_secret_access_key = <1>\n", "aws_secret_access_key = [REDACTED:aws]\n", {random_text(40, 40)});
  keeps("digest = " + random_text(40, 40) + "\n");  // without its name it is like any other 40 characters
}

TEST(RedactCases, B22_GitHubTokens) {
  hides_one("github", github_key());
  hides_one("github", joined("gh", "s_", random_text(36, 44)));
  hides_one("github", joined("github", "_pat_", random_text(22, 45), "_", random_text(59, 46)));
}

TEST(RedactCases, B23_GitLabTokens) {
  hides_one("gitlab", joined("gl", "pat-", random_text(20, 47)));
  hides_one("gitlab", joined("gl", "pat-", random_text(27, 48), ".01.", random_text(9, 49)));
}

TEST(RedactCases, B24_SlackTokensAndHooks) {
  hides_one("slack", joined("xo", "xb-", random_text(12, 50, kDigits), "-", random_text(24, 51)));
  hides_one("slack", joined("xa", "pp-1-", random_text(30, 52)));
  hides("https://hooks.slack.com/services/<1>\n", "https://hooks.slack.com/services/[REDACTED:slack]\n",
      {"T01ABCDEF/B01ABCDEF/" + random_text(24, 67)});
}

TEST(RedactCases, B25_GoogleKeysAndTokens) {
  hides_one("google", joined("AI", "za", random_text(35, 53)));
  hides_one("google", joined("ya", "29.", random_text(60, 54)));
  hides_one("google", joined("1/", "/0g", random_text(60, 69)));
}

TEST(RedactCases, B26_StripeSecretsButNotItsPublicKeys) {
  hides_one("stripe", joined("sk", "_live_", random_text(24, 55)));
  hides_one("stripe", joined("rk", "_live_", random_text(24, 56)));
  hides_one("stripe", joined("wh", "sec_", random_text(32, 57)));
  keeps("pk_live_" + random_text(24, 68) + "\n", Lines::may_wait);
}

TEST(RedactCases, B27_KeysOfOtherServices) {
  hides_one("sendgrid", joined("S", "G.", random_text(22, 58), ".", random_text(43, 59)));
  hides_one("npm", joined("np", "m_", random_text(36, 60)));
  hides_one("pypi", joined("py", "pi-AgEI", random_text(70, 61)));
  hides_one("huggingface", joined("h", "f_", random_text(34, 62)));
  hides_one("groq", joined("gs", "k_", random_text(52, 63)));
  hides_one("xai", joined("xa", "i-", random_text(80, 64)));
  hides_one("docker", joined("dckr", "_pat_", random_text(27, 65)));
  hides_one("age", joined("AGE-SECRET", "-KEY-1", random_text(58, 66, "023456789ACDEFGHJKLMNPQRSTUVWXYZ")));
}

TEST(RedactCases, B28_PasswordOfADatabase) {
  hides("postgres://app:<1>@db:5432/x\n", "postgres://app:[REDACTED:db_url]@db:5432/x\n", {"p%40ss!word"});
}

TEST(RedactCases, B29_PasswordsOfTwoLettersAndOfOne) {
  hides("redis://:<1>@h\n", "redis://:[REDACTED:db_url]@h\n", {"pw"});
  hides("mongodb+srv://u:<1>@c\n", "mongodb+srv://u:[REDACTED:db_url]@c\n", {"p"});
}

TEST(RedactCases, B30_TokenAsPasswordOfARepository) {
  hides("https://user:<1>@github.com/o/r.git\n", "https://user:[REDACTED:github]@github.com/o/r.git\n", {github_key()});
}

TEST(RedactCases, B31_SignedAndSecretQueries) {
  hides("GET /f?X-Amz-Signature=<1>&x=1\n", "GET /f?X-Amz-Signature=[REDACTED:query]&x=1\n", {hex_text(64, 30)});
  hides("GET /f?access_token=<1>&y=2\n", "GET /f?access_token=[REDACTED:query]&y=2\n", {random_text(40, 31)});
}

TEST(RedactCases, B32_AccountKeyOfAzure) {
  hides("DefaultEndpointsProtocol=https;AccountName=n;AccountKey=<1>;EndpointSuffix=core.windows.net\n",
      "DefaultEndpointsProtocol=https;AccountName=n;AccountKey=[REDACTED:azure];EndpointSuffix=core.windows.net\n",
      {random_text(86, 32) + "=="});
}

// A type, an expression and an assertion are no passwords.
TEST(RedactCases, B33_PasswordInQuotesButNotItsType) {
  hides("password: \"<1>\"\n", "password: \"[REDACTED:password]\"\n", {joined("hunter2", "hunter2")});
  keeps("password: string\npassword?: string;\nexpect(password).toBe(given)\nexpect(password).toBe(\"given\")\n");
}

TEST(RedactCases, B34_NamesBeforeExpressions) {
  keeps(
      "const apiKey = process.env.API_KEY\nconst secret = createHash(\"sha256\")\nlet token = await session.token()\n",
      Lines::may_wait);
}

// As manifests, formatters of code and programs that speak to people write it.
TEST(RedactCases, ValuesOnTheLineBelowTheirName) {
  const std::string value = random_text(24, 71);
  for (const char* before : {"- name: API_KEY\n  value: ", "\"name\": \"DB_SECRET\",\r\n  \"value\": \"",
           "const apiKey: string =\n    \"", "token:\n  ", "Your access token:\r\n\r\n  ", "API_KEY= \\\n  ",
           "master_key =\n '", "  token:\n    \x1b[32m"}) {
    const std::string text = before;
    hides(text + "<1>\n", text + "[REDACTED:generic]\n", {value});
  }
  hides("- name: DB_PASSWORD\n  value: \"<1>\"\n", "- name: DB_PASSWORD\n  value: \"[REDACTED:password]\"\n",
      {joined("Sommer-20", "26xQ9!k")});
  hides("password:\n  <1>\nuser: x\n", "password:\n  [REDACTED:password]\nuser: x\n", {joined("Kw83hf", "Dm2qZx91Lp")});
}

TEST(RedactCases, LinesBelowANameThatAreNoValue) {
  const std::string value = random_text(24, 71);
  for (const char* before : {"the token\n  ", "token:\n\n\n  ", "token: string\n  ", "token:\nname: ", "token:\n# ",
           "token(\n  \"", "API_KEY,\n  "}) {
    keeps(before + value + "\n", Lines::may_wait);
  }
  keeps("password:\n2026-01-15T10:30:00.123Z INFO start\n", Lines::may_wait);
  keeps("password:\n    minLength8AndDigits: true\n", Lines::may_wait);
  hides("secrets:\n  auth0M2mClientSecret: <1>\n", "secrets:\n  auth0M2mClientSecret: [REDACTED:generic]\n", {value});
  hides("token: {\n  \"s3backup2024-access-key\" = \"<1>\"\n",
      "token: {\n  \"s3backup2024-access-key\" = \"[REDACTED:generic]\"\n", {value});
  hides("passwd:\n  db2Prod_pwd: <1>\n", "passwd:\n  db2Prod_pwd: [REDACTED:password]\n", {joined("Zk3pQw", "LmR7x")});
  keeps("secret:\n  secretName: database-credentials\n  key: password\n", Lines::may_wait);
  keeps("const token =\n  await createToken2(session)\n", Lines::may_wait);
  keeps("a line about a token: it leaves at once\nfield of a secret: string\n");
}

}  // namespace
}  // namespace guard::test
