// Reads what `bun test` says about itself: the JUnit document of its reporter and the summary at the end of its stderr.
//
// Both come out of the process that ran the tests and prove nothing alone; the verdict wants them, the exit code and
// the engine's state to agree (pipeline/verdict.h).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/result.h"

namespace guard {

struct TestFileSummary {
  std::string file;  // as bun names it: "sandbox/a.test.ts"
  std::uint64_t tests = 0;
  std::uint64_t failures = 0;
  std::uint64_t skipped = 0;
  std::uint64_t assertions = 0;
};

struct FailedTest {
  std::string file;
  std::uint32_t line = 0;
  std::string name;  // "group > test"
  std::string message;
};

// A test that passed. Foreign text, and masked nowhere: no document holds it.
struct PassedTest {
  std::string file;
  std::string name;  // "group > test"
  std::uint64_t assertions = 0;  // as bun counts them: none of concurrent tests and of node:assert
};

struct TestSummary {
  std::uint64_t tests = 0;
  std::uint64_t passed = 0;
  std::uint64_t failures = 0;
  std::uint64_t skipped = 0;  // todo too
  std::uint64_t assertions = 0;
  std::vector<TestFileSummary> files;
  std::vector<FailedTest> failed;
  std::vector<PassedTest> passed_tests;  // in the order of the report
};

// PROTOCOL_ERROR for anything but exactly one well-formed document whose sums agree at every level (cases against
// suites against the root), with no DTD, entities or trailing bytes.
Result<TestSummary> parse_junit(std::string_view document);

// The closing lines of bun's text output: " 12 pass", " 1 skip", " 0 fail", " 12 expect() calls", "Ran 13 tests across
// 3 files."
struct TextSummary {
  std::uint64_t passed = 0;
  std::uint64_t skipped = 0;  // skip + todo
  std::uint64_t failures = 0;
  std::uint64_t tests = 0;
  std::uint64_t files = 0;
};

// Collects a stream's tail while it passes (push from the raw, unredacted stream) and reads the LAST summary in it, if
// any. Counts the words by which bun tells of a failed test, or of an error outside of all tests, as soon as it has happened.
class TextSummaryReader {
 public:
  void push(std::string_view bytes);
  std::optional<TextSummary> summary() const;
  std::uint64_t failures_told() const noexcept { return failures_told_; }

 private:
  static constexpr std::size_t kMarks = 4;
  std::size_t matched_[kMarks] = {};  // bytes of each mark that the stream ends in
  std::uint64_t failures_told_ = 0;
  std::string tail_;
};

}  // namespace guard
