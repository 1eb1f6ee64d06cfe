#include "validator/views/reading.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/validator/check_support.h"

namespace guard {
namespace {

std::string matched_in(const std::string& source, const std::string& rule) {
  for (const auto& finding : check({{"sandbox/a.test.ts", source}}).findings) {
    if (finding.rule != rule) continue;
    const Reading& reading = finding.reading;
    return shown_reading(reading.text.substr(reading.begin, reading.end - reading.begin));
  }
  ADD_FAILURE() << rule << " finds nothing in " << source;
  return {};
}

TEST(Reading, TellsWhatPiecesOfAStringMake) {
  EXPECT_EQ(matched_in("const p = \"/pr\" + \"oc/self/environ\";", "always.proc_file"), "/proc/self/environ");
  EXPECT_EQ(matched_in("const p = \"\\x2fproc/self/environ\";", "always.proc_file"), "/proc/self/environ");
}

TEST(Reading, TellsTheCallBehindAnotherName) {
  const auto findings = check({{"sandbox/a.test.ts", "import { rmSync as gone } from \"fs\";\ngone(d);\n"}}).findings;
  ASSERT_FALSE(findings.empty());
  const Reading& reading = findings.back().reading;
  EXPECT_THAT(
      shown_reading(reading.text.substr(reading.begin, reading.end - reading.begin)), testing::StartsWith("rmSync"));
}

TEST(Reading, IsSilentWhereTheSourceSaysTheSame) {
  EXPECT_EQ(matched_in("const p = \"/proc/self/environ\";", "always.proc_file"), "");
  EXPECT_EQ(matched_in("JSON.stringify( process . env );", "always.env_dump"), "");
  EXPECT_EQ(matched_in("JSON.stringify(process[\"env\"]);", "always.env_dump"), "");
}

TEST(Reading, ShowsEntriesAsCallsAndTheUnknownAsAGap) {
  EXPECT_EQ(shown_reading("\x1e"
                          "fs.readFileSync\x1d/proc/\x1a/environ\x1f"),
      "fs.readFileSync(\"/proc/<?>/environ\")");
  EXPECT_EQ(shown_reading("\x1e"
                          "value\x1d"
                          "process\x1d=\x1f"),
      "value process =");
  EXPECT_EQ(shown_reading("\x1d"
                          "a\nb\x1f"),
      "a\\nb");
}

TEST(Reading, KeepsSomeContextAndNoOtherEntry) {
  const std::string view = "\x1e\x1dother\x1f\x1e\x1dsecret-before /proc/self/mem behind\x1f\x1e\x1dnext\x1f";
  const std::size_t at = view.find("/proc");
  const Reading reading = reading_of(View::strings, view, at, at + 14, "x");
  EXPECT_EQ(reading.text.substr(reading.begin, reading.end - reading.begin), "/proc/self/mem");
  EXPECT_NE(reading.text.find("secret-before"), std::string::npos);
  EXPECT_EQ(reading.text.find("other"), std::string::npos);
  EXPECT_EQ(reading.text.find("next"), std::string::npos);
  EXPECT_TRUE(reading_of(View::raw, view, at, at + 14, "x").empty());
}

// A hostile file must not make guard keep it a thousand times over.
TEST(Reading, IsBounded) {
  const std::string view = "\x1e\x1d" + std::string(100'000, 'a') + "\x1f";
  const Reading reading = reading_of(View::strings, view, 2, view.size(), "x");
  EXPECT_LE(reading.text.size(), kReadingBytesMax + 2 * kReadingContextBytes);
}

}  // namespace
}  // namespace guard
