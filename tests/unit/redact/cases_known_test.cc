// What the redactor does to which text, D: values that are known to be secret, and how programs write them. Numbers are
// those of the list of cases.
#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

const std::string kMarker = "[REDACTED:env:TOKEN]";

const SecretSource& token() {
  static const SecretSource source = source_with({{"TOKEN", kKnownValue}});
  return source;
}

enum class Base64 { standard, url };

std::string base64_of(std::string_view bytes, Base64 form = Base64::standard) {
  std::string alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  if (form == Base64::url) alphabet.replace(62, 2, "-_");
  std::string out;
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 3; ++k)
      bits = bits << 8 | (i + k < bytes.size() ? static_cast<unsigned char>(bytes[i + k]) : 0u);
    for (std::size_t k = 0; k < 4; ++k) out += i + k > bytes.size() ? '=' : alphabet[(bits >> (18 - 6 * k)) & 63];
  }
  return out;
}

// Base64 of before + kKnownValue + after: every character that holds bits of the value alone is hidden.
void hides_in_base64(const std::string& before, const std::string& after, Base64 form = Base64::standard) {
  const std::string all = base64_of(before + kKnownValue + after, form);
  const std::size_t begin = (before.size() * 8 + 5) / 6;
  const std::size_t end = (before.size() + kKnownValue.size()) * 8 / 6;
  const std::string head = all.substr(0, begin);
  const std::string tail = all.substr(end);
  hides(token(), "(" + head + "<1>" + tail + ")\n", "(" + head + kMarker + tail + ")\n",
      {all.substr(begin, end - begin)});
}

TEST(RedactCases, D45_RawValue) {
  hides(token(), "a <1> b\n", "a [REDACTED:env:TOKEN] b\n", {kKnownValue});
  hides(token(), "a<1>b\n", "a[REDACTED:env:TOKEN]b\n", {kKnownValue});
}

TEST(RedactCases, D46_Base64OfTheValue) {
  hides_in_base64("", "");
  hides_in_base64("", "", Base64::url);
}

TEST(RedactCases, D47_Base64InEachAlignmentWithAnyTail) {
  for (const char* before : {"u:", "ab", "xyz", "n", "user:"}) {
    for (const char* after : {"", "\n", "??"}) hides_in_base64(before, after);
  }
  hides_in_base64("u:", "\n", Base64::url);
}

// Of a value that is too short for its base64 to be searched for in parts.
TEST(RedactCases, D47_Base64OfAShortValueInsideALongerText) {
  const SecretSource source = source_with({{"PASS", "hunter7-pw"}});
  for (const std::string before : {"", "a", "bc"}) {
    const std::string all = base64_of(before + "hunter7-pw" + std::string(60, 'x'));
    const std::size_t begin = (before.size() * 8 + 5) / 6;
    const std::size_t end = (before.size() + 10) * 8 / 6;
    EXPECT_EQ(redacted(source, all + "\n"), all.substr(0, begin) + "[REDACTED:env:PASS]" + all.substr(end) + "\n");
  }
}

TEST(RedactCases, D48_HexInEitherCase) {
  std::string lower;
  std::string upper;
  for (const char c : kKnownValue) {
    lower += fmt::format("{:02x}", c);
    upper += fmt::format("{:02X}", c);
  }
  hides(token(), "(<1>)\n(<2>)\n", "([REDACTED:env:TOKEN])\n([REDACTED:env:TOKEN])\n", {lower, upper});
}

TEST(RedactCases, D49_PercentEncoded) {
  const SecretSource source = source_with({{"TOKEN", "p@ss w/rd+Kq7:zz"}, {"LONG", "a/b c+" + random_text(30, 61)}});
  for (const char* spelled : {"p%40ss%20w%2Frd%2BKq7%3Azz", "p%40ss%20w%2frd%2bKq7%3azz", "p%40ss+w%2Frd%2BKq7%3Azz"}) {
    hides(source, "?q=<1>&x=1\n", "?q=[REDACTED:env:TOKEN]&x=1\n", {spelled});
  }
  hides(source, "?q=<1>\n", "?q=[REDACTED:env:LONG]\n", {"a%2Fb%20c%2B" + random_text(30, 61)});
}

TEST(RedactCases, InSmallLettersAsAHost) {
  const SecretSource source = source_with({{"TOKEN", "Kq7-Zz9.Pass"}, {"OTHER", "Kq7 Zz9 Word"}});
  hides(source, "http://<1>.example/\n", "http://[REDACTED:env:TOKEN].example/\n", {"kq7-zz9.pass"});
  EXPECT_EQ(redacted(source, "kq7 zz9 word\n"), "kq7 zz9 word\n");
}

TEST(RedactCases, D50_EscapedForJsonAndJavaScript) {
  const SecretSource source = source_with({{"TOKEN", "q\"b\\s/\xc3\xa9-Kq7zw"}, {"LINES", "Kq7 first\n9xsecond"}});
  for (const char* spelled : {"q\\\"b\\\\s/\xc3\xa9-Kq7zw", "q\\\"b\\\\s/\\u00e9-Kq7zw", "q\\\"b\\\\s\\/\\u00E9-Kq7zw",
           "q\"b\\\\s/\\xe9-Kq7zw"}) {
    hides(source, "(<1>)\n", "([REDACTED:env:TOKEN])\n", {spelled});
  }
  hides(source, "(<1>)\n", "([REDACTED:env:LINES])\n", {"Kq7 first\\n9xsecond"});
}

TEST(RedactCases, D51_QuotedForInspectionAndShells) {
  const SecretSource source = source_with({{"TOKEN", "it's<Kq7>&\"9x\""}});
  for (const char* spelled : {"it\\'s<Kq7>&\"9x\"", "it'\\''s<Kq7>&\"9x\"", "it'\"'\"'s<Kq7>&\"9x\""}) {
    hides(source, "(<1>)\n", "([REDACTED:env:TOKEN])\n", {spelled});
  }
}

TEST(RedactCases, D52_EscapedForHtml) {
  const SecretSource source = source_with({{"TOKEN", "it's<Kq7>&\"9x\""}});
  for (const char* spelled : {"it&#39;s&lt;Kq7&gt;&amp;&quot;9x&quot;", "it&#x27;s&lt;Kq7&gt;&amp;&quot;9x&quot;",
           "it's&lt;Kq7&gt;&amp;\"9x\""}) {
    hides(source, "(<1>)\n", "([REDACTED:env:TOKEN])\n", {spelled});
  }
}

TEST(RedactCases, D53_SelfOverlappingBeginning) {
  hides(token(), "x9K<1> b\n", "x9K[REDACTED:env:TOKEN] b\n", {kKnownValue});
  hides(token(), "x9Kx9L x9Kx9Kx9<1>\n", "x9Kx9L x9Kx9Kx9[REDACTED:env:TOKEN]\n", {kKnownValue});
}

TEST(RedactCases, D54_ValuesThatOverlapInTheText) {
  const std::string a = random_text(24, 72) + "shared_part_00";
  const std::string b = "shared_part_00" + random_text(24, 73);
  const SecretSource source = source_with({{"A", a}, {"B", b}});
  hides(source, "(<1>)\n", "([REDACTED:env:A])\n", {a + b.substr(14)});
  const SecretSource brief = source_with({{"A", "abcdEF7"}, {"B", "EF7ghij"}});
  hides(brief, "(<1>)\n", "([REDACTED:env:A])\n", {"abcdEF7ghij"});
}

TEST(RedactCases, D55_ValueThatBeginsAnother) {
  const std::string longer = random_text(38, 72);
  const SecretSource nested = source_with({{"SHORT", longer.substr(0, 20)}, {"LONG", longer}});
  hides(nested, "(<1>)\n", "([REDACTED:env:SHORT])\n", {longer});
  const SecretSource brief = source_with({{"SHORT", "Kq7x9Z"}, {"LONG", "Kq7x9ZWm2"}});
  hides(brief, "(<1>) (<2>)\n", "([REDACTED:env:SHORT]) ([REDACTED:env:SHORT])\n", {"Kq7x9ZWm2", "Kq7x9Z"});
}

TEST(RedactCases, D56_ValueOfSeveralLines) {
  const std::string first = "first-line-" + random_text(12, 74);
  const std::string second = "second-line-" + random_text(12, 75);
  const SecretSource source = source_with({{"CERT", first + "\n  " + second + "\n{\n"}});
  hides(source, "    <1>\n\t<2>\n{ }\n", "    [REDACTED:env:CERT]\n\t[REDACTED:env:CERT]\n{ }\n", {first, second});
}

TEST(RedactCases, D57_TextsOfAJsonValue) {
  const std::string leaf = "Kq7-" + random_text(20, 62);
  const SecretSource source = source_with(
      {{"ACCOUNT", "{\n  \"type\": \"production\",\n  \"key\": \"" + leaf + "\",\n  \"list\": [\"9x-Leaf-Two\"]\n}"}});
  hides(source, "key is <1> and <2>\n", "key is [REDACTED:env:ACCOUNT] and [REDACTED:env:ACCOUNT]\n",
      {leaf, "9x-Leaf-Two"});
  keeps(source, "{ } production list\n", Lines::may_wait);
}

TEST(RedactCases, D58_ValuesThatAreTooShortAreNamedOnce) {
  const SecretSource source = source_with({{"MODE", "dev"}, {"EMPTY", ""}, {"NEWLINE", "\n"}, {"GOOD", kKnownValue}});
  std::vector<std::string> names;
  for (const auto& [name, reason] : source.refused()) {
    names.push_back(name);
    EXPECT_FALSE(reason.empty());
  }
  EXPECT_EQ(names, (std::vector<std::string>{"MODE", "EMPTY", "NEWLINE"}));
  keeps(source, "dev\n\n develop dev\n");
}

TEST(RedactCases, D59_FragmentOfSixteenBytes) {
  hides(token(), "Expected: \"<1>...\"\n", "Expected: \"[REDACTED:env:TOKEN]...\"\n", {kKnownValue.substr(0, 20)});
  keeps(token(), "-" + kKnownValue.substr(9, 15) + "-\n");
  hides(token(), "-<1>-\n", "-[REDACTED:env:TOKEN]-\n", {kKnownValue.substr(9, 16)});
  const std::string value = random_text(1500, 76);  // longer than the pieces that are looked up
  const SecretSource blob = source_with({{"BLOB", value}});
  hides(blob, "a <1> <2> b\n", "a [REDACTED:env:BLOB] [REDACTED:env:BLOB] b\n",
      {value.substr(200, 90), value.substr(700, 60)});
}

TEST(RedactCases, D60_CommonValuesAreNamedAndKept) {
  const SecretSource source = source_with({{"FLAG", "true"}, {"WORD", "test"}, {"BIN", "/usr/bin"},
      {"URL", "http://localhost:3000"}, {"STARS", "********"}, {"MARKER", "REDACTED:env"}, {"GOOD", kKnownValue}});
  std::vector<std::string> names;
  for (const auto& [name, reason] : source.refused()) names.push_back(name);
  EXPECT_EQ(names, (std::vector<std::string>{"FLAG", "WORD", "BIN", "URL", "STARS", "MARKER"}));
  keeps(source, "true test /usr/bin http://localhost:3000 ********\n");
  // A value that is not common but short is hidden where it stands whole.
  hides(source_with({{"PASS", "hunter2-pw"}}), "login hunter2 <1> ok\n", "login hunter2 [REDACTED:env:PASS] ok\n",
      {"hunter2-pw"});
}

TEST(RedactCases, KnownValueWrittenInNumbers) {
  const std::string value = "x9Kx9Lq-" + random_text(24, 71);
  const SecretSource source = source_with({{"TOKEN", value}});
  for (const char* form : {"&#{};", "&#{:03};", "&#x{:x};", "&#x{:X};", "\\u{:04x}", "\\u{:04X}", "\\u{{{:x}}}",
           "\\u{{{:X}}}", "\\x{:02x}", "\\x{:02X}", "\\{:03o}", "%{:02x}", "%{:02X}"}) {
    std::string written;
    for (const char c : value)
      written += fmt::format(fmt::runtime(form), static_cast<unsigned>(static_cast<unsigned char>(c)));
    EXPECT_EQ(redacted(source, "<b>" + written + "</b>\n"), "<b>[REDACTED:env:TOKEN]</b>\n") << form;
  }
  EXPECT_EQ(redacted(source, "\\u0041\\u0042 &#65;&#66; %41%42 \\x41\\x42\n"),
      "\\u0041\\u0042 &#65;&#66; %41%42 \\x41\\x42\n");
}

}  // namespace
}  // namespace guard::test
