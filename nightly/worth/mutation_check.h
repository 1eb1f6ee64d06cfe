// What a new test is worth: whether it passes every time, whether it fails when the code that it tests is broken, and
// what it covers. The answer to tests that hold whatever the code does, which no pattern can find.
//
// Everything runs through run_tests(), in the sandbox of `run`; the project is copied for each broken version and never
// changed.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"
#include "pipeline/run/suite_run.h"

namespace guard::nightly {

struct WorthRequest {
  RunRequest run;                      // `files`: the new or changed tests; they have passed once
  std::vector<std::string> old_tests;  // that were there before, relative to the project; for what is newly covered
  std::map<std::string, std::string>
      before;  // tests among run.files that were there before -> their text then: what they noticed has to be noticed
  std::uint64_t runs = 3;         // in random order
  std::uint64_t mutants = 8;      // at most, beside the stubs
  std::filesystem::path scratch;  // a folder for the copies; they are removed
};

enum class WorthKind : std::uint8_t {
  worth,      // each of the files fails on a broken version, and does so again; reported with how many of them
  worthless,  // one of the files passes whatever the code does
  flaky,      // passes and fails on the same code
  weaker,     // passes on a broken version that the tests in `before` fail on
  undecided,  // a run could not be judged: never taken for worth
};

struct Mutant {
  std::string path;        // "src/add.ts"; "src" where several modules were changed
  std::uint32_t line = 0;  // 0: the whole module
  std::string what;        // "`+` became `-`", "all exports stubbed"; nothing else of the code's own texts
  bool killed = false;
};

struct Worth {
  WorthKind kind = WorthKind::undecided;
  std::string detail;               // in one sentence, for people and generators: what to do about it
  std::vector<Mutant> mutants;      // in the order in which they were tried; without those on which no test came to run
  std::vector<std::string> flaky;   // "sandbox/a.test.ts > adds"
  std::uint64_t lines_covered = 0;  // of src/; 0 where coverage could not be had
  std::uint64_t lines_newly_covered = 0;
  std::uint64_t runs = 0;  // of bun, in all
};

// Never fails with an Error but CANCELLED: what goes wrong is `undecided`, with the reason in `detail`.
Result<Worth> weigh_tests(const WorthRequest& request, const CancelToken& cancel);

// The same with something in place of run_tests(), for tests of what is made of its answers.
using TestRunner = std::function<RunRecord(const RunRequest& request, const CancelToken& cancel)>;
Result<Worth> weigh_tests(const WorthRequest& request, const CancelToken& cancel, const TestRunner& runner);

}  // namespace guard::nightly
