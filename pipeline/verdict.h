// The verdict: allowed, rejected, undecided or unavailable, with one reason code from one table. Undecided is not
// allowed.
//
// Pure functions and plain values; no I/O.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "common/enum_names.h"
#include "common/error.h"
#include "pipeline/config/config.h"
#include "runner/init_side/bun_report.h"
#include "runner/process/exec_result.h"
#include "validator/validator.h"

namespace guard {

enum class VerdictKind : std::uint8_t { allowed, rejected, undecided, unavailable };
template <>
inline constexpr std::array<std::string_view, 4> kNamesOf<VerdictKind> = {
    "allowed", "rejected", "undecided", "unavailable"};

enum class Reason : std::uint8_t {
  // allowed
  no_findings,
  tests_passed,
  command_succeeded,  // `guard exec`
  // rejected
  findings,
  tests_failed,
  command_failed,  // `guard exec`
  crashed,         // a signal ended the test process
  timed_out,
  out_of_memory,
  pids_limit,
  storage_full,
  output_flood,
  violation,
  all_skipped,
  expected_failures,  // test.failing: passes by failing
  nothing_asserted,   // tests that passed without an assertion, or returned what nobody waits for
  assertion_swallowed,
  flaky,          // passed only after many failures
  report_forged,  // the report says one thing, the exit code or the summary another
  // undecided
  no_files,
  no_tests,
  report_missing,
  report_incomplete,
  changed_meanwhile,  // what ran is no longer what lies there
  sandbox_unproved,   // what init saw from inside is not what was asked for
  output_withheld,
  error,  // guard's or the engine's own failure; the error says which
  interrupted,
  // unavailable
  no_environment,
};

struct ReasonInfo {
  Reason reason;
  VerdictKind verdict;
  std::string_view name;      // wire name: "tests_failed"
  std::string_view sentence;  // what it means
  std::string_view next;      // what to do
};
const ReasonInfo& info(Reason reason) noexcept;
std::optional<Reason> reason_named(std::string_view name) noexcept;

struct Verdict {
  Reason reason = Reason::error;
  std::string detail;  // this case in one sentence; empty where the table's sentence says it all

  VerdictKind kind() const noexcept { return info(reason).verdict; }
  int exit_status() const noexcept;  // 0 / 1 / 2 / 3, 130 when interrupted
};

// An Error on the deciding way never becomes allowed: unavailable for the codes that say so, else undecided.
Verdict verdict_of(const Error& error);

Verdict verdict_of(const Report& check, bool files_expected);

// What a sandbox lacks by what init saw from inside (ExecResult::seen_inside), as the end of a sentence; empty:
// nothing.
std::string missing_hardening(const std::map<std::string, std::string>& seen);

// All that is known about one test run.
struct RunObservations {
  std::vector<std::string> files;  // as bun would name them: "sandbox/a.test.ts"
  ExecResult exec;
  const Collection* written = nullptr;  // what the run left in its writable folder; null: not known
  std::optional<TextSummary> text;      // bun's closing lines, read before masking and cap
  std::uint64_t failures_told = 0;      // failed tests that bun told of while it ran
  Assertions assertions = Assertions::file;
  bool sandboxed = true;  // false on the host backend: nothing to be proved from inside
  bool filtered = false;  // only tests of some names were to run (TestOptions::names)
};

struct RunJudgement {
  Verdict verdict;
  std::optional<TestSummary> tests;  // where the report could be read
  bool none_selected = false;        // of a filtered run: no test has such a name, so nothing ran
};

// A pass needs all of it: exit code 0, a complete report, a summary that says the same, at least one test in every
// file, none skipped as a whole, an init that saw the hardening from inside, and the attestation of
// runner/init_side/attestation.mjs that all tests have ended. Whatever is missing makes it undecided; whatever
// contradicts makes it rejected.
RunJudgement judge_test_run(const RunObservations& evidence);

// The same for what an evidence record says of a run: `evidence` has no report in `exec`, and `tests` is what it said,
// or nothing.
RunJudgement judge_recorded_run(const RunObservations& evidence, std::optional<TestSummary> tests);

// For `guard exec`: no report to be read.
Verdict judge_command(const ExecResult& exec, bool sandboxed);

}  // namespace guard
