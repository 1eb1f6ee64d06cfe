// The verdict fails closed: these tests start from a run that passes and take one proof away at a time.
#include "pipeline/verdict.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace guard {
namespace {

std::string junit(int tests, int failures, int skipped, const std::string& file = "sandbox/a.test.ts") {
  std::string cases;
  for (int i = 0; i < tests; ++i) {
    cases += fmt::format(R"(<testcase name="t{}" classname="" time="0" file="{}" line="1" assertions="1">)", i, file);
    if (i < failures) cases += R"(<failure type="AssertionError" message="no"/>)";
    if (i >= failures && i < failures + skipped) cases += "<skipped/>";
    cases += "</testcase>";
  }
  const auto counts =
      fmt::format(R"(tests="{}" assertions="{}" failures="{}" skipped="{}")", tests, tests, failures, skipped);
  return fmt::format(
      R"(<?xml version="1.0" encoding="UTF-8"?><testsuites name="bun test" {} time="0.1"><testsuite name="{}" file="{}" {} time="0.1">{}</testsuite></testsuites>)",
      counts, file, file, counts, cases);
}

RunObservations passing() {
  RunObservations evidence;
  evidence.files = {"sandbox/a.test.ts"};
  evidence.exec.outcome = {OutcomeKind::exited, 0, ""};
  evidence.exec.report = junit(2, 0, 0);
  evidence.exec.seen_inside = {{"uid", "1000"}, {"gid", "1000"}, {"cap_eff", "0000000000000000"},
      {"cap_prm", "0000000000000000"}, {"cap_bnd", "0000000000000000"}, {"cap_amb", "0000000000000000"},
      {"no_new_privs", "1"}, {"seccomp", "2"}};
  evidence.text = TextSummary{2, 0, 0, 2, 1};
  evidence.exec.attested =
      Attested{{{"begun", 2}, {"passed", 2}, {"attempts", 2}, {"assertions", 2}}, {}, false, false};
  return evidence;
}

TEST(Verdict, AllProofsTogetherAllow) {
  const auto judged = judge_test_run(passing());
  EXPECT_EQ(judged.verdict.reason, Reason::tests_passed) << judged.verdict.detail;
  EXPECT_EQ(judged.verdict.exit_status(), 0);
  ASSERT_TRUE(judged.tests);
  EXPECT_EQ(judged.tests->passed, 2u);
}

TEST(Verdict, ReportWithoutAttestationIsAForgery) {
  auto evidence = passing();
  evidence.exec.attested.reset();
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
  evidence = passing();
  evidence.exec.attestation_forged = true;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
}

// Every word of the attestation, one at a time, beside a report that shows two passed tests.
TEST(Verdict, AttestationHasToAgreeWithTheReportExactly) {
  struct Case {
    const char* word;
    std::uint64_t count;
    Reason reason;
  };
  const Case cases[] = {
      {"passed", 1, Reason::report_forged}, {"passed", 3, Reason::report_forged}, {"passed", 0, Reason::report_forged},
      {"failed", 1, Reason::report_forged}, {"abandoned", 1, Reason::report_forged},
      {"hooks_failed", 1, Reason::report_forged}, {"outside_failed", 1, Reason::report_forged},
      {"tampered", 1, Reason::violation}, {"expected_failures", 1, Reason::expected_failures},
      {"swallowed", 1, Reason::assertion_swallowed}, {"flaky", 1, Reason::flaky},
      {"unawaited", 1, Reason::nothing_asserted}, {"assertions", 0, Reason::nothing_asserted},
      {"unasserted", 1, Reason::tests_passed}, {"attempts", 3, Reason::tests_passed},  // one was tried again
  };
  for (const Case& one : cases) {
    auto evidence = passing();
    evidence.exec.attested->counts[one.word] = one.count;
    const auto judged = judge_test_run(evidence);
    EXPECT_EQ(judged.verdict.reason, one.reason) << one.word << '=' << one.count << ": " << judged.verdict.detail;
  }
}

TEST(Verdict, WhatInitSawOfTheProcessIsAViolation) {
  for (bool Attested::*seen : {&Attested::redirected, &Attested::debugged, &Attested::ended_elsewhere}) {
    auto evidence = passing();
    (*evidence.exec.attested).*seen = true;
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::violation);
  }
}

TEST(Verdict, AssertionsAreAskedForWhereTheConfigurationSaysSo) {
  auto evidence = passing();
  evidence.exec.attested->counts["unasserted"] = 1;
  evidence.exec.attested->titles = {{"unasserted", "adds"}};
  evidence.assertions = Assertions::test;
  const auto judged = judge_test_run(evidence);
  EXPECT_EQ(judged.verdict.reason, Reason::nothing_asserted);
  EXPECT_NE(judged.verdict.detail.find("\"adds\""), std::string::npos) << judged.verdict.detail;
  evidence.exec.attested->counts["assertions"] = 0;
  evidence.assertions = Assertions::off;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::tests_passed);
}

TEST(Verdict, FilesWhereBunLooksThingsUpAreAViolation) {
  for (const char* path : {"node_modules/x/index.js", "package.json", "deep/tsconfig.build.json", ".env.local",
           "bunfig.toml", "__snapshots__/a.snap", "a.test.ts.snap"}) {
    Collection written;
    written.left_behind = {{path, LeftBehindReason::not_asked}};
    written.left_behind_count = 1;
    auto evidence = passing();
    evidence.written = &written;
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::violation) << path;
    written.left_behind.clear();
    written.left_behind_count = 0;
    written.files = {{path, "{}"}};
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::violation) << path;
  }
  Collection written;
  written.left_behind = {{"out/report.json", LeftBehindReason::not_asked}};
  written.left_behind_count = 1;
  auto evidence = passing();
  evidence.written = &written;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::tests_passed);
  written.left_behind_count = 2;  // one that nobody has named
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::violation);
}

TEST(Verdict, FailureToldOnTheWayIsNotForgotten) {
  auto evidence = passing();
  evidence.failures_told = 1;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
}

TEST(Verdict, MissingReportIsUndecided) {
  auto evidence = passing();
  evidence.exec.report.reset();
  evidence.text.reset();
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_missing);
  EXPECT_EQ(judge_test_run(evidence).verdict.exit_status(), 2);
}

TEST(Verdict, PrintedSummaryWithoutReportIsAForgery) {
  auto evidence = passing();
  evidence.exec.report.reset();
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
}

TEST(Verdict, ReportWithoutSummaryIsIncomplete) {
  auto evidence = passing();
  evidence.text.reset();
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_incomplete);
}

TEST(Verdict, CutReportIsIncomplete) {
  auto evidence = passing();
  evidence.exec.report->resize(evidence.exec.report->size() / 2);
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_incomplete);
  evidence = passing();
  evidence.exec.report_truncated = true;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_incomplete);
}

TEST(Verdict, FailureInReportWithExitZeroIsAForgery) {
  auto evidence = passing();
  evidence.exec.report = junit(2, 1, 0);
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
}

TEST(Verdict, SummaryThatCountsOtherwiseIsAForgery) {
  for (const auto& other : {TextSummary{3, 0, 0, 3, 1}, TextSummary{1, 1, 0, 2, 1}, TextSummary{2, 0, 0, 2, 2}}) {
    auto evidence = passing();
    evidence.text = other;
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::report_forged);
  }
}

TEST(Verdict, ExitCodeOtherThanZeroIsRejectedWhateverTheReportSays) {
  auto evidence = passing();
  evidence.exec.outcome.value = 1;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::tests_failed);
  EXPECT_EQ(judge_test_run(evidence).verdict.exit_status(), 1);
  evidence.exec.report.reset();
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::tests_failed);
}

TEST(Verdict, EveryFileNeedsATest) {
  auto evidence = passing();
  evidence.files.push_back("sandbox/b.test.ts");
  evidence.text->files = 2;
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::no_tests);
}

TEST(Verdict, NoTestAtAllIsUndecided) {
  auto evidence = passing();
  evidence.exec.report.reset();
  evidence.text = TextSummary{0, 0, 0, 0, 1};
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::no_tests);
}

TEST(Verdict, NoFileAtAllIsUndecided) {
  auto evidence = passing();
  evidence.files.clear();
  evidence.text = TextSummary{0, 0, 0, 0, 0};
  EXPECT_EQ(judge_recorded_run(evidence, TestSummary()).verdict.reason, Reason::no_tests);
}

TEST(Verdict, AllSkippedIsRejected) {
  auto evidence = passing();
  evidence.exec.report = junit(2, 0, 2);
  evidence.text = TextSummary{0, 2, 0, 2, 1};
  EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::all_skipped);
  EXPECT_EQ(judge_test_run(evidence).verdict.exit_status(), 1);
}

TEST(Verdict, EveryForcedEndIsRejectedThoughTheReportIsGreen) {
  const std::pair<OutcomeKind, Reason> rows[] = {
      {OutcomeKind::signaled, Reason::crashed},
      {OutcomeKind::timed_out, Reason::timed_out},
      {OutcomeKind::out_of_memory, Reason::out_of_memory},
      {OutcomeKind::pids_limit, Reason::pids_limit},
      {OutcomeKind::output_flood, Reason::output_flood},
      {OutcomeKind::violation, Reason::violation},
  };
  for (const auto& [kind, reason] : rows) {
    auto evidence = passing();
    evidence.exec.outcome = {kind, 0, ""};
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, reason);
    EXPECT_EQ(judge_test_run(evidence).verdict.exit_status(), 1);
  }
  auto evidence = passing();
  evidence.exec.outcome = {OutcomeKind::cancelled, 0, ""};
  EXPECT_EQ(judge_test_run(evidence).verdict.exit_status(), 130);
}

TEST(Verdict, EachMissingPieceOfHardeningMakesItUndecided) {
  const std::pair<const char*, const char*> rows[] = {{"uid", "0"}, {"gid", "0"}, {"cap_eff", "00000000a80425fb"},
      {"cap_prm", "1"}, {"cap_bnd", "000001ff"}, {"cap_amb", "1"}, {"no_new_privs", "0"}, {"seccomp", "0"}};
  for (const auto& [key, value] : rows) {
    auto evidence = passing();
    evidence.exec.seen_inside[key] = value;
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::sandbox_unproved) << key;
    evidence.exec.seen_inside.erase(key);
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::sandbox_unproved) << key;
    evidence.sandboxed = false;
    EXPECT_EQ(judge_test_run(evidence).verdict.reason, Reason::tests_passed) << key;
  }
}

// No error of any code may come out as allowed or rejected.
TEST(Verdict, ErrorsAreUndecidedOrUnavailable) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::internal); ++code) {
    const auto kind = verdict_of(Error(static_cast<ErrorCode>(code), "x")).kind();
    EXPECT_TRUE(kind == VerdictKind::undecided || kind == VerdictKind::unavailable) << code;
  }
}

TEST(Verdict, EveryReasonHasARowAndOnlyThreeAllow) {
  int allowing = 0;
  for (int reason = 0; reason <= static_cast<int>(Reason::no_environment); ++reason) {
    if (info(static_cast<Reason>(reason)).verdict == VerdictKind::allowed) ++allowing;
  }
  EXPECT_EQ(allowing, 3);
}

TEST(Verdict, NothingToLookAtIsNoPass) {
  Report empty;
  EXPECT_EQ(verdict_of(empty, true).reason, Reason::no_files);
  EXPECT_EQ(verdict_of(empty, false).reason, Reason::no_findings);
  Finding note;
  note.severity = Severity::note;
  Report noted;
  noted.files = 1;
  noted.findings.push_back(note);
  EXPECT_EQ(verdict_of(noted, true).reason, Reason::no_findings);
}

// A backend that sees it at once ends the run with an error; the verdict is the same as where it is seen at the end.
TEST(Verdict, ASandboxThatShowedItselfUnprovedAtOnceIsUnproved) {
  const auto told =
      verdict_of(Error(ErrorCode::environment_creation_failed, "no filter").detail("unproved", "no filter"));
  EXPECT_EQ(told.reason, Reason::sandbox_unproved);
  EXPECT_EQ(told.kind(), VerdictKind::undecided);
  EXPECT_EQ(verdict_of(Error(ErrorCode::environment_creation_failed, "no engine")).reason, Reason::error);
}

}  // namespace
}  // namespace guard
