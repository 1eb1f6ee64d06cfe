// Secrets that something on their way broke into lines: at every width, with every line end, behind what is put before
// lines. Each key is followed and preceded by ordinary lines, which stay.
#include <gtest/gtest.h>

#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

const std::string kValue = "x9Kx9Lq-" + random_text(32, 40);
const std::string kShortValue = "hunter2-pw";

const SecretSource& source() {
  static const SecretSource with_known = source_with({{"API_SECRET", kValue}, {"DB_PASSWORD", kShortValue}});
  return with_known;
}

struct Kind {
  std::string name;
  std::string secret;
};

const std::vector<Kind>& kinds() {
  static const std::vector<Kind> all = {
      {"anthropic", anthropic_key()},
      {"openai", openai_key()},
      {"github", joined("gh", "p_", random_text(36, 10))},
      {"aws", joined("AK", "IA", random_text(16, 8, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"))},
      {"jwt", jwt()},
      {"jwt_long", jwt(900)},
      {"pem", pem("PRIVATE KEY", "", "", 6)},
      {"known", kValue},
      {"known_short", kShortValue},
  };
  return all;
}

struct Separator {
  std::string name;
  std::string end;
  std::string lead;
};

const std::vector<Separator>& separators() {
  static const std::vector<Separator> all = {
      {"LF", "\n", ""},
      {"CRLF", "\r\n", ""},
      {"CR", "\r", ""},
      {"indent", "\n", "    "},
      {"tab", "\r\n", "\t"},
      {"bar", "\n", "| "},
      {"box", "\n", "\xe2\x94\x82 "},
      {"quote", "\r\n", "> "},
      {"number", "\n", "12 | "},
      {"service", "\n", "web_1  | "},
      {"colour", "\x1b[0m\n", "\x1b[2m| \x1b[0m"},
  };
  return all;
}

// What stays of the lines of a secret, joined.
std::string left_in_clear(const std::string& out, const Separator& by) {
  std::string rest = without_markers(out);
  for (const std::string& part : {by.end, by.lead, visible(by.lead)}) {
    if (part.empty()) continue;
    for (std::size_t at = rest.find(part); at != std::string::npos; at = rest.find(part, at))
      rest.erase(at, part.size());
  }
  std::erase_if(rest, [](char c) { return c == '\n' || c == '\r'; });
  return visible(rest);
}

std::string broken(const std::string& text, std::size_t width, const Separator& by) {
  std::string out;
  for (std::size_t at = 0; at < text.size(); at += width) out += by.lead + text.substr(at, width) + by.end;
  return out;
}

// A last piece that reads as a word can't be told from a line that follows a whole key. What ends a PEM key is no
// secret.
std::size_t last_max(const Kind& kind, std::size_t width) {
  constexpr std::size_t kLastWordMax = 7;
  constexpr std::size_t kPemEnd = 25;
  if (kind.name == "pem") return kPemEnd;
  return kind.secret.size() % width <= kLastWordMax ? kind.secret.size() % width : 0;
}

// docs/redaction.md: what is spread out by more than 3 KB is not found.
bool is_flood(std::size_t width, const Separator& by) {
  return by.name == "colour" ? width < 4 : width * 9 < by.end.size() + by.lead.size();
}

TEST(Broken, NothingStaysAtAnyWidth) {
  for (const Kind& kind : kinds()) {
    for (const Separator& by : separators()) {
      std::string leaks;
      for (std::size_t width = 1; width <= 120; ++width) {
        if (is_flood(width, by)) continue;
        const std::string before = "it said:" + by.end;
        const std::string after = "and that (is) all" + by.end;
        const std::string out =
            redact_text(source(), before + broken(kind.secret, width, by) + by.lead + after).value_or("failed");
        ASSERT_TRUE(out.starts_with(before)) << out;
        ASSERT_TRUE(out.ends_with(after)) << out;
        const std::string left =
            left_in_clear(out.substr(before.size(), out.size() - before.size() - after.size()), by);
        // Three bytes of a literal are no secret, and a line that ends in them need not wait.
        std::size_t begun = 0;
        while (begun < std::min<std::size_t>(left.size(), 3) && left[begun] == kind.secret[begun]) ++begun;
        const std::string rest = left.substr(begun);
        if (!kind.secret.ends_with(rest) || rest.size() > last_max(kind, width))
          leaks += fmt::format(" {}:{}", width, left);
      }
      EXPECT_EQ(leaks, "") << kind.name << " by " << by.name;
    }
  }
}

// What was joined before, of the same bytes at other widths, says nothing of it.
TEST(Broken, EachIsReadAsIfItStoodAlone) {
  for (const Kind& kind : kinds()) {
    std::string text;
    std::string expected;
    for (const std::size_t width : {9u, 7u, 12u, 7u, 9u, 5u, 10u, 8u, 4u, 3u, 4u}) {
      const std::string one = "it said:\n" + broken(kind.secret, width, separators().front()) + "and that (is) all\n";
      text += one;
      expected += redact_text(source(), one).value_or("failed");
    }
    EXPECT_EQ(redact_text(source(), text).value_or("failed"), expected) << kind.name;
  }
}

// Also where a line is full of what secrets begin with.
TEST(Broken, NothingStaysBehindAFloodOfBeginnings) {
  for (const Kind& kind : kinds()) {
    if (kind.name == "pem") continue;  // its header stands alone
    for (const std::string& literal : {joined("s", "k-"), joined("gh", "p_"), joined("ey", "J"), std::string("key=")}) {
      for (const std::size_t width : {5u, 12u, 20u, 33u}) {
        std::string flood;
        for (int i = 0; i < 60; ++i) flood += literal + "\n";
        const std::string text = flood + broken(kind.secret, width, separators().front()) + "and that (is) all\n";
        std::string left = without_markers(redact_text(source(), text).value_or("failed: " + kind.secret));
        std::erase(left, '\n');
        constexpr std::size_t kPiece = 8;
        for (std::size_t at = 0; at + kPiece <= kind.secret.size(); ++at)
          ASSERT_EQ(left.find(kind.secret.substr(at, kPiece)), std::string::npos)
              << kind.name << " of width " << width << " behind " << literal << ": " << left;
      }
    }
  }
}

// Base64 of decimal digits is full of the literals that tokens of Discord begin with.
TEST(Broken, ATokenOfDigitsIsJudgedAsAnyOther) {
  std::string digits;
  for (int i = 0; i < 18; ++i) digits += "Njc4";
  const std::string token = joined("ey", "JhbGciOiJIUzI1NiJ9.", "ey", "JpZCI6") + digits + "fQ." + random_text(43, 7);
  EXPECT_EQ(redact_text(source(), "it said: " + token + "\nFAILED\nsrc/a.test.ts\n").value_or("failed"),
      "it said: [REDACTED:jwt]\nFAILED\nsrc/a.test.ts\n");
  const std::string rest = "DczMDM3ODk4OTc4Mjc4NDk=%3D%3D--" + random_text(40, 8, "0123456789abcdef");
  const std::string cookie = redact_text(source(), "Cookie: sid=" + digits + "%3\n" + rest + "\n").value_or(rest);
  EXPECT_EQ(cookie.find("ODk4OTc4"), std::string::npos) << cookie;
  EXPECT_EQ(cookie.find(rest.substr(rest.size() - 20)), std::string::npos) << cookie;
}

TEST(Broken, NoCutChangesWhatIsFound) {
  for (const Kind& kind : kinds()) {
    for (const Separator& by : separators()) {
      const std::string text =
          "it said:" + by.end + broken(kind.secret, 20, by) + by.lead + "and that (is) all" + by.end;
      EXPECT_EQ(stream(source(), text, every_byte(text.size())), redact_text(source(), text).value_or("failed"))
          << kind.name << " by " << by.name;
    }
  }
}

// Every character as its number, or every other one, in each of the ways.
TEST(Broken, NothingStaysOfWhatIsWrittenInNumbers) {
  for (const char* form : {"&#{};", "&#x{:X};", "&#x{:x};", "&#{:03};", "\\u{:04x}", "\\u{{{:x}}}", "\\x{:02X}",
           "\\{:03o}", "%{:02x}", "%25{:02X}", "\\\\u{:04X}", "\\U{:08x}", "%u{:04x}"}) {
    for (const Kind& kind : kinds()) {
      // Ten bytes for each: more than 3 KB for what a decision looks at (docs/redaction.md).
      if (kind.name == "pem" || (kind.name == "jwt_long" && form[1] == 'U')) continue;
      for (const std::size_t every : {1u, 2u, 5u}) {
        std::string text;
        for (std::size_t i = 0; i < kind.secret.size(); ++i) {
          const auto byte = static_cast<unsigned>(static_cast<unsigned char>(kind.secret[i]));
          text += i % every == 0 ? fmt::format(fmt::runtime(form), byte) : kind.secret.substr(i, 1);
        }
        const std::string out = redact_text(source(), "a \"" + text + "\" b\n").value_or("failed");
        EXPECT_EQ(without_markers(out), "a \"\" b\n") << kind.name << " as " << form << " every " << every;
      }
    }
  }
}

}  // namespace
}  // namespace guard::test
