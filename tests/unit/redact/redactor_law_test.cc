// The law of the redactor, over texts that are made of everything that is dangerous to it: output = F(input), whatever
// the cuts; F(F(x)) = F(x); bounded carry. What F does to which text is said by the cases_*_test files.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "redact/stream/gap.h"
#include "tests/support/redact/redact_fixture.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

const std::string kKnownLong = "x9Kx9Lq-" + random_text(32, 40);
const std::string kKnownShort = "hunter2-pw";

const SecretSource& source() {
  static const SecretSource with_known = source_with({{"API_SECRET", kKnownLong}, {"DB_PASSWORD", kKnownShort}});
  return with_known;
}

std::string broken(std::string text, std::size_t width, std::string_view line_end) {
  for (std::size_t at = width; at < text.size(); at += width + line_end.size()) text.insert(at, line_end);
  // Behind a blank: where another secret stands right before it, a second reader sees the word begin. docs/redaction.md
  // tells of it.
  return " " + text + "\n";
}

// Whole secrets, halves of them, prefixes, separators and noise.
const std::vector<std::string>& pieces() {
  static const std::vector<std::string> all = {anthropic_key(), openai_key(), telegram_token(), jwt(), jwt(900),
      random_text(101), random_text(100), random_text(300) + "==",
      "TELEGRAM_"
      "BOT_TOKEN=",
      "TELEGRAM_"
      "BOT_TOKEN\": \"",
      "Authorization: Bearer ", "authorization: basic ", "sk-", "sk-ant-",
      "ey"
      "J",
      "-----BEGIN ", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----", pem("EC PRIVATE KEY", "\n", "", 3),
      pem("PRIVATE KEY", "\r\n", "  ", 2),
      "AK"
      "IA" +
          random_text(16, 8, "ABCDEFGHIJ234567"),
      "AI"
      "za" +
          random_text(35, 9),
      "gh"
      "p_" +
          random_text(36, 10),
      "xo"
      "xb-" +
          random_text(30, 11),
      "[REDACTED:jwt]", "[REDACTED:", "\n", "\n", "\r\n", "\r", " ", " ", "\"", "'", "\\n", "\x1b[32m", "\x1b[0m",
      "\x1b[38;5;1", "m", "=", "==", ".", "-", "_", ":", "/", "0", "A", "z", std::string(1, '\0'), "\xff",
      "\xF0\x9F\x98\x80", "risk-assessment", "process.env", kKnownLong, kKnownLong.substr(0, 20), kKnownLong.substr(9),
      kKnownLong.substr(3, 15), kKnownShort, kKnownShort.substr(0, 6), random_text(64, 12), random_text(20, 13),
      "12 | ", "    ", hex_text(40), repeat("/", 120), repeat("-", 110), repeat("a-", 60), "\x1b[0m\x1b[1m",
      "\x1b]8;;https://h/?a=b\x1b\\", "\x1b]0;t\a", "\x1b(B", "\x1b[K", "\xe2\x80\x8b", "\xc2\xad", "\xef\xbb\xbf",
      "\xe2\x80", "\b", repeat("\x1b[0m", 900), repeat(std::string("x\0", 2), 400),
      std::string(45, ' ') + anthropic_key().substr(0, 40) + "\n" + anthropic_key().substr(40),
      random_text(76, 15) + "\n" + random_text(76, 16) + "\n", "\n" + random_text(64, 17) + "\n",
      random_text(64, 18) + "\n" + random_text(64, 19) + "\n" + random_text(20, 20) + "==\n",
      broken(anthropic_key(), 12, "\n"), broken(openai_key(), 9, "\n\xe2\x94\x82 "), broken(jwt(), 7, "\r\n| "),
      broken(kKnownLong, 5, "\n  "), broken(openai_key(), 1, "\r"), " sk-a\n", " gh\n", " gh\r", "\n| ",
      "\n\xe2\x94\x82 ", "&#115;k-", "%73k", "\\x73", "sk-abc123 ", "'sk-ABc'", "api_key: ", "KEY=\"", "sk-ab",
      "ey"
      "JhbGciOiJIUzI1NiJ9",
      broken(pem("PRIVATE KEY", "", "", 2), 20, "\n"), random_text(1700, 14)};
  return all;
}

std::string gap(std::mt19937& random) {
  static const std::vector<std::string> all = {"\x1b[0m", "\x1b[38;5;196m", "\x1b[K", "\xe2\x80\x8b", "\xc2\xad",
      std::string(1, '\0'), "\b", "\x1b]8;;\x1b\\", "\x1b[0m\xc2\xad\x1b[1m"};
  return all[random() % all.size()];
}

// A piece as it is, or split by what a terminal does not show.
std::string fragment(std::mt19937& random) {
  std::string piece = pieces()[random() % pieces().size()];
  if (piece.size() > 400 && random() % 4 != 0) return "x";  // large pieces make for few comparisons
  for (auto gaps = random() % 6; gaps > 3; --gaps) piece.insert(random() % (piece.size() + 1), gap(random));
  return piece;
}

// An escape inside a secret stays, and its last letter may then stand before text that goes on like a known value: one
// byte less than is hidden, and with the letter as much. docs/redaction.md tells of it.
bool is_known_exception(const std::string& output) {
  for (std::size_t at = output.find('\x1b'); at != std::string::npos; at = output.find('\x1b', at + 1)) {
    const Gap gap = gap_at(std::string_view(output).substr(at), true);
    if (gap.kind != Gap::Kind::escape) continue;
    const std::string joined = output.substr(at + gap.size - 1, 16);
    if (joined.size() == 16 && kKnownLong.find(joined) != std::string::npos) return true;
  }
  return false;
}

// A line with a marker that was there before stands for the header of the block behind it; where both have escapes in
// them, the next reader may no longer see them together. docs/redaction.md tells of it, too.
bool is_known_exception_of_markers(const std::string& input) {
  const std::size_t marker = input.find("[REDACTED:");
  if (marker == std::string::npos) return false;
  for (std::size_t line = input.find('\n', marker); line != std::string::npos; line = input.find('\n', line + 1)) {
    constexpr std::size_t kBlockLine = 40;
    const std::string begin = input.substr(line + 1, kBlockLine);
    if (begin.size() == kBlockLine &&
        std::all_of(begin.begin(), begin.end(), [](unsigned char c) { return std::isalnum(c) != 0; }))
      return true;
  }
  return false;
}

unsigned wanted_comparisons() {
  const char* const wanted = std::getenv("GUARD_REDACT_COMPARISONS");
  return wanted == nullptr ? 20000 : static_cast<unsigned>(std::strtoul(wanted, nullptr, 10));
}

// What makes the streaming engine right is that it decides nothing before it has seen all that the decision depends on.
// `./dev soak` asks for a million comparisons, and for other texts every time.
TEST(RedactorLaw, OutputDoesNotDependOnHowTheInputIsCut) {
  const char* const first = std::getenv("GUARD_REDACT_SEED");
  unsigned seed = first == nullptr ? 0 : static_cast<unsigned>(std::strtoul(first, nullptr, 10));
  for (unsigned compared = 0; compared < wanted_comparisons(); ++seed) {
    std::mt19937 random(seed);
    std::string text;
    const std::size_t fragments = 1 + random() % 24;
    for (std::size_t i = 0; i < fragments; ++i) text += fragment(random);
    const auto whole = redact_whole(source(), text);
    ASSERT_TRUE(whole.has_value());
    ASSERT_EQ(stream(source(), text, {}), *whole) << "seed " << seed;
    ASSERT_EQ(stream(source(), text, every_byte(text.size())), *whole)
        << "seed " << seed << ", single bytes: " << testing::PrintToString(text);
    constexpr unsigned kCuts = 16;
    for (unsigned cut_seed = 0; cut_seed < kCuts; ++cut_seed) {
      ASSERT_EQ(stream(source(), text, random_cuts(text.size(), cut_seed)), *whole)
          << "seed " << seed << ", cuts " << cut_seed;
    }
    if (!is_known_exception(*whole) && !is_known_exception_of_markers(text)) {
      ASSERT_EQ(redact_whole(source(), *whole).value_or(""), *whole)
          << "seed " << seed << ": not idempotent; input: " << testing::PrintToString(text);
    }
    compared += kCuts + 3;
  }
}

// Seen by chance: the shadow's region begins with a named value, and only a later part of it lies behind the key whose
// first letter ends an escape.
TEST(RedactorLaw, ANamedValueOfTheShadowGoesOnWithAllOfItsRegion) {
  redacted(source(),
      std::string("TELEGRAM_"
                  "BOT_TOKEN=-----BEGIN PRIVATE KEY-----Z6TEv7mesNWGRvV\x1b[") +
          anthropic_key().substr(0, 16) + "\n86SAzaKq\x8b");
}

// One text that holds a secret of every kind, cut once at every offset.
TEST(RedactorLaw, EverySingleCutGivesTheSameOutput) {
  const std::string text = "a " + anthropic_key() + " b " + openai_key() +
      "\nTELEGRAM_"
      "BOT_TOKEN=\"" +
      telegram_token() + "\"\n" + jwt() + " " + random_text(140) + "== c\n" + pem("PRIVATE KEY", "\n", "", 3) + " d\n" +
      kKnownLong + " " + kKnownShort + " end";
  redacted(source(), text);
}

// Kept bytes are the input's own: what remains between markers is found in the input, in order.
TEST(RedactorLaw, KeptTextIsByteIdentical) {
  const std::string left = std::string("\xff\x00\xfe bin", 7) + " caf\xc3\xa9 ";
  const std::string right = " \xF0\x9F\x98\x80\x80 tail\n";
  EXPECT_EQ(redacted(left + openai_key() + right), left + "[REDACTED:openai]" + right);
}

// Bytes of one distribution only: everything that looks like text of no kind must pass unchanged.
TEST(RedactorLaw, RandomBytesNeverChangeWithTheCuts) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    std::string text;
    const std::string_view alphabet = seed % 3 == 0 ? "sk-aneyJT.:=AB \n\x1b[m\xad\xc2"
        : seed % 3 == 1                             ? "ABab01+/=-_\n\xc2\xad\x08"
                                                    : "-BEGIN PRVATKYD\n=x\\";
    for (int i = 0; i < 3000; ++i)
      text += alphabet[random() % (random() % 9 == 0 ? alphabet.size() : alphabet.size() - 3)];
    const auto whole = redact_whole(source(), text);
    ASSERT_TRUE(whole.has_value());
    ASSERT_EQ(stream(source(), text, random_cuts(text.size(), seed)), *whole) << "seed " << seed;
    ASSERT_EQ(stream(source(), text, every_byte(text.size())), *whole) << "seed " << seed;
    ASSERT_EQ(redact_whole(source(), *whole).value_or(""), *whole)
        << "seed " << seed << ": not idempotent; input: " << testing::PrintToString(text);
  }
}

}  // namespace
}  // namespace guard::test
