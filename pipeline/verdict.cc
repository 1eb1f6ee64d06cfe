#include "pipeline/verdict.h"

#include <fmt/format.h>

#include <signal.h>

#include <algorithm>
#include <array>
#include <cstdlib>

#include "common/text/text.h"
#include "common/text/time_text.h"

namespace guard {
namespace {

using enum VerdictKind;

constexpr std::array kTable = {
    ReasonInfo{Reason::no_findings, allowed, "no_findings", "no rule matched", ""},
    ReasonInfo{Reason::tests_passed, allowed, "tests_passed",
        "the code passed the gate and its tests passed in the sandbox", ""},
    ReasonInfo{Reason::command_succeeded, allowed, "command_succeeded", "the command exited with 0", ""},
    ReasonInfo{Reason::findings, rejected, "findings", "the rules forbid something in these files",
        "change what each finding points at; `guard rules show ID` explains a rule"},
    ReasonInfo{Reason::tests_failed, rejected, "tests_failed", "tests failed",
        "read the failing tests above and fix the code or the test"},
    ReasonInfo{
        Reason::command_failed, rejected, "command_failed", "the command did not exit with 0", "read its output above"},
    ReasonInfo{Reason::crashed, rejected, "crashed", "the test process was ended by a signal",
        "look for native crashes or a process that kills itself"},
    ReasonInfo{Reason::timed_out, rejected, "timed_out", "the run took longer than its limit",
        "find out what hangs; --file-timeout ends one file and runs the others, --timeout is the limit of all"},
    ReasonInfo{Reason::out_of_memory, rejected, "out_of_memory", "the run was killed for memory",
        "use less memory, or raise [limits] memory"},
    ReasonInfo{Reason::pids_limit, rejected, "pids_limit", "the run hit its limit of processes",
        "start fewer processes, or raise [limits] pids"},
    ReasonInfo{Reason::storage_full, rejected, "storage_full",
        "a writable folder of the sandbox was full, and the run failed",
        "write less, or raise [limits] tmp_size, sandbox_size or sandbox_files"},
    ReasonInfo{Reason::output_flood, rejected, "output_flood", "the run printed more than the flood limit",
        "print less, or raise [limits] output_flood_bytes"},
    ReasonInfo{
        Reason::violation, rejected, "violation", "the run tampered with its sandbox", "remove the code that does it"},
    ReasonInfo{Reason::all_skipped, rejected, "all_skipped", "every test of a file was skipped",
        "a skipped test proves nothing: let at least one run"},
    ReasonInfo{Reason::expected_failures, rejected, "expected_failures",
        "tests are marked `.failing`: such a test passes by failing",
        "fix the code and remove `.failing`, or skip the test with a reason"},
    ReasonInfo{Reason::nothing_asserted, rejected, "nothing_asserted", "tests passed without asserting anything",
        "assert what the code is for, and await what is asynchronous. expect of bun:test (also as jest's or vitest's) "
        "and node:assert are counted. Types (expectTypeOf), chai, sinon and "
        "other packages are not: give their result to expect, or set [run] require_assertions = \"off\" and commit "
        "that"},
    ReasonInfo{Reason::assertion_swallowed, rejected, "assertion_swallowed",
        "an assertion failed, and its test passed all the same",
        "let the failure reach the test: no catch around assertions; expect(...).toThrow() or rejects where a failure "
        "is expected"},
    ReasonInfo{Reason::flaky, rejected, "flaky", "a test passed only after several failures",
        "find out why it fails; retries hide it"},
    ReasonInfo{Reason::report_forged, rejected, "report_forged",
        "the report, the summary and the exit code contradict each other",
        "let bun report by itself: do not write to its report, print its summary or end the process"},
    ReasonInfo{Reason::no_files, undecided, "no_files", "there were no files to check",
        "name files or folders, or pass --allow-empty if none is expected"},
    ReasonInfo{Reason::no_tests, undecided, "no_tests", "a file holds no test that ran",
        "add a test, leave the file out, or give another -t"},
    ReasonInfo{Reason::report_missing, undecided, "report_missing", "the test process ended before bun could report",
        "do not end the process in a test (process.exit and its kin)"},
    ReasonInfo{Reason::report_incomplete, undecided, "report_incomplete", "bun's report or summary is incomplete",
        "run again; if it happens again, run the files one by one"},
    ReasonInfo{Reason::changed_meanwhile, undecided, "changed_meanwhile",
        "files changed while the tests ran, so the result does not describe what is on disk now",
        "run again without changing files"},
    ReasonInfo{Reason::sandbox_unproved, undecided, "sandbox_unproved",
        "the sandbox could not confirm its hardening from inside", "run `guard doctor`"},
    ReasonInfo{Reason::output_withheld, undecided, "output_withheld",
        "the output may contain secrets that could not be masked", "run again; report it if it happens again"},
    ReasonInfo{Reason::error, undecided, "error", "guard could not finish", ""},
    ReasonInfo{Reason::interrupted, undecided, "interrupted", "guard was asked to stop", "run again"},
    ReasonInfo{Reason::no_environment, unavailable, "no_environment", "no sandbox may be used to run this",
        "run `guard doctor`"},
};

Verdict verdict(Reason reason, std::string detail = {}) { return Verdict{reason, std::move(detail)}; }

// ExecResult::touched as whoever reads the verdict knows it.
std::string in_project(std::string_view inside) {
  constexpr std::string_view kProject = "/app/";
  if (inside.starts_with(kProject)) inside.remove_prefix(kProject.size());
  if (inside.ends_with('/')) inside.remove_suffix(1);
  return inside.empty() ? "files or folders of the project" : std::string(inside);
}

// What the program's end says by itself. Empty when it exited with some code and that has to be read together with the
// rest.
std::optional<Verdict> verdict_of_outcome(const Outcome& outcome) {
  switch (outcome.kind) {
    case OutcomeKind::exited: return std::nullopt;
    case OutcomeKind::signaled:
      if (outcome.value == SIGXFSZ) return verdict(Reason::storage_full, "a file outgrew the limit of a file's size");
      return verdict(Reason::crashed, fmt::format("signal {}", outcome.value));
    case OutcomeKind::timed_out:
      return verdict(Reason::timed_out, fmt::format("stopped after {}", time_text(milliseconds(outcome.value))));
    case OutcomeKind::out_of_memory: return verdict(Reason::out_of_memory, outcome.detail);
    case OutcomeKind::pids_limit: return verdict(Reason::pids_limit, outcome.detail);
    case OutcomeKind::output_flood: return verdict(Reason::output_flood, outcome.detail);
    case OutcomeKind::violation: return verdict(Reason::violation, outcome.detail);
    case OutcomeKind::cancelled: return verdict(Reason::interrupted);
  }
  return verdict(Reason::error, "unknown outcome");
}

bool all_zero_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of('0') == std::string_view::npos;
}

std::optional<Verdict> proved_inside(const ExecResult& exec, bool sandboxed) {
  if (!sandboxed) return std::nullopt;
  const std::string missing = missing_hardening(exec.seen_inside);
  if (missing.empty()) return std::nullopt;
  return verdict(Reason::sandbox_unproved, fmt::format("the sandbox {}", missing));
}

// "x", "y" and 3 more
std::string titles_of(const Attested& attested, std::string_view word) {
  constexpr std::size_t kShownMax = 3;
  std::string text;
  std::size_t shown = 0;
  for (const auto& [kind, title] : attested.titles) {
    if (kind == word && shown < kShownMax) text += fmt::format("{}\"{}\"", shown++ == 0 ? "" : ", ", title);
  }
  const std::uint64_t count = attested.count(word);
  if (count > shown)
    text += fmt::format("{}{}", shown == 0 ? "" : " and ",
        shown == 0 ? fmt::format("{} tests", count) : fmt::format("{} more", count - shown));
  return text;
}

// What the script that runs beside the tests (runner/init_side/attestation.mjs) must have said for a pass. It speaks
// once all tests have ended and never before, so a report without it was written by somebody who ended the run.
std::optional<Verdict> not_attested(const RunObservations& evidence, const TestSummary& tests) {
  const ExecResult& exec = evidence.exec;
  if (exec.attestation_forged)
    return verdict(Reason::report_forged, "something wrote to guard's own socket without knowing its key");
  if (!exec.attested)
    return verdict(
        Reason::report_forged, "there are a report and a summary, yet nothing attests that the tests had ended");
  const Attested& attested = *exec.attested;
  if (attested.count("tampered") > 0)
    return verdict(Reason::violation,
        fmt::format("the code tried to replace what tests are made of: {}", titles_of(attested, "tampered")));
  if (attested.debugged) return verdict(Reason::violation, "the code opened a debugger on the process of its tests");
  if (attested.ended_elsewhere)
    return verdict(Reason::violation,
        "something else than the test runner ended its process: another realm (a macro), or another program in its "
        "place");
  if (attested.redirected)
    return verdict(Reason::violation, "a test closed the runner's standard error, or led it elsewhere");
  if (attested.count("expected_failures") > 0) return verdict(Reason::expected_failures);
  const auto contradicts = [](std::string_view what, std::uint64_t reported, std::uint64_t counted) {
    return verdict(Reason::report_forged,
        fmt::format("the report tells of {} {}, and {} were counted as they ran", reported, what, counted));
  };
  if (attested.count("failed") != tests.failures)
    return contradicts("failed tests", tests.failures, attested.count("failed"));
  if (attested.count("passed") != tests.passed)
    return contradicts("passed tests", tests.passed, attested.count("passed"));
  for (const std::string_view word : {"abandoned", "hooks_failed", "outside_failed"}) {
    if (attested.count(word) > 0)
      return contradicts(word == "abandoned" ? "tests that ran out of time"
              : word == "hooks_failed"       ? "failed hooks"
                                             : "assertions that failed outside of a test",
          0, attested.count(word));
  }
  if (evidence.failures_told > tests.failures) {
    return verdict(Reason::report_forged,
        fmt::format("standard error tells of {} failures (\"(fail) \", which no title and no output may hold), the "
                    "report of {}",
            evidence.failures_told, tests.failures));
  }
  if (attested.count("swallowed") > 0) return verdict(Reason::assertion_swallowed, titles_of(attested, "swallowed"));
  if (attested.count("flaky") > 0) return verdict(Reason::flaky, titles_of(attested, "flaky"));
  if (attested.count("unawaited") > 0)
    return verdict(Reason::nothing_asserted,
        fmt::format("{} left something that nobody waits for: an assertion, or a function, generator or thenable that "
                    "it returned",
            titles_of(attested, "unawaited")));
  if (evidence.assertions == Assertions::test && attested.count("unasserted") > 0)
    return verdict(Reason::nothing_asserted, titles_of(attested, "unasserted"));
  if (evidence.assertions != Assertions::off && attested.count("assertions") == 0)
    return verdict(Reason::nothing_asserted, "no assertion ran in any test");
  return std::nullopt;
}

// Names at which bun looks up modules and settings. Who writes them beside the tests changes what a later import means.
bool is_looked_up(std::string_view name) {
  for (const std::string_view known :
      {"node_modules", "package.json", "bunfig.toml", ".bunfig.toml", "jsconfig.json", "__snapshots__"}) {
    if (name == known) return true;
  }
  return name.starts_with(".env") || (name.starts_with("tsconfig") && name.ends_with(".json")) ||
      name.ends_with(".snap");
}

std::optional<Verdict> planted(const Collection& written) {
  const auto is_planted = [](std::string_view path) {
    const auto names = pieces_of(path, '/');
    return std::any_of(names.begin(), names.end(), is_looked_up);
  };
  const auto named = [](std::string_view path) {
    return verdict(
        Reason::violation, fmt::format("the tests wrote {}, where bun looks up modules and settings", printable(path)));
  };
  for (const auto& file : written.files) {
    if (is_planted(file.path)) return named(file.path);
  }
  for (const auto& entry : written.left_behind) {
    if (is_planted(entry.path)) return named(entry.path);
    if (entry.reason == LeftBehindReason::unreadable || entry.reason == LeftBehindReason::too_deep) {
      return verdict(
          Reason::violation, fmt::format("guard cannot see what the tests left in {}", printable(entry.path)));
    }
  }
  if (!written.complete || written.left_behind_count > written.left_behind.size()) {
    return verdict(Reason::violation, "the tests left more files behind than guard can look at");
  }
  return std::nullopt;
}

// The report counts what a filter leaves out as skipped, the summary apart: or not at all, where other tests were
// skipped.
bool same(const TestSummary& report, const TextSummary& text, bool filtered) {
  if (report.passed != text.passed || report.failures != text.failures || report.tests < text.tests) return false;
  const std::uint64_t left_out = report.tests - text.tests;
  return report.skipped == text.skipped + left_out &&
      (left_out == 0 || (filtered && (text.filtered == 0 || text.filtered == left_out)));
}

// bun exits with 1 and prints no summary where a filter leaves no test.
bool none_selected(const RunObservations& evidence, const std::optional<TestSummary>& tests) {
  const ExecResult& exec = evidence.exec;
  const bool nothing_ran =
      tests && tests->tests > 0 && tests->skipped == tests->tests && !evidence.text && evidence.failures_told == 0;
  return evidence.filtered && exec.outcome.value == 1 && nothing_ran && !exec.attestation_forged &&
      exec.touched.empty();
}

// What the end of a program says by itself, and what init saw before it began. A report written before an out-of-memory
// kill proves nothing about the run, so this comes first.
std::optional<Verdict> not_ended_well(const ExecResult& exec, bool sandboxed) {
  if (auto decided = verdict_of_outcome(exec.outcome)) return decided;
  if (auto decided = proved_inside(exec, sandboxed)) return decided;
  if (exec.outcome.value != 0 && !exec.outcome.detail.empty())
    return verdict(Reason::storage_full, fmt::format("no room was left in {}", exec.outcome.detail));
  return std::nullopt;
}

// The one thing that can't be forged downwards: whoever exits with a failure has failed.
Verdict verdict_of_failure(const RunObservations& evidence, const std::optional<TestSummary>& tests) {
  if (none_selected(evidence, tests)) return verdict(Reason::no_tests, "no test has a name that was asked for");
  if (tests && tests->failures > 0)
    return verdict(Reason::tests_failed, fmt::format("{} of {} tests failed", tests->failures, tests->tests));
  return verdict(Reason::tests_failed, fmt::format("bun exited with {}", evidence.exec.outcome.value));
}

// bun writes no report where it found no test; its summary then says so. Without either, the process was cut short.
Verdict verdict_without_report(const std::optional<TextSummary>& text) {
  if (!text) return verdict(Reason::report_missing);
  if (text->tests == 0) return verdict(Reason::no_tests, "no test ran");
  return verdict(Reason::report_forged, "a summary was printed but no report written");
}

// Of a process that exited with 0: what report, summary and the files it was given say of each other.
std::optional<Verdict> contradicted(const RunObservations& evidence, const TestSummary& tests) {
  if (tests.failures > 0)
    return verdict(
        Reason::report_forged, fmt::format("the report names {} failed tests, yet bun exited with 0", tests.failures));
  if (!evidence.text) return verdict(Reason::report_incomplete, "bun's closing summary is missing");
  const TextSummary& text = *evidence.text;
  if (!same(tests, text, evidence.filtered))
    return verdict(Reason::report_forged,
        fmt::format("the report counts {} tests ({} passed), the summary {} ({} passed)", tests.tests, tests.passed,
            text.tests, text.passed));
  if (evidence.files.empty() || tests.tests == 0) return verdict(Reason::no_tests, "no test ran");
  if (text.files != evidence.files.size() && !(evidence.filtered && text.files < evidence.files.size()))
    return verdict(Reason::report_forged,
        fmt::format("bun was given {} files and says it ran {}", evidence.files.size(), text.files));
  for (const auto& file : evidence.files) {
    const auto found = std::find_if(
        tests.files.begin(), tests.files.end(), [&](const TestFileSummary& row) { return row.file == file; });
    if (found == tests.files.end() || found->tests == 0)
      return verdict(Reason::no_tests, fmt::format("no test ran in {}", printable(file)));
    const bool left_out = evidence.filtered && tests.passed > 0;  // of files that share a process
    if (found->skipped >= found->tests && !left_out)
      return verdict(Reason::all_skipped, fmt::format("every test in {} was skipped", printable(file)));
  }
  if (tests.files.size() != evidence.files.size())
    return verdict(Reason::report_forged, "the report names files that were not given");
  return std::nullopt;
}

// bun's report leaves out the assertions of concurrent tests, and never holds those of node:assert.
void count_what_was_attested(const ExecResult& exec, TestSummary& tests) {
  if (tests.files.size() != 1 || !exec.attested || exec.attestation_forged) return;
  tests.assertions = std::max(tests.assertions, exec.attested->count("assertions"));
  tests.files.front().assertions = tests.assertions;
}

Verdict verdict_of_tests(
    const RunObservations& evidence, const std::optional<TestSummary>& tests, const std::string& unreadable) {
  const ExecResult& exec = evidence.exec;
  if (auto decided = not_ended_well(exec, evidence.sandboxed)) return *decided;
  if (exec.seen_inside.contains("shared_environment")) {
    return verdict(Reason::sandbox_unproved,
        "the sandbox is shared with earlier runs, which may have left another init or other tests in it");
  }
  if (exec.outcome.value != 0) return verdict_of_failure(evidence, tests);
  if (!unreadable.empty()) return verdict(Reason::report_incomplete, unreadable);
  if (!tests) return verdict_without_report(evidence.text);
  if (auto decided = contradicted(evidence, *tests)) return *decided;
  if (auto decided = not_attested(evidence, *tests)) return *decided;
  if (!exec.touched.empty())
    return verdict(Reason::violation,
        fmt::format("the tests changed {}, so what ran may not be what was checked", in_project(exec.touched)));
  if (evidence.written != nullptr) {
    if (auto decided = planted(*evidence.written)) return *decided;
  }
  return verdict(Reason::tests_passed,
      fmt::format("{} passed in {}", plural(tests->passed, "test"), plural(tests->files.size(), "file")));
}

RunJudgement judged(
    const RunObservations& evidence, std::optional<TestSummary> tests, const std::string& unreadable = {}) {
  RunJudgement judgement{verdict_of_tests(evidence, tests, unreadable), std::move(tests)};
  judgement.none_selected = judgement.verdict.reason == Reason::no_tests && evidence.exec.outcome.value != 0;
  return judgement;
}

}  // namespace

const ReasonInfo& info(Reason reason) noexcept {
  for (const auto& row : kTable) {
    if (row.reason == reason) return row;
  }
  std::abort();  // a reason without a row
}

std::optional<Reason> reason_named(std::string_view name) noexcept {
  for (const auto& row : kTable) {
    if (row.name == name) return row.reason;
  }
  return std::nullopt;
}

int Verdict::exit_status() const noexcept {
  if (reason == Reason::interrupted) return info(ErrorCode::cancelled).exit_status;
  return static_cast<int>(kind());  // 0, 1, 2, 3
}

std::string missing_hardening(const std::map<std::string, std::string>& seen) {
  const auto value = [&](const char* key) {
    const auto found = seen.find(key);
    return found == seen.end() ? std::string_view() : std::string_view(found->second);
  };
  if (value("uid") != "1000" || value("gid") != "1000")
    return fmt::format("runs as {}:{}, not 1000:1000", value("uid"), value("gid"));
  for (const char* set : {"cap_eff", "cap_prm", "cap_bnd", "cap_amb"}) {
    if (!all_zero_hex(value(set))) return fmt::format("holds capabilities ({}={})", set, value(set));
  }
  if (value("no_new_privs") != "1") return "may gain privileges (no_new_privs is not set)";
  if (value("seccomp") != "2") return "runs without a system call filter";
  return {};
}

Verdict verdict_of(const Error& error) {
  if (error.code() == ErrorCode::cancelled) return verdict(Reason::interrupted);
  if (error.code() == ErrorCode::withheld) return verdict(Reason::output_withheld, error.message());
  if (error.details().contains("unproved")) return verdict(Reason::sandbox_unproved, error.message());
  if (error.exit_status() == 3) return verdict(Reason::no_environment, error.message());
  return verdict(Reason::error, error.message());
}

Verdict verdict_of(const Report& check, bool files_expected) {
  if (check.rejected()) {
    const auto blocking = std::count_if(check.findings.begin(), check.findings.end(),
        [](const Finding& finding) { return finding.severity == Severity::block; });
    return verdict(Reason::findings, fmt::format("{} finding{}", blocking, blocking == 1 ? "" : "s"));
  }
  if (check.files == 0 && files_expected) return verdict(Reason::no_files);
  return verdict(Reason::no_findings);
}

RunJudgement judge_test_run(const RunObservations& evidence) {
  const ExecResult& exec = evidence.exec;
  if (exec.report_truncated) return judged(evidence, std::nullopt, "the report is larger than guard reads");
  if (!exec.report) return judged(evidence, std::nullopt);
  auto tests = parse_junit(*exec.report);
  if (!tests) return judged(evidence, std::nullopt, tests.error().message());
  count_what_was_attested(exec, *tests);
  return judged(evidence, std::move(*tests));
}

RunJudgement judge_recorded_run(const RunObservations& evidence, std::optional<TestSummary> tests) {
  return judged(evidence, std::move(tests));
}

Verdict judge_command(const ExecResult& exec, bool sandboxed) {
  if (auto decided = not_ended_well(exec, sandboxed)) return *decided;
  if (exec.outcome.value != 0) return verdict(Reason::command_failed, fmt::format("exit code {}", exec.outcome.value));
  return verdict(Reason::command_succeeded);
}

}  // namespace guard
