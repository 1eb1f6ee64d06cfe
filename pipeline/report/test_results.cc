#include "pipeline/report/test_results.h"

#include <algorithm>
#include <utility>

#include "pipeline/run_record.h"

namespace guard {
namespace {

FileState state_of(Reason reason) {
  switch (reason) {
    case Reason::tests_passed: return FileState::passed;
    case Reason::timed_out: return FileState::timed_out;
    case Reason::crashed:
    case Reason::out_of_memory:
    case Reason::pids_limit:
    case Reason::output_flood: return FileState::crashed;
    default: return FileState::failed;
  }
}

std::string_view next_of(LoadFailure failure) {
  switch (failure) {
    case LoadFailure::syntax: return "correct the file: bun can't parse it";
    case LoadFailure::missing_package:
      return "add the package to package.json and the lockfile, then run `guard image build`; nothing is installed "
             "while tests run";
    case LoadFailure::missing_file:
      return "write the file, or look for it under \"left out\": what git ignores, .env* and refused files are not "
             "there";
    case LoadFailure::missing_library:
      return "install the system's library on this machine, then run `guard image build`";
    case LoadFailure::error: return {};
  }
  return {};
}

Failure failure_of(const TestCase& test) {
  const bool known = test.failed_line != 0;
  return {test.file, known ? test.failed_line : test.line, known ? test.failed_column : 0, test.name,
      to_string(test.kind), test.message.empty() ? "the test failed" : test.message};
}

Failure failure_of(const FileResult& result) {
  if (result.load_error) {
    const LoadError& error = *result.load_error;
    return {result.file, error.line, error.column, {}, to_string(error.kind), error.message, next_of(error.kind)};
  }
  std::string message = result.detail.empty() ? std::string(info(result.reason).sentence) : result.detail;
  if (!result.last_test.empty()) message += ", after \"" + result.last_test + "\"";
  return {result.file, 0, 0, {}, info(result.reason).name, std::move(message)};
}

}  // namespace

bool is_failure(FileState state) noexcept {
  return state == FileState::failed || state == FileState::timed_out || state == FileState::crashed;
}

FileResult file_result(
    std::string file, const Verdict& verdict, std::optional<LoadError> load_error, std::string last_test) {
  const FileState state = state_of(verdict.reason);
  const bool cut = state == FileState::timed_out || state == FileState::crashed;
  return {std::move(file), state, verdict.reason, verdict.detail, std::move(load_error),
      cut ? std::move(last_test) : std::string()};
}

std::vector<Failure> failures_of(const RunRecord& record) {
  std::vector<Failure> failures;
  const ReportIndex index(record);
  for (const FileResult& result : record.files) {
    bool any = false;
    for (const TestCase* test : index.cases(result.file)) {
      if (test->state != TestState::failed) continue;
      failures.push_back(failure_of(*test));
      any = true;
    }
    const bool whole = result.load_error.has_value() || (!any && is_failure(result.state));
    if (whole) failures.push_back(failure_of(result));
  }
  return failures;
}

ReportIndex::ReportIndex(const RunRecord& record) {
  if (!record.tests) return;
  for (const TestFileSummary& summary : record.tests->files) files_[summary.file].counts = &summary;
  for (const TestCase& test : record.tests->cases) files_[test.file].cases.push_back(&test);
}

const TestFileSummary* ReportIndex::counts(std::string_view file) const {
  const auto found = files_.find(file);
  return found == files_.end() ? nullptr : found->second.counts;
}

const std::vector<const TestCase*>& ReportIndex::cases(std::string_view file) const {
  static const std::vector<const TestCase*> kNone;
  const auto found = files_.find(file);
  return found == files_.end() ? kNone : found->second.cases;
}

}  // namespace guard
