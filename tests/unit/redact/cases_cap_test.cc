// What the redactor does to which text, G: caps, kills, two streams, and floods. Numbers are those of the list of
// cases.
#include <cstdlib>

#include "tests/support/redact/redact_case.h"
#include "tests/support/redact/redact_oracle.h"

namespace guard::test {
namespace {

const SecretSource& with_values() {
  static const SecretSource source = source_with({{"TOKEN", kKnownValue}, {"PASS", "hunter2-pw"}});
  return source;
}

struct Sample {
  std::string name;  // what stands before the secret and is kept
  std::string secret;
  std::string kind;
  Begun begun = Begun::with_a_literal;
};

// One of each way in which secrets are found.
const std::vector<Sample>& samples() {
  static const std::vector<Sample> all = {
      {"key ", anthropic_key(), "anthropic"},
      {"key ", openai_key(), "openai"},
      {"t=", jwt(), "jwt"},
      {kTelegram + "=", telegram_token(), "telegram"},
      {"bot", telegram_token(), "telegram", Begun::without_one},
      {"id ", joined("AK", "IA", random_text(16, 41, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567")), "aws"},
      {"aws_secret_access_key = ", random_text(40, 40), "aws"},
      {"(", joined("gh", "p_", random_text(36, 43)), "github"},
      {"https://hooks.slack.com/services/", "T01ABCDEF/B01ABCDEF/" + random_text(24, 67), "slack"},
      {"Authorization: Bearer ", random_text(40, 36), "authorization"},
      {"GET /f?access_token=", random_text(40, 31), "query"},
      {"secret: \"", random_text(40, 32), "generic"},
      {"x ", random_text(130, 33) + "==", "base64", Begun::without_one},
      {"v ", kKnownValue, "env:TOKEN"},
      {"v ", "hunter2-pw", "env:PASS"},
  };
  return all;
}

TEST(RedactCases, G83_CapAndKillAtEveryOffsetOfEachKind) {
  for (const Sample& one : samples()) {
    hides(
        with_values(), one.name + "<1>\" b\n", one.name + "[REDACTED:" + one.kind + "]\" b\n", {one.secret}, one.begun);
  }
}

// Bytes that a terminal does not show must not make a difference to that.
void hides_split_by_what_is_not_seen(const Sample& one) {
  for (const std::size_t at : {std::size_t{2}, std::size_t{6}, one.secret.size() / 2}) {
    const std::vector<std::string> halves = {one.secret.substr(0, at), one.secret.substr(at)};
    const std::string marker = "[REDACTED:" + one.kind + "]";
    hides(with_values(), one.name + "<1>\xe2\x80\x8b<2>\" b\n", one.name + marker + "\" b\n", halves, one.begun);
    hides(
        with_values(), one.name + "<1>\x1b[1;31m<2>\" b\n", one.name + marker + "\x1b[1;31m\" b\n", halves, one.begun);
  }
}

TEST(RedactCases, G83_CapAndKillInKindsThatAreSplitByWhatIsNotSeen) {
  for (const Sample& one : samples()) {
    if (!one.kind.starts_with("env:")) hides_split_by_what_is_not_seen(one);
  }
}

TEST(RedactCases, G83_CapAndKillInValuesThatAreSplitByWhatIsNotSeen) {
  for (const Sample& one : samples()) {
    if (one.kind.starts_with("env:")) hides_split_by_what_is_not_seen(one);
  }
}

TEST(RedactCases, G83_StreamsAreApartAndTheCapIsShared) {
  const std::string key = anthropic_key();
  for (std::size_t half = 30; half < key.size(); ++half) {
    MemorySink saved;
    OutputBudget budget(60);
    OutputCap out_cap(budget, saved);
    OutputCap err_cap(budget, saved);
    auto out = Redactor::create(shipped_kinds(), out_cap);
    auto err = Redactor::create(shipped_kinds(), err_cap);
    ASSERT_TRUE(out.has_value() && err.has_value());
    ASSERT_TRUE(out->push(std::string_view(key).substr(0, half)).has_value());
    ASSERT_TRUE(err->push(std::string_view(key).substr(half)).has_value());
    ASSERT_TRUE(out->finish().has_value());
    ASSERT_TRUE(err->finish().has_value());
    // The half that begins like a key is hidden; the other is no key to a reader of that stream.
    ASSERT_EQ(saved.text.find(key), std::string::npos);
    ASSERT_FALSE(shows(saved.text, key.substr(0, half))) << "half " << half;
    ASSERT_LE(saved.text.size(), 60u);
    ASSERT_EQ(budget.kept_bytes(), saved.text.size());
  }
}

TEST(RedactCases, G83_SavedSizeStaysUnderTheCapThoughMarkersAreLonger) {
  constexpr std::size_t kCap = 81920;
  std::string text;
  for (int i = 0; i < 9000; ++i)
    text += joined("AK", "IA", random_text(16, static_cast<unsigned>(i), "ABCDEFGH234567"), " ");
  MemorySink saved;
  OutputBudget budget(kCap);
  OutputCap cap(budget, saved);
  auto redactor = Redactor::create(shipped_kinds(), cap);
  ASSERT_TRUE(redactor.has_value());
  ASSERT_TRUE(redactor->push(text).has_value());
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_LE(saved.text.size(), kCap);
  EXPECT_GT(saved.text.size(), kCap - 20);
  EXPECT_FALSE(ends_inside_marker(saved.text));
  EXPECT_EQ(redactor->counts().at("aws"), 9000u);
}

// --- 84: floods. That they come to an end is what shows linear time; none of these asserts a time.

constexpr std::size_t kFloodBytes = 1 << 20;

void survives(const SecretSource& source, const std::string& piece) {
  SCOPED_TRACE(piece);
  const std::string text = repeat(piece, kFloodBytes / piece.size());
  const std::string out = stream(source, text, {});
  std::vector<std::size_t> chunks;
  for (std::size_t at = 4096; at < text.size(); at += 4096) chunks.push_back(at);
  ASSERT_EQ(stream(source, text, chunks), out);
  const std::string part = text.substr(0, kFloodBytes / 16);
  ASSERT_EQ(stream(source, part, random_cuts(part.size(), 9)), stream(source, part, {}));
  const std::string beginning = text.substr(0, 2000);
  ASSERT_EQ(stream(source, beginning, every_byte(beginning.size())), redact_whole(source, beginning).value_or(""));
}

TEST(RedactCases, G84_FloodsOfPrefixes) {
  const SecretSource source = source_with({{"TOKEN", kKnownValue}});
  for (const std::string& piece : {std::string("sk-"), std::string("sk- "), joined("ey", "J"), joined("ey", "J."),
           std::string("-----BEGIN "), joined("-----BEGIN PRIVATE", " KEY-----\n"), std::string("://:"),
           joined("AK", "IA"), kTelegram, kTelegram + "=a,", std::string("123456789:AA"),
           std::string("authorization: "), std::string("bearer "), std::string("Bearer a."), std::string("secret="),
           std::string("password: \""), std::string("?token=&"), std::string("[REDACTED:"), std::string("x9Kx9")}) {
    survives(source, piece);
  }
}

TEST(RedactCases, G84_FloodsOfRunsAndLineEnds) {
  const SecretSource source =
      source_with({{"TOKEN", kKnownValue}, {"PASS", "abcabcabcabd"}, {"WAVE", "abcdabcdabcdabcdabcdabcd"}});
  for (const std::string& piece : {std::string("a"), std::string("9"), std::string("-"), std::string("_"),
           std::string("/"), std::string("a-B"), std::string("abc"), std::string("abcd"), std::string("\r"),
           std::string("\n"), random_text(64, 12) + "\n", joined("s", "k-", "\n"), joined("s", "k-", "\r\nak_\n"),
           std::string(1, '\0'), std::string("\x1b[0m"), std::string("\x1b["), std::string("\x1b]"),
           std::string("\xe2\x80\x8b"), std::string("a\b"), std::string("k\x1b[1m")}) {
    survives(source, piece);
  }
}

// Counts what arrives and remembers only its end.
class CountingSink final : public ByteSink {
 public:
  Result<void> push(std::span<const char> bytes) override {
    size += bytes.size();
    end.append(bytes.data(), bytes.size());
    if (end.size() > 64) end.erase(0, end.size() - 64);
    return ok();
  }
  Result<void> finish() override { return ok(); }
  std::uint64_t size = 0;
  std::string end;
};

std::uint64_t wanted(const char* variable, std::uint64_t by_default) {
  const char* const value = std::getenv(variable);
  return value == nullptr ? by_default : std::strtoull(value, nullptr, 10);
}

// Of which 100 MB are no secret, and then 100 MB are one.
TEST(RedactCases, G84_OneLineOf100Megabytes) {
  const std::uint64_t line = wanted("GUARD_REDACT_LINE_BYTES", 100'000'000);
  for (const bool secret : {false, true}) {
    const std::string chunk = secret ? repeat(random_text(64, 12), 1024) : repeat("f(a,b)=>{return a+b*0.5};", 2600);
    CountingSink sink;
    auto redactor = Redactor::create(shipped_kinds(), sink);
    ASSERT_TRUE(redactor.has_value());
    std::uint64_t in = 0;
    for (; in < line; in += chunk.size()) {
      ASSERT_TRUE(redactor->push(chunk).has_value());
      ASSERT_LE(redactor->carried_bytes(), Redactor::kCarryBytesMax);
    }
    ASSERT_TRUE(redactor->push(std::string_view(" end\n")).has_value());
    ASSERT_TRUE(redactor->finish().has_value());
    const std::string marker = "[REDACTED:base64]";
    EXPECT_EQ(sink.size, (secret ? marker.size() : in) + 5);
    EXPECT_TRUE(sink.end.ends_with(secret ? marker + " end\n" : chunk.substr(chunk.size() - 30) + " end\n"))
        << sink.end;
  }
}

TEST(RedactCases, G84_MillionsOfWritesOfOneByte) {
  const std::uint64_t writes = wanted("GUARD_REDACT_WRITES", 1'000'000);
  const std::string text = "an ordinary line of output, 12 pass\nkey " + openai_key() + " ok\n";
  const std::size_t shorter = openai_key().size() - std::string_view("[REDACTED:openai]").size();
  CountingSink sink;
  auto redactor = Redactor::create(shipped_kinds(), sink);
  ASSERT_TRUE(redactor.has_value());
  const std::uint64_t times = writes / text.size();
  for (std::uint64_t i = 0; i < times; ++i) {
    for (const char& byte : text) {
      ASSERT_TRUE(redactor->push(std::span(&byte, 1)).has_value());
      ASSERT_LE(redactor->carried_bytes(), Redactor::kCarryBytesMax);
    }
  }
  ASSERT_TRUE(redactor->finish().has_value());
  EXPECT_EQ(sink.size, times * (text.size() - shorter));
  EXPECT_EQ(redactor->counts().at("openai"), times);
}

// A program that closes its standard output goes on writing to its standard error, where the cap still holds; and one
// that is killed in a secret leaves none of it on either.
TEST(RedactCases, G84_OneStreamEndsAndTheOtherIsKilledInASecret) {
  const std::string key = anthropic_key();
  for (std::size_t size = 4; size <= key.size(); ++size) {
    MemorySink saved;
    OutputBudget budget(81920);
    OutputCap out_cap(budget, saved);
    OutputCap err_cap(budget, saved);
    auto out = Redactor::create(shipped_kinds(), out_cap);
    auto err = Redactor::create(shipped_kinds(), err_cap);
    ASSERT_TRUE(out.has_value() && err.has_value());
    ASSERT_TRUE(out->push(std::string_view("done\n")).has_value());
    ASSERT_TRUE(out->finish().has_value());
    ASSERT_TRUE(err->push("key " + key.substr(0, size)).has_value());
    ASSERT_TRUE(err->finish_cut().has_value());
    ASSERT_EQ(saved.text.substr(0, 10), "done\nkey [");
    ASSERT_TRUE(saved.text.ends_with("]"));
    ASSERT_EQ(without_markers(saved.text), "done\nkey ");
  }
}

}  // namespace
}  // namespace guard::test
