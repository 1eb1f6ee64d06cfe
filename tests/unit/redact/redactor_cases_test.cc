// What the redactor does to which text. Numbers are those of the list of cases. Every case runs through the law
// (redacted(): one chunk, single bytes, 200 random cuts, every single cut, twice), with the cap at every place of the
// output, and with the stream killed at every byte.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "common/output_cap.h"
#include "tests/unit/redact/redact_fixture.h"

namespace guard::test {
namespace {

// "<1>" in `text` stands for secrets[0].
std::string filled(std::string text, const std::vector<std::string>& secrets) {
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    const std::string place = "<" + std::to_string(i + 1) + ">";
    for (std::size_t at = text.find(place); at != std::string::npos; at = text.find(place, at + secrets[i].size())) {
      text.replace(at, place.size(), secrets[i]);
    }
  }
  return text;
}

bool ends_inside_marker(std::string_view text) {
  const std::size_t open = text.rfind("[REDACTED:");
  return open != std::string_view::npos && text.find(']', open) == std::string_view::npos;
}

void hides_at_every_cap(const SecretSource& source, const std::string& text, const std::string& output,
                        const std::vector<std::string>& secrets) {
  for (std::size_t cap = 1; cap <= output.size(); ++cap) {
    MemorySink sink;
    OutputBudget budget(cap);
    OutputCap capped(budget, sink);
    auto redactor = Redactor::create(source, capped);
    ASSERT_TRUE(redactor.has_value());
    ASSERT_TRUE(redactor->push(text).has_value());
    ASSERT_TRUE(redactor->finish().has_value());
    ASSERT_LE(sink.text.size(), cap);
    ASSERT_EQ(output.substr(0, sink.text.size()), sink.text);
    ASSERT_FALSE(ends_inside_marker(sink.text)) << sink.text;
    ASSERT_EQ(budget.kept_bytes() + budget.dropped_bytes(), output.size());
    for (const std::string& secret : secrets)
      ASSERT_FALSE(shows(sink.text, secret)) << "cap " << cap << ": " << sink.text;
  }
}

void hides_when_killed_anywhere(const SecretSource& source, const std::string& text,
                                const std::vector<std::string>& secrets) {
  for (std::size_t size = 1; size <= text.size(); ++size) {
    const std::string out = stream(source, std::string_view(text).substr(0, size), {}, Ending::cut);
    for (const std::string& secret : secrets) ASSERT_FALSE(shows(out, secret)) << "killed at " << size << ": " << out;
  }
}

void check(const SecretSource& source, const std::string& pattern, const std::string& expected,
           const std::vector<std::string>& secrets) {
  const std::string text = filled(pattern, secrets);
  SCOPED_TRACE(pattern);
  EXPECT_EQ(redacted(source, text), expected);
  for (const std::string& secret : secrets) EXPECT_FALSE(shows(expected, secret));
  if (text.size() > 2000) return;
  hides_at_every_cap(source, text, expected, secrets);
  hides_when_killed_anywhere(source, text, secrets);
}

void check(const std::string& pattern, const std::string& expected, const std::vector<std::string>& secrets) {
  check(shipped_kinds(), pattern, expected, secrets);
}

void kept(const std::string& text) {
  SCOPED_TRACE(text.substr(0, 200));
  EXPECT_EQ(redacted(text), text);
}

// --- A: the required kinds, plain

TEST(RedactorCases, A1AnthropicKey) {
  check("key <1> ok\n", "key [REDACTED:anthropic] ok\n", {anthropic_key()});
}

TEST(RedactorCases, A2EveryAnthropicFamily) {
  check("<1>, <2>\n", "[REDACTED:anthropic], [REDACTED:anthropic]\n",
        {anthropic_key("admin01"), anthropic_key("oat01")});
}

TEST(RedactorCases, A3A4A5KeysThatBeginWithSk) {
  check("<1>\n", "[REDACTED:openai]\n", {openai_key()});
  check("<1>\n", "[REDACTED:openai]\n",
        {"sk"
         "-proj-" +
         random_text(20, 21) + "_" + random_text(20, 22) + "-" + random_text(60, 23)});
  check("<1> <2> <3>\n", "[REDACTED:openai] [REDACTED:openrouter] [REDACTED:langfuse]\n",
        {"sk"
         "-svcacct-" +
             random_text(60, 24),
         "sk"
         "-or-v1-" +
             hex_text(64),
         "sk"
         "-lf-" +
             hex_text(8, 1) + "-" + hex_text(4, 2) + "-" + hex_text(4, 3) + "-" + hex_text(4, 4) + "-" +
             hex_text(12, 5)});
}

TEST(RedactorCases, A6ToA10TelegramTokenByName) {
  const std::string name =
      "TELEGRAM_"
      "BOT_TOKEN";
  check(name + "=<1>\n", name + "=[REDACTED:telegram]\n", {telegram_token()});
  check(name + "=\"<1>\"\n", name + "=\"[REDACTED:telegram]\"\n", {telegram_token()});
  check("export MY_" + name + "=<1>\n", "export MY_" + name + "=[REDACTED:telegram]\n", {"x9"});
  check("{ " + name + ": \"<1>\", PATH: \"/usr/bin\" }\n",
        "{ " + name + ": \"[REDACTED:telegram]\", PATH: \"/usr/bin\" }\n", {telegram_token()});
  check("{\"" + name + "\":\"<1>\",\"a\":1}\n", "{\"" + name + "\":\"[REDACTED:telegram]\",\"a\":1}\n",
        {"123:AA" + random_text(33, 25)});
  check("{\\\"" + name + "\\\":\\\"<1>\\\"}", "{\\\"" + name + "\\\":\\\"[REDACTED:telegram]\\\"}", {telegram_token()});
  check(name + "='<1>' x\n", name + "='[REDACTED:telegram]' x\n", {telegram_token()});
  check(name + " = \"<1>\";\n", name + " = \"[REDACTED:telegram]\";\n", {"two words " + random_text(12, 26)});
}

TEST(RedactorCases, A11BareTelegramToken) {
  check("bot <1>/getMe\n", "bot [REDACTED:telegram]/getMe\n", {telegram_token()});
  check("GET /bot<1>/getMe\n", "GET /bot[REDACTED:telegram]/getMe\n", {telegram_token()});
}

TEST(RedactorCases, A12ToA14Base64RunsOfMoreThan100) {
  kept("x " + random_text(100) + " y\n");
  check("x <1> y\n", "x [REDACTED:base64] y\n", {random_text(101)});
  check("x <1>== y\n", "x [REDACTED:base64] y\n", {random_text(101)});
  check("x <1>=== y\n", "x [REDACTED:base64]= y\n", {random_text(102)});
}

TEST(RedactorCases, A15Base64LongerThanAnyBuffer) {
  const std::string secret = random_text(70000, 27);
  EXPECT_EQ(stream(shipped_kinds(), "a " + secret + " b\n", {}), "a [REDACTED:base64] b\n");
  EXPECT_EQ(stream(shipped_kinds(), "a " + secret + " b\n", every_byte(70004)), "a [REDACTED:base64] b\n");
  EXPECT_EQ(stream(shipped_kinds(), "a " + secret + " b\n", random_cuts(70004, 1)), "a [REDACTED:base64] b\n");
}

TEST(RedactorCases, A16ToA19JsonWebTokens) {
  const std::string head =
      "ey"
      "JhbGciOiJIUzI1NiJ9.";
  check("t=<1> u\n", "t=[REDACTED:jwt] u\n", {jwt()});
  check("t=<1> u\n", "t=[REDACTED:jwt] u\n",
        {head +
         "ey"
         "J" +
         random_text(30, 28) + "."});
  check(
      "t=<1> u\n", "t=[REDACTED:jwt] u\n",
      {head + random_text(40, 29) + "." + random_text(16, 30) + "." + random_text(50, 31) + "." + random_text(22, 32)});
  check("t=<1> u\n", "t=[REDACTED:jwt] u\n",
        {head + "." + random_text(16, 33) + "." + random_text(40, 34) + "." + random_text(22, 35)});
  const std::string big = jwt(6000);
  EXPECT_EQ(stream(shipped_kinds(), "t=" + big + " u\n", every_byte(big.size() + 5)), "t=[REDACTED:jwt] u\n");
}

TEST(RedactorCases, A20AuthorizationHeaders) {
  check("Authorization: Bearer <1>\n", "Authorization: Bearer [REDACTED:authorization]\n", {random_text(40, 36)});
  check("authorization: basic <1>\n", "authorization: basic [REDACTED:authorization]\n", {random_text(24, 37) + "="});
  check("{\"authorization\":\"Bearer <1>\"}", "{\"authorization\":\"Bearer [REDACTED:authorization]\"}",
        {random_text(40, 36)});
  check("curl -H \"bearer <1>\"\n", "curl -H \"bearer [REDACTED:authorization]\"\n", {random_text(40, 36)});
}

// --- B: those of the other kinds that have a fixed beginning

TEST(RedactorCases, B21ToB27KindsWithAPrefix) {
  const std::string upper = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";
  const std::vector<std::pair<std::string, std::string>> kinds = {
      {"aws",
       "AK"
       "IA" +
           random_text(16, 41, upper)},
      {"aws",
       "AS"
       "IA" +
           random_text(16, 42, upper)},
      {"github",
       "gh"
       "p_" +
           random_text(36, 43)},
      {"github",
       "gh"
       "s_" +
           random_text(36, 44)},
      {"github",
       "github"
       "_pat_" +
           random_text(22, 45) + "_" + random_text(59, 46)},
      {"gitlab",
       "gl"
       "pat-" +
           random_text(20, 47)},
      {"gitlab",
       "gl"
       "pat-" +
           random_text(27, 48) + ".01." + random_text(9, 49)},
      {"slack",
       "xo"
       "xb-" +
           random_text(12, 50, "0123456789") + "-" + random_text(24, 51)},
      {"slack",
       "xa"
       "pp-1-" +
           random_text(30, 52)},
      {"google",
       "AI"
       "za" +
           random_text(35, 53)},
      {"google",
       "ya"
       "29." +
           random_text(60, 54)},
      {"stripe",
       "sk"
       "_live_" +
           random_text(24, 55)},
      {"stripe",
       "rk"
       "_live_" +
           random_text(24, 56)},
      {"stripe",
       "wh"
       "sec_" +
           random_text(32, 57)},
      {"sendgrid",
       "S"
       "G." +
           random_text(22, 58) + "." + random_text(43, 59)},
      {"npm",
       "np"
       "m_" +
           random_text(36, 60)},
      {"pypi",
       "py"
       "pi-AgEI" +
           random_text(70, 61)},
      {"huggingface",
       "h"
       "f_" +
           random_text(34, 62)},
      {"groq",
       "gs"
       "k_" +
           random_text(52, 63)},
      {"xai",
       "xa"
       "i-" +
           random_text(80, 64)},
      {"docker",
       "dckr"
       "_pat_" +
           random_text(27, 65)},
      {"age",
       "AGE-SECRET"
       "-KEY-1" +
           random_text(58, 66, "023456789ACDEFGHJKLMNPQRSTUVWXYZ")},
  };
  for (const auto& [kind, secret] : kinds) check("(<1>)\n", "([REDACTED:" + kind + "])\n", {secret});
  check("https://hooks.slack.com/services/<1>\n", "https://hooks.slack.com/services/[REDACTED:slack]\n",
        {"T01ABCDEF/B01ABCDEF/" + random_text(24, 67)});
  check("https://user:<1>@github.com/o/r.git\n", "https://user:[REDACTED:github]@github.com/o/r.git\n",
        {"gh"
         "p_" +
         random_text(36, 43)});
  kept("pk_live_" + random_text(24, 68) + "\n");
}

// --- C: PEM keys

// The lines between BEGIN and END: what must not be seen.
std::vector<std::string> bodies(int lines) {
  std::vector<std::string> all;
  for (int i = 0; i < lines; ++i) all.push_back(random_text(64, 100 + static_cast<unsigned>(i)));
  return all;
}

void check_pem(const std::string& text, const std::string& expected, int lines) {
  SCOPED_TRACE(text.substr(0, 60));
  EXPECT_EQ(redacted(text), expected);
  hides_when_killed_anywhere(shipped_kinds(), text, bodies(lines));
  hides_at_every_cap(shipped_kinds(), text, expected, bodies(lines));
}

TEST(RedactorCases, C35C36PemBlock) {
  check_pem("key:\n" + pem() + "\nafter\n", "key:\n[REDACTED:pem]\nafter\n", 24);
  check_pem("key:\r\n" + pem("PRIVATE KEY", "\r\n", "", 4) + "\r\nafter\r\n", "key:\r\n[REDACTED:pem]\r\nafter\r\n", 4);
}

TEST(RedactorCases, C37IndentedOrBehindAGutter) {
  check_pem(pem("PRIVATE KEY", "\n", "    ", 4) + "\n    after\n", "    [REDACTED:pem]\n    after\n", 4);
  check_pem(pem("PRIVATE KEY", "\n", "12 | ", 4) + "\n13 | after()\n", "12 | [REDACTED:pem]\n13 | after()\n", 4);
}

TEST(RedactorCases, C38JsonEscapedOnOneLine) {
  check_pem("{\"key\":\"" + pem("PRIVATE KEY", "\\n", "", 4) + "\\n\",\"b\":1}\n",
            "{\"key\":\"[REDACTED:pem]\\n\",\"b\":1}\n", 4);
  check_pem("'" + pem("RSA PRIVATE KEY", "\\n", "", 24) + "' rest\n", "'[REDACTED:pem]' rest\n", 24);
}

TEST(RedactorCases, C39BeginWithoutEnd) {
  const std::string all = pem("PRIVATE KEY", "\n", "", 4);
  const std::string open = all.substr(0, all.rfind("-----END"));
  check_pem(open, "[REDACTED:pem]\n", 4);
  check_pem(open.substr(0, open.size() - 20), "[REDACTED:pem]", 4);
  check_pem(open + "error: no more (at x.ts:3)\n", "[REDACTED:pem]\nerror: no more (at x.ts:3)\n", 4);
}

TEST(RedactorCases, C40BodyIsBounded) {
  const std::string dashes(5, '-');
  const std::string junk = repeat(random_text(64, 70) + "\n", 16000);
  const std::string text =
      dashes + "BEGIN PRIVATE KEY" + dashes + "\n" + junk + dashes + "END PRIVATE KEY" + dashes + "\nafter\n";
  const std::string out = stream(shipped_kinds(), text, random_cuts(text.size(), 3));
  EXPECT_EQ(out, stream(shipped_kinds(), text, {}));
  EXPECT_TRUE(out.starts_with("[REDACTED:pem]\n"));
  EXPECT_TRUE(out.ends_with("\nafter\n"));
  EXPECT_GT(out.size(), text.size() - 17000);
  EXPECT_LT(out.size(), text.size() - 16000);
}

TEST(RedactorCases, C41PrivateLabelsOnly) {
  kept(pem("CERTIFICATE", "\n", "", 4) + "\n");
  kept(pem("PUBLIC KEY", "\n", "", 4) + "\n");
  for (const char* label :
       {"OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"}) {
    check_pem(pem(label, "\n", "", 3) + "\nx\n", "[REDACTED:pem]\nx\n", 3);
  }
  const std::string dashes(5, '-');
  check_pem(dashes + "BEGIN RSA PRIVATE KEY" + dashes + "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n" +
                bodies(1)[0] + "\n" + dashes + "END RSA PRIVATE KEY" + dashes + "\nx\n",
            "[REDACTED:pem]\nx\n", 1);
}

TEST(RedactorCases, C42StackedKeysForeignEndsAndProse) {
  check_pem(pem("PRIVATE KEY", "\n", "", 2) + "\n" + pem("EC PRIVATE KEY", "\n", "", 2) + "\nx\n",
            "[REDACTED:pem]\n[REDACTED:pem]\nx\n", 2);
  std::string foreign = pem("PRIVATE KEY", "\n", "", 2);
  foreign.replace(foreign.find("END PRIVATE"), 11, "END PUBLIC");
  check_pem(foreign + "\nx\n", "[REDACTED:pem]\nx\n", 2);
  const std::string dashes(5, '-');
  kept("const head = \"" + dashes + "BEGIN \" + type + \"" + dashes + "\"\n");
  kept("expect(text).toContain(\"" + dashes + "BEGIN PRIVATE KEY" + dashes + "\")\n");
  kept("A file that starts with " + dashes + "BEGIN PRIVATE KEY" + dashes + " is a key.\n");
}

// --- D: known values

const std::string kValue = "x9Kx9Lq-" + random_text(32, 71);

std::string base64_of(std::string_view bytes) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : alphabet[(bits >> (18 - 6 * k)) & 63];
  }
  return out;
}

TEST(RedactorCases, D45KnownValue) {
  const SecretSource source = source_with({{"TOKEN", kValue}});
  check(source, "a <1> b\n", "a [REDACTED:env:TOKEN] b\n", {kValue});
  check(source, "a<1>b\n", "a[REDACTED:env:TOKEN]b\n", {kValue});
}

TEST(RedactorCases, D46ToD48KnownValueInBase64AndHex) {
  const SecretSource source = source_with({{"TOKEN", kValue}});
  for (const std::string before : {"", "u:", "ab", "xyz"}) {
    for (const std::string after : {"", "\n", "??"}) {
      const std::string out = redacted(source, "a " + base64_of(before + kValue + after) + " b\n");
      EXPECT_NE(out.find("[REDACTED:env:TOKEN]"), std::string::npos);
      EXPECT_FALSE(shows(out, base64_of(before + kValue + after).substr(8, 44))) << out;
    }
  }
  std::string lower;
  for (const char c : kValue) lower += fmt::format("{:02x}", c);
  std::string upper;
  for (const char c : kValue) upper += fmt::format("{:02X}", c);
  check(source, "(<1>)\n(<2>)\n", "([REDACTED:env:TOKEN])\n([REDACTED:env:TOKEN])\n", {lower, upper});
}

TEST(RedactorCases, D49PercentEncoding) {
  const SecretSource source = source_with({{"TOKEN", "p@ss w/rd+Kq7:zz"}, {"LONG", "a/b c+" + random_text(30, 61)}});
  for (const std::string spelled : {"p%40ss%20w%2Frd%2BKq7%3Azz", "p%40ss%20w%2frd%2bKq7%3azz", "p%40ss+w%2Frd%2BKq7%3Azz"}) {
    check(source, "?q=<1>&x=1\n", "?q=[REDACTED:env:TOKEN]&x=1\n", {spelled});
  }
  check(source, "?q=<1>\n", "?q=[REDACTED:env:LONG]\n", {"a%2Fb%20c%2B" + random_text(30, 61)});
}

TEST(RedactorCases, D50JsonAndJavaScriptEscapes) {
  const SecretSource source = source_with({{"TOKEN", "q\"b\\s/\xc3\xa9-Kq7zw"}, {"LINES", "Kq7 first\n9xsecond"}});
  for (const std::string spelled : {"q\\\"b\\\\s/\xc3\xa9-Kq7zw", "q\\\"b\\\\s/\\u00e9-Kq7zw", "q\\\"b\\\\s\\/\\u00E9-Kq7zw", "q\"b\\\\s/\\xe9-Kq7zw"}) {
    check(source, "(<1>)\n", "([REDACTED:env:TOKEN])\n", {spelled});
  }
  check(source, "(<1>)\n", "([REDACTED:env:LINES])\n", {"Kq7 first\\n9xsecond"});
}

TEST(RedactorCases, D51D52ShellAndHtml) {
  const SecretSource source = source_with({{"TOKEN", "it's<Kq7>&\"9x\""}});
  for (const std::string spelled :
       {"it'\\''s<Kq7>&\"9x\"", "it&#39;s&lt;Kq7&gt;&amp;&quot;9x&quot;", "it&#x27;s&lt;Kq7&gt;&amp;&quot;9x&quot;", "it's&lt;Kq7&gt;&amp;\"9x\""}) {
    check(source, "(<1>)\n", "([REDACTED:env:TOKEN])\n", {spelled});
  }
}

TEST(RedactorCases, D57TextsOfAJsonValue) {
  const std::string leaf = "Kq7-" + random_text(20, 62);
  const SecretSource source =
      source_with({{"ACCOUNT", "{\n  \"type\": \"production\",\n  \"key\": \"" + leaf + "\",\n  \"list\": [\"9x-Leaf-Two\"]\n}"}});
  check(source, "key is <1> and <2>\n", "key is [REDACTED:env:ACCOUNT] and [REDACTED:env:ACCOUNT]\n", {leaf, "9x-Leaf-Two"});
  EXPECT_EQ(redacted(source, "{ } production list\n"), "{ } production list\n");
}

TEST(RedactorCases, D53SelfOverlappingBeginning) {
  const SecretSource source = source_with({{"TOKEN", kValue}});
  check(source, "x9K<1> b\n", "x9K[REDACTED:env:TOKEN] b\n", {kValue});
}

TEST(RedactorCases, D54D55OverlappingValues) {
  const std::string a = random_text(24, 72) + "shared_part_00";
  const std::string b = "shared_part_00" + random_text(24, 73);
  const SecretSource source = source_with({{"A", a}, {"B", b}});
  EXPECT_EQ(redacted(source, "(" + a + b.substr(14) + ")"), "([REDACTED:env:A])");
  const SecretSource nested = source_with({{"SHORT", a.substr(0, 20)}, {"LONG", a}});
  EXPECT_EQ(redacted(nested, "(" + a + ")"), "([REDACTED:env:SHORT])");
}

TEST(RedactorCases, D56ValueOfSeveralLines) {
  const std::string value = "first-line-" + random_text(12, 74) + "\n  second-line-" + random_text(12, 75) + "\n{\n";
  const SecretSource source = source_with({{"CERT", value}});
  EXPECT_EQ(
      redacted(source, "    first-line-" + random_text(12, 74) + "\n\tsecond-line-" + random_text(12, 75) + "\n{ }\n"),
      "    [REDACTED:env:CERT]\n\t[REDACTED:env:CERT]\n{ }\n");
}

TEST(RedactorCases, D58D60ValuesThatCannotBeHiddenAreNamed) {
  const SecretSource source = source_with({{"MODE", "dev"},
                                           {"EMPTY", ""},
                                           {"NEWLINE", "\n"},
                                           {"FLAG", "true"},
                                           {"BIN", "/usr/bin"},
                                           {"URL", "http://localhost:3000"},
                                           {"STARS", "********"},
                                           {"MARKER", "REDACTED:env"},
                                           {"GOOD", kValue}});
  std::vector<std::string> names;
  for (const auto& [name, reason] : source.refused()) {
    names.push_back(name);
    EXPECT_FALSE(reason.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"MODE", "EMPTY", "NEWLINE", "FLAG", "BIN", "URL", "STARS", "MARKER"}));
  const std::string text = "dev true /usr/bin http://localhost:3000 ******** \n\n";
  EXPECT_EQ(redacted(source, text), text);
}

TEST(RedactorCases, D59FragmentOfSixteenBytes) {
  const SecretSource source = source_with({{"TOKEN", kValue}});
  check(source, "Expected: \"<1>...\"\n", "Expected: \"[REDACTED:env:TOKEN]...\"\n", {kValue.substr(0, 20)});
  EXPECT_EQ(redacted(source, "-" + kValue.substr(9, 15) + "-"), "-" + kValue.substr(9, 15) + "-");
  EXPECT_EQ(redacted(source, "-" + kValue.substr(9, 16) + "-"), "-[REDACTED:env:TOKEN]-");
}

TEST(RedactorCases, DShortValueIsHiddenWhole) {
  const SecretSource source = source_with({{"PASS", "hunter2-pw"}});
  check(source, "login hunter2 <1> ok\n", "login hunter2 [REDACTED:env:PASS] ok\n", {"hunter2-pw"});
}

TEST(RedactorCases, DValueLongerThanAPiece) {
  const std::string value = random_text(1500, 76);
  const SecretSource source = source_with({{"BLOB", value}});
  EXPECT_EQ(redacted(source, "a " + value.substr(200, 90) + " " + value.substr(700, 60) + " b"),
            "a [REDACTED:env:BLOB] [REDACTED:env:BLOB] b");
}

// --- E: what must not be hidden

TEST(RedactorCases, E61E62HashesAndIds) {
  kept("commit " + hex_text(40) + "\nsha256:" + hex_text(64) + " md5 " + hex_text(32) + "\n");
  kept("id 123e4567-e89b-12d3-a456-426614174000 01ARZ3NDEKTSV4RRFFQ69G5FAV etag: \"" + hex_text(32) + "\"\n");
  kept("\"integrity\": \"sha512-" + random_text(86, 80) + "==\",\n");
}

TEST(RedactorCases, E64LinesOfBun) {
  kept(
      "bun test v1.1.30 (7996d06b)\n\nsandbox/x.test.ts:\n\xE2\x9C\x93 adds [0.42ms]\n(pass) a > b\n(fail) c "
      "[1.00ms]\n\n 12 pass\n 0 fail\n"
      "Ran 12 tests across 3 files. [85.00ms]\n-----------|---------|---------|\nFile       | % Funcs | % Lines |\n"
      "   3 | expect(a).toBe(b)\n               ^\n      at <anonymous> (/app/x.test.ts:3:5)\n");
}

TEST(RedactorCases, E65MinifiedCode) {
  const std::string code = repeat("function a(b,c){return b.map(d=>d*c)};var e=a([1,2],3);", 1200);
  EXPECT_EQ(stream(shipped_kinds(), code, random_cuts(code.size(), 5)), code);
}

TEST(RedactorCases, E66SourceMapMappings) {
  kept("{\"mappings\":\"" + repeat("AAAA,CAAC;AACA,SAAS,", 20) + "\"}\n");
}

TEST(RedactorCases, E67E68InlineData) {
  check("//# sourceMappingURL=data:application/json;base64,<1>\n",
        "//# sourceMappingURL=data:application/json;base64,[REDACTED:jwt]\n",
        {"ey"
         "J" +
         random_text(200, 81)});
  check("url(data:image/png;base64,<1>)\n", "url(data:image/png;base64,[REDACTED:base64])\n",
        {"iVBOR" + random_text(300, 82)});
}

TEST(RedactorCases, E69VendorPrefixInsideShortBase64) {
  kept(
      "data:image/png;base64,iVBORw0KGgo"
      "AK"
      "IA" +
      random_text(16, 83, "ABCDEFGH23") + "AAAElFTkSuQmCC\n");
}

TEST(RedactorCases, E70WordsThatEndInSk) {
  kept(
      "risk-assessment-framework-2024-final mask-radial-from-closest-side task-0123456789-abcdefghij-xyz "
      "desk-0123456789abcdefghijkl\n");
  kept("sk-folding-cube-container-wrapper sk-cube1\n");
  kept("task-ant-design-components-table-2024-01\n");
}

TEST(RedactorCases, E71NamesWithoutValues) {
  const std::string name =
      "TELEGRAM_"
      "BOT_TOKEN";
  kept("sk- and sk-ant- and /sk-ant-[\\w-]+/ and sk-... \n");
  kept(name + "=\n" + name + "=$TOKEN\n" + name + "=<your token>\n" + name + ": string\n" + name + " = process.env." +
       name + ";\n");
  kept("const token = process.env." + name + ";\nif (!" + name + ") throw new Error('no')\n");
  check("<1>\n", "[REDACTED:anthropic]\n",
        {"sk"
         "-ant-" +
         std::string(30, 'x')});
}

TEST(RedactorCases, E72RepeatedLetterIsHiddenAllTheSame) {
  EXPECT_EQ(redacted(std::string(200, 'x') + "\n"), "[REDACTED:base64]\n");
}

TEST(RedactorCases, E74Rulers) {
  for (const char c : {'=', '-', '_', '/', '+', '*', '#'}) kept(std::string(200, c) + "\n");
  kept("//" + std::string(150, '/') + " section\n");
}

TEST(RedactorCases, E75MarkersInTheInput) {
  const std::string name =
      "TELEGRAM_"
      "BOT_TOKEN";
  kept("[REDACTED:jwt] [REDACTED:env:NAME]\n" + name + "=[REDACTED:telegram]\n");
  check(name + "=[REDACTED:x]<1>\n", name + "=[REDACTED:x][REDACTED:telegram]\n", {"tail" + random_text(20, 84)});
}

// --- F: escapes, encodings, binary

TEST(RedactorCases, F76KeyGluedToAColour) {
  check("\x1b[32m<1>\x1b[0m\n", "\x1b[32m[REDACTED:anthropic]\x1b[0m\n", {anthropic_key()});
  check("\x1b[32m<1>\x1b[0m\n", "\x1b[32m[REDACTED:openai]\x1b[0m\n", {openai_key()});
  check("\x1b[38;5;196m<1>\x1b[0m\n", "\x1b[38;5;196m[REDACTED:base64]\x1b[0m\n", {random_text(120, 86)});
  check("\\n<1>\\n", "\\n[REDACTED:openai]\\n", {openai_key()});
  check("x%3D<1>%26", "x%3D[REDACTED:openai]%26", {openai_key()});
}

TEST(RedactorCases, F77EscapeInsideAKey) {
  const std::string sk_ant = std::string("sk-") + "ant-";
  check(sk_ant + "\x1b[1;38;5;196m<1>\x1b[0m\n", "[REDACTED:anthropic]\x1b[1;38;5;196m\x1b[0m\n", {random_text(40, 87)});
}

TEST(RedactorCases, F78Links) {
  check("\x1b]8;;https://h/?access_token=<1>\x1b\\text\x1b]8;;\x1b\\\n",
        redacted(filled("\x1b]8;;https://h/?access_token=<1>\x1b\\text\x1b]8;;\x1b\\\n", {openai_key()})), {openai_key()});
  kept("an \x1b]8;;https://h/ that never ends");
  kept("a \x1b[38;5;");
}

TEST(RedactorCases, F79InvisibleCharacters) {
  const std::string key = anthropic_key();
  check("<1>\n", "[REDACTED:anthropic]\n", {key.substr(0, 30) + "\xe2\x80\x8b" + key.substr(30)});
  check("<1>\n", "[REDACTED:anthropic]\n", {key.substr(0, 5) + "\xc2\xad" + key.substr(5)});
  const std::string part = key.substr(0, 24);
  EXPECT_FALSE(shows(redacted(part + "\r" + key + "\n"), key));
}

// Look-alikes of letters are not folded: no program prints its own keys in them.
TEST(RedactorCases, F80FullwidthLettersAreKept) { kept("\xef\xbd\x93\xef\xbd\x8b-" + random_text(30, 88) + "\n"); }

TEST(RedactorCases, F82KnownValueInUtf16) {
  const SecretSource source = source_with({{"TOKEN", kValue}});
  std::string wide;
  for (const char c : kValue) wide += std::string(1, c) + std::string(1, '\0');
  EXPECT_EQ(redacted(source, wide), "[REDACTED:env:TOKEN]" + std::string(1, '\0'));
}

TEST(RedactorCases, F81InvalidUtf8) {
  check(
      "\xff<1>\xff"
      "rest\n",
      "\xff[REDACTED:openai]\xff"
      "rest\n",
      {"sk"
       "-" +
       random_text(20, 85)});
}

// --- G: caps and floods (the cap at every offset is part of check())

TEST(RedactorCases, G83StreamsAreApartAndTheCapIsShared) {
  const std::string key = anthropic_key();
  MemorySink saved;
  OutputBudget budget(81920);
  OutputCap out_cap(budget, saved);
  OutputCap err_cap(budget, saved);
  auto out = Redactor::create(shipped_kinds(), out_cap);
  auto err = Redactor::create(shipped_kinds(), err_cap);
  ASSERT_TRUE(out.has_value() && err.has_value());
  ASSERT_TRUE(out->push(std::string_view(key).substr(0, 50)).has_value());
  ASSERT_TRUE(err->push(std::string_view(key).substr(50)).has_value());
  ASSERT_TRUE(out->finish().has_value());
  ASSERT_TRUE(err->finish().has_value());
  EXPECT_FALSE(saved.text.find(key) != std::string::npos);
  EXPECT_FALSE(shows(saved.text, key.substr(0, 50)));
}

TEST(RedactorCases, G83SavedSizeStaysUnderTheCapThoughMarkersAreLonger) {
  std::string text;
  for (int i = 0; i < 9000; ++i)
    text +=
        "AK"
        "IA" +
        random_text(16, static_cast<unsigned>(i), "ABCDEFGH234567") + " ";
  MemorySink saved;
  OutputBudget budget(81920);
  OutputCap cap(budget, saved);
  auto redactor = Redactor::create(shipped_kinds(), cap);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(text).has_value());
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_LE(saved.text.size(), 81920u);
  EXPECT_GT(saved.text.size(), 81900u);
  EXPECT_FALSE(ends_inside_marker(saved.text));
  EXPECT_EQ(redactor->counts().at("aws"), 9000u);
}

// Linear time is shown by these being over: each is a megabyte of candidates.
TEST(RedactorCases, G84FloodsComeToAnEnd) {
  const SecretSource source =
      source_with({{"TOKEN", kValue}, {"PASS", "abcabcabcabd"}, {"WAVE", "abcdabcdabcdabcdabcdabcd"}});
  const std::size_t size = 1 << 20;
  for (const std::string piece : {"sk-",
                                  "sk- ",
                                  "ey"
                                  "J",
                                  "ey"
                                  "J.",
                                  "-----BEGIN ",
                                  "-----BEGIN PRIVATE KEY-----\n",
                                  "a",
                                  "://:",
                                  "abc",
                                  "abcd",
                                  "AK"
                                  "IA",
                                  "TELEGRAM_"
                                  "BOT_TOKEN",
                                  "TELEGRAM_"
                                  "BOT_TOKEN=a,",
                                  "123456789:AA",
                                  "authorization: ",
                                  "bearer ",
                                  "-",
                                  "_",
                                  "/",
                                  "x9Kx9",
                                  "[REDACTED:",
                                  "a-B",
                                  "9",
                                  "\r",
                                  "\n",
                                  "Bearer a."}) {
    SCOPED_TRACE(piece);
    const std::string text = repeat(piece, size / piece.size());
    MemorySink big;
    auto redactor = Redactor::create(source, big);
    ASSERT_TRUE(redactor.has_value());
    ASSERT_TRUE(redactor->push(text).has_value());
    EXPECT_LE(redactor->carried_bytes(), Redactor::kCarryBytesMax);
    ASSERT_TRUE(redactor->finish().has_value());
    const std::string part = text.substr(0, size / 16);
    EXPECT_EQ(stream(source, part, random_cuts(part.size(), 9)), stream(source, part, {}));
    const std::string beginning = text.substr(0, 2000);
    EXPECT_EQ(stream(source, beginning, every_byte(beginning.size())), redact_whole(source, beginning).value_or(""));
  }
}

TEST(RedactorCases, G84AMillionSingleBytes) {
  const std::string text = repeat("an ordinary line of output, 12 pass\n", 30000);
  EXPECT_EQ(stream(shipped_kinds(), text, every_byte(text.size())), text);
}

// --- what leaves when

std::string after_push(std::string_view text) {
  MemorySink sink;
  auto redactor = Redactor::create(shipped_kinds(), sink);
  EXPECT_TRUE(redactor.has_value());
  EXPECT_TRUE(redactor->push(text).has_value());
  return sink.text;
}

TEST(Redactor, FinishedLineLeavesAtOnce) {
  EXPECT_EQ(after_push("(pass) a > b\n"), "(pass) a > b\n");
  EXPECT_EQ(after_push("key " + openai_key() + " ok\n"), "key [REDACTED:openai] ok\n");
  EXPECT_EQ(after_push("a line that is long and ends in an ordinary word\n"), "a line that is long and ends in an ordinary word\n");
  EXPECT_EQ(after_push("TELEGRAM_"
                       "BOT_TOKEN=x\n"),
            "TELEGRAM_"
            "BOT_TOKEN=[REDACTED:telegram]\n");
}

// A terminal may have broken the key: the next line's first bytes tell.
TEST(Redactor, LineThatEndsInAKeyHoldsItsEnd) {
  EXPECT_EQ(after_push("key " + openai_key() + "\n"), "key [REDACTED:openai]");
  EXPECT_EQ(after_push("key " + openai_key() + "\nd"), "key [REDACTED:openai]");
  EXPECT_EQ(after_push("key " + openai_key() + "\nd "), "key [REDACTED:openai]\nd ");
}

TEST(Redactor, DotsOfProgressLeaveAtOnce) {
  EXPECT_EQ(after_push("...."), "....");
}

TEST(Redactor, UndecidedLineWaits) {
  EXPECT_EQ(after_push("key sk-"), "key ");
  EXPECT_EQ(after_push("a line\nkey " + openai_key()), "a line\nkey ");
}

TEST(Redactor, CountsRegionsPerKind) {
  MemorySink sink;
  auto redactor = Redactor::create(shipped_kinds(), sink);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(openai_key() + " " + openai_key() + " " + jwt() + "\n").has_value());
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_EQ(redactor->counts(), (std::map<std::string, std::uint64_t>{{"openai", 2}, {"jwt", 1}}));
}

// A sink that fails once must never see anything again, not even what was held back.
TEST(Redactor, NothingLeavesAfterAFailure) {
  class FailingSink final : public ByteSink {
   public:
    Result<void> push(std::span<const char>) override {
      ++pushes;
      return Error(ErrorCode::io_error, "the disk is full");
    }
    Result<void> finish() override { return ok(); }
    int pushes = 0;
  };
  FailingSink sink;
  auto redactor = Redactor::create(shipped_kinds(), sink);
  ASSERT_TRUE(redactor.has_value());
  EXPECT_FALSE(redactor->push(std::string_view("line\nsk-")).has_value());
  const int pushes = sink.pushes;
  const auto again = redactor->push(std::string_view("more\n"));
  ASSERT_FALSE(again.has_value());
  EXPECT_EQ(again.error().code(), ErrorCode::withheld);
  EXPECT_FALSE(redactor->finish().has_value());
  EXPECT_EQ(sink.pushes, pushes);
}

TEST(Redactor, DroppedWithoutFinishKeepsItsTailToItself) {
  MemorySink sink;
  {
    auto redactor = Redactor::create(shipped_kinds(), sink);
    ASSERT_TRUE(redactor.has_value());
    ASSERT_TRUE(redactor->push(std::string_view("key sk-ant-abc")).has_value());
  }
  EXPECT_EQ(sink.text, "key ");
  EXPECT_FALSE(sink.finished);
}

// A killed program's last words are shown if they are words.
TEST(Redactor, ForcedEndShowsOrdinaryWords) {
  EXPECT_EQ(stream(shipped_kinds(), "waiting for connection", {}, Ending::cut), "waiting for connection");
  EXPECT_EQ(stream(shipped_kinds(), "key sk-ant", {}, Ending::cut), "key [REDACTED:anthropic]");
  EXPECT_EQ(stream(shipped_kinds(),
                   "TELEGRAM_"
                   "BOT_TOKEN ",
                   {}, Ending::cut),
            "TELEGRAM_"
            "BOT_TOKEN[REDACTED:telegram]");
}

}  // namespace
}  // namespace guard::test
