// One list of failures for every format.
#include "pipeline/report/test_results.h"
#include "pipeline/report/reports.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "pipeline/run_record.h"

namespace guard {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

RunRecord mixed() {
  RunRecord record;
  record.verdict = {Reason::tests_failed, {}};
  record.tests.emplace();
  record.tests->whole = false;
  record.tests->tests = 3;
  record.tests->passed = record.tests->failures = record.tests->skipped = 1;
  record.tests->files = {{"a.test.ts", 3, 1, 1, 2}};
  TestCase failed{"a.test.ts", "group > adds", TestState::failed, 3};
  failed.kind = FailureKind::assertion;
  failed.message = "expect(received).toBe(expected)\n\nExpected: 2\nReceived: 1\n";
  failed.failed_line = 4;
  failed.failed_column = 21;
  record.tests->cases = {
      {"a.test.ts", "works", TestState::passed, 1, 2}, failed, {"a.test.ts", "later", TestState::todo, 9}};
  record.files = {file_result("a.test.ts", {Reason::tests_failed, "1 of 3 tests failed"}, {}, "later"),
      file_result("b.test.ts", {Reason::tests_failed, "bun exited with 1"},
          LoadError{LoadFailure::missing_package, "Cannot find package 'zod' from '/app/b.test.ts'", 2, 0}, {}),
      file_result("c.test.ts", {Reason::timed_out, "stopped after 1 s"}, {}, "quick"), FileResult{"d.test.ts"}};
  return record;
}

TEST(TestResults, HasOneFailureForEachTestAndForEachFileThatFailedAsAWhole) {
  const auto failures = failures_of(mixed());
  ASSERT_EQ(failures.size(), 3u);
  EXPECT_EQ(failures[0].test, "group > adds");
  EXPECT_EQ(failures[0].line, 4u);
  EXPECT_EQ(failures[0].column, 21u);
  EXPECT_EQ(failures[0].kind, "assertion");
  EXPECT_EQ(failures[1].test, "");
  EXPECT_EQ(failures[1].kind, "missing_package");
  EXPECT_THAT(std::string(failures[1].next), HasSubstr("guard image build"));
  EXPECT_EQ(failures[2].kind, "timed_out");
  EXPECT_EQ(failures[2].message, "stopped after 1 s, after \"quick\"");
}

TEST(TestResults, AFileIsInOneStateAlone) {
  EXPECT_EQ(file_result("a", {Reason::tests_passed, {}}, {}, {}).state, FileState::passed);
  EXPECT_EQ(file_result("a", {Reason::nothing_asserted, {}}, {}, {}).state, FileState::failed);
  EXPECT_EQ(file_result("a", {Reason::report_missing, {}}, {}, {}).state, FileState::failed);
  EXPECT_EQ(file_result("a", {Reason::timed_out, {}}, {}, {}).state, FileState::timed_out);
  for (const Reason reason : {Reason::crashed, Reason::out_of_memory, Reason::pids_limit, Reason::output_flood})
    EXPECT_EQ(file_result("a", {reason, {}}, {}, {}).state, FileState::crashed);
}

TEST(TestResults, AreTheSameInEveryFormat) {
  const RunRecord record = mixed();
  const std::string text = run_text(record, Colour::off);
  EXPECT_THAT(text,
      AllOf(HasSubstr("failed: a.test.ts:4:21 group > adds\n"), HasSubstr("Expected: 2"),
          HasSubstr("failed: b.test.ts:2 (missing package)\n"), HasSubstr("failed: c.test.ts (timed out)\n"),
          HasSubstr("not begun"), HasSubstr("1 passed, 1 failed, 1 skipped in 1 file of 4")));
  const auto json = run_document(record);
  EXPECT_THAT(json,
      AllOf(HasSubstr("\"kind\": \"assertion\""), HasSubstr("\"kind\": \"missing_package\""),
          HasSubstr("\"state\": \"not_begun\""), HasSubstr("\"last_test\": \"quick\"")));
  const std::string junit = run_junit(record);
  EXPECT_THAT(junit,
      AllOf(HasSubstr("name=\"works\""), HasSubstr("<failure type=\"assertion\""),
          HasSubstr("Expected: 2\nReceived: 1"), HasSubstr("<error type=\"missing_package\""),
          HasSubstr("<error type=\"timed_out\""), HasSubstr("not begun"), HasSubstr("message=\"todo\""),
          Not(HasSubstr("no findings")), Not(HasSubstr("\\n"))));
  const std::string github = run_annotations(record);
  EXPECT_THAT(github,
      AllOf(HasSubstr("::error file=a.test.ts,line=4,col=21,title=group > "
                      "adds::expect(received).toBe(expected)%0A%0AExpected: 2%0AReceived: 1"),
          HasSubstr("::error file=b.test.ts,line=2,"), HasSubstr("::error file=c.test.ts,title="),
          Not(HasSubstr("\\n"))));
}

}  // namespace
}  // namespace guard
