// What came of each test file of a run, and every failure of it in one form: text, JSON, JUnit, GitHub and evidence are
// written from these, so they can't contradict each other.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "pipeline/verdict.h"
#include "runner/init_side/bun_report.h"

namespace guard {

struct RunRecord;

enum class FileState : std::uint8_t {
  passed,
  failed,  // a test of it, the file as a whole, or what the tests are held to
  timed_out,
  crashed,  // a signal or a limit ended its process
  not_begun,
  not_selected,  // none of its tests has a name that was asked for (-t)
};
template <>
inline constexpr std::array<std::string_view, 6> kNamesOf<FileState> = {
    "passed", "failed", "timed_out", "crashed", "not_begun", "not_selected"};

// By default that of a file that a stopped run did not come to.
struct FileResult {
  std::string file;  // as bun names it
  FileState state = FileState::not_begun;
  Reason reason = Reason::report_missing;    // of the verdict on this file alone
  std::string detail = {};                   // of that verdict
  std::optional<LoadError> load_error = {};  // why it could not be loaded
  std::string last_test = {};                // that bun told of, where the file did not come to its end; foreign text
};

// Whether the file has something to be told of: it is neither passed nor left out.
bool is_failure(FileState state) noexcept;

FileResult file_result(
    std::string file, const Verdict& verdict, std::optional<LoadError> load_error, std::string last_test);

struct Failure {
  std::string file;
  std::uint32_t line = 0;  // 0: not known; then the column is, too
  std::uint32_t column = 0;
  std::string test;  // "group > test"; empty: the file as a whole
  std::string_view
      kind;  // of a test: FailureKind; of a file that can't be loaded: LoadFailure; else the reason of its verdict
  std::string message;
  std::string_view next = {};  // what to do, where the kind tells; else empty
};

// In the order of the files, and within each in that of its report. A file that failed as a whole has one without a
// test; one that was not begun has none.
std::vector<Failure> failures_of(const RunRecord& record);

// What the report says of each file, found by its name. Of a record that must outlive it.
class ReportIndex {
 public:
  explicit ReportIndex(const RunRecord& record);
  const TestFileSummary* counts(std::string_view file) const;  // null where there is none
  const std::vector<const TestCase*>& cases(std::string_view file) const;

 private:
  struct Entry {
    const TestFileSummary* counts = nullptr;
    std::vector<const TestCase*> cases;
  };
  std::unordered_map<std::string_view, Entry> files_;
};

}  // namespace guard
