// Findings and the verdict as JUnit XML, which every CI server shows. One test suite per file, one failed case per
// finding, one passed case for a clean file (CheckRecord::names), one skipped case per waived finding. The last suite,
// "verdict", holds what is not about a file: an undecided or unavailable verdict is an error there.
#pragma once

#include <string>

#include "pipeline/run_record.h"

namespace guard {

std::string check_junit(const CheckRecord& record);
std::string run_junit(const RunRecord& record);

}  // namespace guard
