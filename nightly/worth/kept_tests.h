// Whether the tests that passed before a change are still there afterwards, pass, and assert as much. Pure.
#pragma once

#include <string>

#include "runner/init_side/bun_report.h"

namespace guard::nightly {

// `before`: all test files of the project as they were; `after`: as the change leaves them, all of them run. Tests are
// told by file and full title, equal titles by their number. A test may move to another file, with its title. It may
// not assert less than before: an assertion that is folded into another one by an honest hand looks like one that was
// taken away, and a person can keep it.
//
// A sentence with the files and titles of what is lost, and what to do about it; empty: nothing is lost. Foreign text,
// not masked.
std::string lost_tests(const TestSummary& before, const TestSummary& after);

}  // namespace guard::nightly
