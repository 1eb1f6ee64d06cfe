// What the redactor does to which text, C: PEM keys and other secrets of several lines. Numbers are those of the list
// of cases.
#include "tests/support/redact/redact_case.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

const std::string kDashes(5, '-');
const std::string kBegin = joined(kDashes, "BEGIN PRIVATE", " KEY", kDashes);

std::string body_line(int i) { return random_text(64, 100 + static_cast<unsigned>(i)); }

// The lines between BEGIN and END: what must not be seen.
std::vector<std::string> bodies(int lines) {
  std::vector<std::string> all;
  for (int i = 0; i < lines; ++i) all.push_back(body_line(i));
  return all;
}

void hides_pem(const std::string& text, const std::string& expected, int lines) {
  check(shipped_kinds(), {text, expected, bodies(lines), Begun::pem});
}

TEST(RedactCases, C35_WholeKeyIsOneMarker) {
  hides_pem("key:\n" + pem() + "\nafter\n", "key:\n[REDACTED:pem]\nafter\n", 24);
}

TEST(RedactCases, C36_WindowsLineEnds) {
  hides_pem("key:\r\n" + pem("PRIVATE KEY", "\r\n", "", 4) + "\r\nafter\r\n", "key:\r\n[REDACTED:pem]\r\nafter\r\n", 4);
}

TEST(RedactCases, C37_IndentedOrBehindAGutter) {
  hides_pem(pem("PRIVATE KEY", "\n", "    ", 4) + "\n    after\n", "    [REDACTED:pem]\n    after\n", 4);
  hides_pem(pem("PRIVATE KEY", "\n", "12 | ", 4) + "\n13 | after()\n", "12 | [REDACTED:pem]\n13 | after()\n", 4);
}

TEST(RedactCases, C38_EscapedOnOneLine) {
  hides_pem("{\"key\":\"" + pem("PRIVATE KEY", "\\n", "", 4) + "\\n\",\"b\":1}\n",
      "{\"key\":\"[REDACTED:pem]\\n\",\"b\":1}\n", 4);
  hides_pem("'" + pem("RSA PRIVATE KEY", "\\n", "", 24) + "' rest\n", "'[REDACTED:pem]' rest\n", 24);
}

TEST(RedactCases, C39_BeginWithoutEnd) {
  const std::string all = pem("PRIVATE KEY", "\n", "", 4);
  const std::string open = all.substr(0, all.rfind("-----END"));
  hides_pem(open, "[REDACTED:pem]\n", 4);
  hides_pem(open.substr(0, open.size() - 20), "[REDACTED:pem]", 4);
  hides_pem(open + "error: no more (at x.ts:3)\n", "[REDACTED:pem]\nerror: no more (at x.ts:3)\n", 4);
}

// Nothing proves that body-shaped lines are a key: a bounded part of them is hidden, then output is shown again.
TEST(RedactCases, C40_BodyIsBounded) {
  std::string junk;
  for (int i = 0; i < 16000; ++i) junk += body_line(i % 97) + "\n";
  const std::string text = kBegin + "\n" + junk + joined(kDashes, "END PRIVATE", " KEY", kDashes) + "\nafter\n";
  const std::string out = stream(shipped_kinds(), text, {});
  for (unsigned seed = 0; seed < 20; ++seed)
    ASSERT_EQ(stream(shipped_kinds(), text, random_cuts(text.size(), seed)), out);
  EXPECT_EQ(stream(shipped_kinds(), text, every_byte(text.size())), out);
  EXPECT_EQ(redact_whole(shipped_kinds(), text).value_or(""), out);
  EXPECT_TRUE(out.starts_with("[REDACTED:pem]\n")) << out.substr(0, 200);
  EXPECT_TRUE(out.ends_with("\nafter\n"));
  EXPECT_GT(out.size(), text.size() - 17000);
  EXPECT_LT(out.size(), text.size() - 16000);
  EXPECT_EQ(stream(shipped_kinds(), out, {}), out) << "second pass";
}

TEST(RedactCases, C41_PrivateLabelsOnly) {
  keeps(pem("CERTIFICATE", "\n", "", 4) + "\n", Lines::may_wait);
  keeps(pem("PUBLIC KEY", "\n", "", 4) + "\n", Lines::may_wait);
  for (const char* label :
      {"OPENSSH PRIVATE KEY", "EC PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "PGP PRIVATE KEY BLOCK"}) {
    hides_pem(pem(label, "\n", "", 3) + "\nx\n", "[REDACTED:pem]\nx\n", 3);
  }
  hides_pem(
      joined(kDashes, "BEGIN RSA PRIVATE", " KEY", kDashes, "\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,0011\n\n",
          body_line(0), "\n", kDashes, "END RSA PRIVATE", " KEY", kDashes, "\nx\n"),
      "[REDACTED:pem]\nx\n", 1);
}

TEST(RedactCases, C42_StackedKeysForeignEndsAndProse) {
  hides_pem(pem("PRIVATE KEY", "\n", "", 2) + "\n" + pem("EC PRIVATE KEY", "\n", "", 2) + "\nx\n",
      "[REDACTED:pem]\n[REDACTED:pem]\nx\n", 2);
  std::string foreign = pem("PRIVATE KEY", "\n", "", 2);
  foreign.replace(foreign.find("END PRIVATE"), 11, "END PUBLIC");
  hides_pem(foreign + "\nx\n", "[REDACTED:pem]\nx\n", 2);
  keeps("const head = \"" + kDashes + "BEGIN \" + type + \"" + kDashes + "\"\n");
  keeps("expect(text).toContain(\"" + kBegin + "\")\n");
  keeps("A file that starts with " + kBegin + " is a key.\n");
  keeps("----- BEGIN PRIVATE KEY -----\n");
}

TEST(RedactCases, C43_Base64ThatWasBrokenIntoLines) {
  const std::string a = random_text(76, 15);
  const std::string b = random_text(76, 16);
  const std::string c = random_text(76, 17);
  const std::string end = random_text(20, 18) + "==";
  hides("data:\n<1>\n<2>\n<3>\n<4>\nafter\n", "data:\n[REDACTED:base64]\nafter\n", {a, b, c, end}, Begun::without_one);
  hides("data:\r\n  <1>\r\n  <2>\r\n  <3>\r\nafter\r\n", "data:\r\n  [REDACTED:base64]\r\nafter\r\n", {a, b, c},
      Begun::without_one);
  const std::string words = "TheQuickBrownFoxJumpsOverTheLazyDogAndThenRunsAway";
  ASSERT_EQ(words.size(), 50u);
  keeps(words + "\n" + words + "\nafter\n", Lines::may_wait);
  keeps(random_text(76, 15) + "\n" + random_text(76, 16) + "\nafter\n", Lines::may_wait);  // two lines are no block
}

TEST(RedactCases, C44_KeyThatATerminalBroke) {
  const std::string first = joined("sk", "-ant-", "api03-", random_text(40, 3));
  const std::string rest = random_text(53, 33);
  hides("key <1>\n<2> ok\n", "key [REDACTED:anthropic] ok\n", {first, rest});
  hides("key <1>\r\n    <2>\n", "key [REDACTED:anthropic]\n", {first, rest});
  // The letter that ends the line before makes the key no end of a word.
  hides("the key follows below, on a line of its own\n<1>\n<2> ok\n",
      "the key follows below, on a line of its own\n[REDACTED:anthropic] ok\n", {first, rest});
}

// Caps and kills fall into the escapes, too.
TEST(RedactCases, C44_ColouredKeyThatATerminalBroke) {
  const std::string first = joined("sk", "-ant-", "api03-", random_text(40, 3));
  const std::string rest = random_text(53, 33);
  hides("\x1b[31mkey <1>\x1b[0m\n<2> ok\n", "\x1b[31mkey [REDACTED:anthropic]\x1b[0m ok\n", {first, rest});
  hides("key <1>\xe2\x80\x8b\n  <2> ok\n", "key [REDACTED:anthropic] ok\n", {first, rest});
}

TEST(RedactCases, C37_ColouredKey) {
  hides_pem(
      "\x1b[90m" + pem("PRIVATE KEY", "\n", "", 4) + "\x1b[0m\nafter\n", "\x1b[90m[REDACTED:pem]\x1b[0m\nafter\n", 4);
  hides_pem(pem("PRIVATE KEY", "\n", "\x1b[2m12 | \x1b[0m", 4) + "\n13 | after()\n",
      "\x1b[2m12 | \x1b[0m[REDACTED:pem]\n13 | after()\n", 4);
}

}  // namespace
}  // namespace guard::test
