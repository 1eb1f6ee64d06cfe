// What the redactor does to which text, F: escapes, encodings and bytes that are no text. Numbers are those of the list
// of cases.
#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

const std::string kSkAnt = joined("sk", "-ant-");

TEST(RedactCases, F76_KeyGluedToAColour) {
  hides("\x1b[32m<1>\x1b[0m\n", "\x1b[32m[REDACTED:anthropic]\x1b[0m\n", {anthropic_key()});
  hides("\x1b[32m<1>\x1b[0m\n", "\x1b[32m[REDACTED:openai]\x1b[0m\n", {openai_key()});
  hides("\x1b[38;5;196m<1>\x1b[0m\n", "\x1b[38;5;196m[REDACTED:base64]\x1b[0m\n", {random_text(120, 86)},
      Begun::without_one);
  // The last letter of a written escape is no part of a word either.
  hides("\\n<1>\\n", "\\n[REDACTED:openai]\\n", {openai_key()});
  hides("x%3D<1>%26", "x%3D[REDACTED:openai]%26", {openai_key()});
}

TEST(RedactCases, F77_EscapeInsideAKeyStays) {
  hides(
      kSkAnt + "\x1b[1;38;5;196m<1>\x1b[0m\n", "[REDACTED:anthropic]\x1b[1;38;5;196m\x1b[0m\n", {random_text(40, 87)});
  const std::string key = anthropic_key();
  hides("a <1>\x1b[K<2> b\n", "a [REDACTED:anthropic]\x1b[K b\n", {key.substr(0, 5), key.substr(5)});
  hides("a \x1b[1m<1>\x1b[0m\x1b[2m<2>\x1b[0m b\n", "a \x1b[1m[REDACTED:anthropic]\x1b[0m\x1b[2m\x1b[0m b\n",
      {key.substr(0, 60), key.substr(60)});
}

TEST(RedactCases, F78_LinksAndEscapesWithoutAnEnd) {
  hides("\x1b]8;;https://h/?token=<1>\x1b\\text\x1b]8;;\x1b\\\n",
      "\x1b]8;;https://h/?token=[REDACTED:query]\x1b\\text\x1b]8;;\x1b\\\n", {random_text(40, 89)});
  keeps("an \x1b]8;;https://h/ that never ends");
  keeps("a \x1b[38;5;");
  keeps("a \x1b[32mgreen\x1b[0m line\n");
  // What goes on without an end is text, and a key behind it is a key.
  hides("\x1b]0;" + std::string(300, '.') + " <1>\n", "\x1b]0;" + std::string(300, '.') + " [REDACTED:openai]\n",
      {openai_key()});
  hides("\x1b[" + repeat("3;", 200) + " <1>\n", "\x1b[" + repeat("3;", 200) + " [REDACTED:openai]\n", {openai_key()});
}

TEST(RedactCases, F79_OverwrittenAndInvisibleCharacters) {
  const std::string key = anthropic_key();
  for (const char* unseen : {"\xe2\x80\x8b", "\xc2\xad", "\b", "\xef\xbb\xbf", "\xe2\x81\xa0"}) {
    for (const std::size_t at : {5u, 30u}) {
      hides(
          "a <1>" + std::string(unseen) + "<2> b\n", "a [REDACTED:anthropic] b\n", {key.substr(0, at), key.substr(at)});
    }
  }
  // A line of progress that is written anew with more of the key.
  const std::string part = kSkAnt + random_text(10, 90);
  const std::string whole = part + random_text(30, 91);
  hides("<1>\r<2>\n", "[REDACTED:anthropic]\r[REDACTED:anthropic]\n", {part, whole});
}

// Look-alikes of letters are not folded: no program prints its own keys in them.
TEST(RedactCases, F80_FullwidthLettersAreKept) { keeps("\xef\xbd\x93\xef\xbd\x8b-" + random_text(30, 88) + "\n"); }

TEST(RedactCases, F81_BytesThatAreNoText) {
  hides("\xff<1>\xffrest\n", "\xff[REDACTED:openai]\xffrest\n", {openai_key()});
  const std::string second = random_text(20, 93);
  hides("(<1>\xff" + second + ")\n", "([REDACTED:anthropic]\xff" + second + ")\n", {kSkAnt + random_text(20, 92)});
  const std::string nul(1, '\0');
  hides(nul + "\xff " + nul + "<1>" + nul + "\xff" + nul,
      nul + "\xff " + nul + "[REDACTED:openai]" + nul + "\xff" + nul, {openai_key()});
  keeps("\xF0\x9F\x98\x80 \xE2\x9C\x93 caf\xc3\xa9 \xff\xfe\x80 " + nul + "\xF0\x9F\x98\n");
  // The cap falls inside of the check mark: what is kept ends before it.
  MemorySink sink;
  OutputBudget budget(4);
  OutputCap capped(budget, sink);
  auto redactor = Redactor::create(shipped_kinds(), capped);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(std::string_view("ok \xE2\x9C\x93 done\n")).has_value());
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_EQ(sink.text, "ok ");
}

// The NULs between the letters are characters of no width.
TEST(RedactCases, F82_KnownValueInUtf16) {
  const std::string value = "x9Kx9Lq-" + random_text(32, 71);
  std::string wide;
  for (const char c : value) wide += std::string(1, c) + std::string(1, '\0');
  const std::string line_end("\0\n\0", 3);  // begins with the second half of the last letter
  hides(source_with({{"TOKEN", value}}), "<1>" + line_end, "[REDACTED:env:TOKEN]" + line_end,
      {wide.substr(0, wide.size() - 1)}, Begun::without_one);  // three letters, and the NULs between them
}

}  // namespace
}  // namespace guard::test
