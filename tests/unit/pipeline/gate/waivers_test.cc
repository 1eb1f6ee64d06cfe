#include "pipeline/gate/waivers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "common/hash.h"
#include "common/text/toml_file.h"
#include "pipeline/config/config_values.h"
#include "tests/support/pipeline/gate_fixture.h"

namespace guard {
namespace {

using ::testing::HasSubstr;
using Why = IdleWaiver::Why;

constexpr std::string_view kToday = "2030-06-15";
const std::string kPath = "sandbox/a.test.ts";
const std::string kText = "fs.rmSync(dir);\neval(code);\nJSON.stringify(process.env);\n";

CheckRecord judged(const std::string& path = kPath, const std::string& text = kText) { return Gate()({{path, text}}); }

std::string fingerprint_of(const CheckRecord& record, std::string_view rule) {
  const Finding* finding = find(record, rule);
  return finding == nullptr ? std::string("none") : finding->fingerprint;
}

Waiver waiver(std::string rule, std::string fingerprint) {
  return {std::move(rule), kPath, std::move(fingerprint), "reads a fixture", "2030-12-31", "guard.toml:1"};
}

// Waivers applied to the findings of kText.
struct Applied {
  Report report;
  WaiverOutcome outcome;
};
Applied apply(const std::vector<Waiver>& waivers, const std::string& path = kPath, std::string_view today = kToday,
    const std::string& text = kText) {
  Applied applied;
  applied.report = judged(path, text).report;
  applied.outcome =
      apply_waivers(waivers, {ProjectPaths(), {path}, {{path, sha256_hex(text)}}}, today, applied.report.findings);
  return applied;
}

bool reports(const Report& report, std::string_view rule) {
  return std::any_of(
      report.findings.begin(), report.findings.end(), [&](const Finding& finding) { return finding.rule == rule; });
}

TEST(Waivers, LetTheNamedFindingPassAndNoOther) {
  const auto applied = apply({waiver("host.fs_remove", fingerprint_of(judged(), "host.fs_remove"))});
  EXPECT_FALSE(reports(applied.report, "host.fs_remove"));
  EXPECT_TRUE(reports(applied.report, "host.eval"));
  EXPECT_TRUE(reports(applied.report, "always.env_dump"));
  ASSERT_EQ(applied.outcome.used.size(), 1U);
  EXPECT_EQ(applied.outcome.used[0].findings, 1U);
  ASSERT_EQ(applied.outcome.waived.size(), 1U);
  EXPECT_EQ(applied.outcome.waived[0].finding.rule, "host.fs_remove");
  EXPECT_TRUE(applied.outcome.idle.empty());
}

TEST(Waivers, TakeTheFilesOwnHashToo) {
  EXPECT_EQ(apply({waiver("host.fs_remove", sha256_hex(kText))}).outcome.used.size(), 1U);
  EXPECT_EQ(apply({waiver("host.fs_remove", sha256_hex("other"))}).outcome.used.size(), 0U);
}

TEST(Waivers, PathsAreGlobsSeenFromTheProject) {
  Waiver wide = waiver("host.fs_remove", fingerprint_of(judged(), "host.fs_remove"));
  wide.path = "sandbox/**";
  EXPECT_EQ(apply({wide}).outcome.used.size(), 1U);
  EXPECT_EQ(apply({wide}, "/home/somebody/project/sandbox/deep/a.test.ts").outcome.used.size(), 1U);
  EXPECT_EQ(apply({wide}, "./sandbox/a.test.ts").outcome.used.size(), 1U);
  wide.path = "other/**";
  EXPECT_EQ(apply({wide}).outcome.used.size(), 0U);
}

TEST(Waivers, ExpiredOnesCountForNothingAndSaySo) {
  const auto fingerprint = fingerprint_of(judged(), "host.fs_remove");
  EXPECT_EQ(apply({waiver("host.fs_remove", fingerprint)}, kPath, "2030-12-31").outcome.used.size(), 1U)
      << "the last day";
  const auto late = apply({waiver("host.fs_remove", fingerprint)}, kPath, "2031-01-01");
  EXPECT_TRUE(reports(late.report, "host.fs_remove"));
  ASSERT_EQ(late.outcome.idle.size(), 1U);
  EXPECT_EQ(late.outcome.idle[0].why, Why::expired);
  EXPECT_THAT(late.outcome.idle[0].sentence, HasSubstr("ran out on 2030-12-31, so 1 finding counts again"));
}

TEST(Waivers, WhatChangedIsNotWaivedAnyMore) {
  const auto changed = apply(
      {waiver("host.fs_remove", fingerprint_of(judged(), "host.fs_remove"))}, kPath, kToday, "fs.rmSync(home);\n");
  EXPECT_TRUE(reports(changed.report, "host.fs_remove"));
  ASSERT_EQ(changed.outcome.idle.size(), 1U);
  EXPECT_EQ(changed.outcome.idle[0].why, Why::changed);
}

TEST(Waivers, UnusedOnesAreTold) {
  const auto fixed = apply({waiver("host.child_process", std::string(64, 'a'))});
  ASSERT_EQ(fixed.outcome.idle.size(), 1U);
  EXPECT_EQ(fixed.outcome.idle[0].why, Why::no_finding);
  Waiver elsewhere = waiver("host.eval", std::string(64, 'a'));
  elsewhere.path = "sandbox/gone.test.ts";
  EXPECT_EQ(apply({elsewhere}).outcome.idle.at(0).why, Why::no_file);
}

// The configuration refuses such waivers by their names; rules of a person's own may be called anything.
TEST(Waivers, TiersWithoutExceptionsHaveNone) {
  const auto applied = apply({waiver("always.env_dump", fingerprint_of(judged(), "always.env_dump"))});
  EXPECT_TRUE(reports(applied.report, "always.env_dump"));
  ASSERT_EQ(applied.outcome.idle.size(), 1U);
  EXPECT_EQ(applied.outcome.idle[0].why, Why::not_waivable);
  for (const auto tier : {FindingTier::always, FindingTier::banned, FindingTier::encoding, FindingTier::policy})
    EXPECT_FALSE(is_waivable(tier));
  for (const auto tier : {FindingTier::docker, FindingTier::host, FindingTier::side_file})
    EXPECT_TRUE(is_waivable(tier));
}

// One [[check.waivers]] table of the printed template, read back as guard.toml reads it.
TEST(Waivers, ThePrintedOneWorksOnceAReasonIsFilledIn) {
  const std::string path = "sandbox/we\"ird é.test.ts";
  const auto record = judged("/home/p/" + path);
  std::string text = waiver_template(record.report, ProjectPaths("/home/p"), kToday);
  EXPECT_THAT(text, HasSubstr("expires = 2030-09-13"));
  EXPECT_THAT(text, HasSubstr("# /home/p/sandbox/we\"ird é.test.ts:3: always.env_dump cannot be waived"));
  const auto load = [](const std::string& toml) {
    Config config;
    std::vector<ConfigComplaint> complaints;
    auto parsed = parse_toml(toml, "guard.toml");
    EXPECT_TRUE(parsed) << toml;
    if (parsed) {
      for (const auto& item : parsed->find("check")->find("waivers")->items)
        add_waiver(item, "guard.toml", config.check.waivers, complaints);
    }
    return complaints.empty() ? config.check.waivers : std::vector<Waiver>();
  };
  EXPECT_TRUE(load(text).empty()) << "no reason yet";
  for (std::size_t at = text.find("reason = \"\""); at != std::string::npos; at = text.find("reason = \"\""))
    text.replace(at, 11, "reason = \"because\"");
  const auto waivers = load(text);
  ASSERT_EQ(waivers.size(), 2U) << text;
  const auto applied = apply(waivers, path);
  EXPECT_EQ(applied.outcome.used.size(), 2U);
  ASSERT_EQ(applied.report.findings.size(), 1U);
  EXPECT_EQ(applied.report.findings[0].rule, "always.env_dump");
}

TEST(Waivers, OneTemplateServesFindingsThatLookAlike) {
  const auto record = judged(kPath, "fs.rmSync(dir);\nfs.rmSync(dir);\n");
  ASSERT_EQ(record.report.findings.size(), 2U);
  const std::string text = waiver_template(record.report, ProjectPaths(), kToday);
  EXPECT_EQ(text.find("[[check.waivers]]"), text.rfind("[[check.waivers]]"));
  EXPECT_EQ(waiver_template({}, ProjectPaths(), kToday), "# nothing to waive\n");
}

}  // namespace
}  // namespace guard
