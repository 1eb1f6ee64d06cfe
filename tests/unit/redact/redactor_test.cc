// What leaves the redactor when, what it counts, and what it does when its sink fails or its stream is cut.
#include "redact/redactor.h"

#include "tests/support/redact/redact_case.h"

namespace guard::test {
namespace {

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
  EXPECT_EQ(after_push("a line that is long and ends in an ordinary word\n"),
      "a line that is long and ends in an ordinary word\n");
  EXPECT_EQ(after_push(kTelegram + "=x\n"), kTelegram + "=[REDACTED:telegram]\n");
}

// A terminal may have broken the key: the next line's first bytes tell.
TEST(Redactor, LineThatEndsInAKeyWaits) {
  EXPECT_EQ(after_push("key " + openai_key() + "\n"), "key ");
  EXPECT_EQ(after_push("key " + openai_key() + "\nd"), "key ");
  EXPECT_EQ(after_push("key " + openai_key() + "\nd e"), "key [REDACTED:openai]\nd ");
}

TEST(Redactor, DotsOfProgressLeaveAtOnce) { EXPECT_EQ(after_push("...."), "...."); }

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
  EXPECT_EQ(stream(shipped_kinds(), kTelegram + " ", {}, Ending::cut), kTelegram + "[REDACTED:telegram]");
}

// Texts that once made the stream differ from the definition, or the reader of memory go beyond it.
TEST(Redactor, TextsThatOnceWereReadWrongly) {
  const std::string value = random_text(12, 3);
  const std::string rest = random_text(20, 4);
  const std::string hidden =
      redacted("password=" + random_text(9, 5) + "\x1b]0;token=" + value + "\xe2\x80\x8b" + rest + "\a tail\n");
  EXPECT_EQ(hidden.find(rest.substr(0, 8)), std::string::npos) << hidden;
  redacted(
      "\x1b[m\n\nTO\x1b"
      "7KEN");
  redacted("Authorization: Bearer " + rest + "\x1b]8;;https://h.example/?token=" + value +
      "\x1b\\click here\x1b]8;;\x1b\\ done\n");
}

// What logs, containers and frames put before a line does not end a private key.
// The backslash belongs to what ends the link, so the 0 is a letter of the word as it was before the key was hidden.
TEST(Redactor, EndOfATerminalCommandEscapesNothing) {
  const std::string text = "\x1b]8;;\x1b\\0" + openai_key() + "\n";
  EXPECT_EQ(redacted(text), text);
  EXPECT_EQ(redacted("a\\0" + openai_key() + "\n"), "a\\0[REDACTED:openai]\n");
}

// Words are no secret; but of a value that fills the window nobody knows whether it is words up to its end.
TEST(Redactor, WordsAreNoExceptionWhereTheirEndIsNotSeen) {
  const std::string header = "authorization: basic ";
  EXPECT_EQ(redacted(header + "some-ordinary-words\n"), header + "some-ordinary-words\n");
  EXPECT_EQ(redacted(header + repeat("a-", 120) + "o9S\n"), header + "[REDACTED:authorization]\n");
}

TEST(Redactor, PrivateKeyBehindWhatIsPutBeforeLines) {
  const std::string body = random_text(64, 6) + "\n";
  for (const std::string before : {"-", "web-1  | ", "2024-05-01T12:00:00.000Z ", "[app] ", "stdout: ", "#12 0.345 ",
           " 12 \xe2\x94\x82 ", "// ", "\x1b[31m-"}) {
    std::string text = before + std::string("-----BEGIN ") + "RSA PRIVATE KEY-----\n";
    for (int i = 0; i < 3; ++i) text += before + body;
    text += before + "-----END RSA PRIVATE KEY-----\n" + before + "an ordinary line\n";
    EXPECT_EQ(redacted(text), before + "[REDACTED:pem]\n" + before + "an ordinary line\n");
  }
}

TEST(Redactor, ValuesThatShareTheirBeginningAreFoundByTheirOwn) {
  std::vector<KnownSecret> known;
  for (unsigned i = 0; i < 200; ++i)
    known.push_back({"V" + std::to_string(i), "postgres://user:" + random_text(20, 100 + i)});
  const SecretSource source = source_with(known);
  EXPECT_EQ(redacted(source, "a " + known[7].value + " b\n"),
      "a [REDACTED:env:V0]"
      " b\n");
  EXPECT_EQ(redacted(source, "a x" + known[7].value.substr(16) + " b\n"), "a x[REDACTED:env:V7] b\n");
}

TEST(Redactor, ShortKnownValueInAManifestOfSecrets) {
  const SecretSource source = source_with({{"DB_PASSWORD",
      "tr0ub4"
      "dor&3"}});
  EXPECT_EQ(redacted(source,
                "x dHIwdWI0"
                "ZG9yJjM=\n")
                .find("ZG9y"),
      std::string::npos);
}

}  // namespace
}  // namespace guard::test
