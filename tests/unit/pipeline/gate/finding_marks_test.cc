#include "pipeline/gate/finding_marks.h"

#include <gtest/gtest.h>

#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

constexpr std::string_view kRemoves = "fs.rmSync(dir, { recursive: true });\n";

std::string fingerprint_in(const std::string& text, const std::string& path = "sandbox/a.test.ts") {
  const auto record = Gate()({{path, text}});
  const Finding* finding = find(record, "host.fs_remove");
  return finding == nullptr ? std::string() : finding->fingerprint;
}

TEST(FindingMarks, FingerprintStaysWhenTheCodeMoves) {
  const std::string alone(kRemoves);
  const std::string before = fingerprint_in(alone);
  EXPECT_EQ(before.size(), 64U);
  EXPECT_EQ(fingerprint_in("// one\n// two\n" + alone + "let more = 1;\n"), before);
  EXPECT_EQ(fingerprint_in("   \t" + alone), before) << "indented";
  EXPECT_EQ(fingerprint_in("fs.rmSync(dir,   { recursive: true });\r\n"), before) << "blanks, line end";
  EXPECT_EQ(fingerprint_in(alone, "sandbox/other.test.ts"), before);
}

TEST(FindingMarks, FingerprintChangesWithTheLineAndTheRule) {
  const std::string before = fingerprint_in(std::string(kRemoves));
  EXPECT_NE(fingerprint_in("fs.rmSync(home, { recursive: true });\n"), before);
  EXPECT_NE(fingerprint_in("if (x) fs.rmSync(dir, { recursive: true });\n"), before);
  Finding finding;
  finding.rule = "one";
  finding.line = 1;
  Finding other = finding;
  other.rule = "two";
  EXPECT_NE(finding_fingerprint(finding, "a\n"), finding_fingerprint(other, "a\n"));
}

TEST(FindingMarks, RegionCountsCharacters) {
  const auto record = Gate()({{"sandbox/a.test.ts", "let a = 'é€𝄞'; fs.rmSync(dir);\n"}});
  const Finding* finding = find(record, "host.fs_remove");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->column, 25U) << "bytes";
  EXPECT_EQ(finding->region.line, 1U);
  EXPECT_EQ(finding->region.column, 19U);
  EXPECT_EQ(finding->region.end_line, 1U);
  EXPECT_GT(finding->region.end_column, 19U);
}

TEST(FindingMarks, RegionKnowsEveryLineEnd) {
  const auto record = Gate()({{"sandbox/a.test.ts", "1;\r\n2;\r3;\n\nfs.rmSync(dir);\n"}});
  const Finding* finding = find(record, "host.fs_remove");
  ASSERT_NE(finding, nullptr);
  EXPECT_EQ(finding->line, 5U);
  EXPECT_EQ(finding->region.line, 5U);
}

TEST(FindingMarks, AFileAsAWholeHasNoRegionButAFingerprint) {
  const auto record = Gate()({{"sandbox/bunfig.toml", "x = 1\n"}, {"sandbox/a.test.ts", "1;\n"}});
  ASSERT_EQ(record.report.findings.size(), 1U);
  EXPECT_EQ(record.report.findings[0].region.line, 0U);
  EXPECT_EQ(record.report.findings[0].fingerprint.size(), 64U);
}

}  // namespace
}  // namespace guard
