// Reads what `bun test` says about itself: the JUnit document of its reporter and the summary at the end of its stderr.
//
// Both come out of the process that ran the tests and prove nothing alone; the verdict wants them, the exit code and
// the engine's state to agree (pipeline/verdict.h).
#pragma once

#include <chrono>
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
  std::chrono::microseconds duration{0};
};

enum class TestState : std::uint8_t { passed, failed, skipped, todo };
enum class FailureKind : std::uint8_t { none, assertion, error, timed_out };
std::string_view to_string(TestState state) noexcept;
std::string_view to_string(FailureKind kind) noexcept;

// One test. Its texts are foreign.
struct TestCase {
  std::string file;
  std::string name;  // "group > test"
  TestState state = TestState::passed;
  std::uint32_t line = 0;        // where it is declared; 0: not known
  std::uint64_t assertions = 0;  // as bun counts them: none of concurrent tests and of node:assert
  std::chrono::microseconds duration{0};
  FailureKind kind = FailureKind::none;
  std::string message = {};       // of a failure
  std::uint32_t failed_line = 0;  // where it failed, if that is in `file`; else 0, as is the column
  std::uint32_t failed_column = 0;
};

struct TestSummary {
  std::uint64_t tests = 0;
  std::uint64_t passed = 0;
  std::uint64_t failures = 0;
  std::uint64_t skipped = 0;  // todo too
  std::uint64_t assertions = 0;
  std::vector<TestFileSummary> files;
  std::vector<TestCase> cases;  // in the order of the report
  bool whole = true;            // false: files were run whose report could not be read, and are not in it
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
  std::uint64_t filtered = 0;  // not run, because of --test-name-pattern; in none of the other counts
};

// Collects a stream's tail while it passes (push from the raw, unredacted stream) and reads the LAST summary in it, if
// any. Counts the words by which bun tells of a failed test, or of an error outside of all tests, as soon as it has
// happened.
class TextSummaryReader {
 public:
  void push(std::string_view bytes);
  std::optional<TextSummary> summary() const;
  std::uint64_t failures_told() const noexcept { return failures_told_; }
  // What bun says of the first error outside of all tests, when it loads the file above all; empty: of none. Foreign
  // text.
  std::string error_outside() const;
  // The test that bun told of last. Foreign text.
  std::string last_test() const;

 private:
  static constexpr std::size_t kOutsideMax = 4096;
  static constexpr std::size_t kMarks = 4;
  std::size_t matched_[kMarks] = {};  // bytes of each mark that the stream ends in
  std::uint64_t failures_told_ = 0;
  bool outside_begun_ = false;
  std::string outside_;  // the first bytes behind the mark
  std::string tail_;
};

// What kept a file from being loaded, by the words of error_outside().
enum class LoadFailure : std::uint8_t { syntax, missing_package, missing_file, missing_library, error };
std::string_view to_string(LoadFailure failure) noexcept;
struct LoadError {
  LoadFailure kind = LoadFailure::error;
  std::string message;     // its first line, without "error: "
  std::uint32_t line = 0;  // 0: not known
  std::uint32_t column = 0;
};
// `file`: as bun names it. Text that is none of bun's gives an error with its first line.
LoadError parse_load_error(std::string_view text, std::string_view file);

}  // namespace guard
