// Findings as workflow commands of GitHub Actions: annotations at the lines of a change. One command per line and
// nothing else.
//
// The runner takes every line of output that begins with `::` for a command, so nothing foreign may begin a line:
// whatever could is escaped. What a program prints has been through TerminalSafety, which disarms commands.
#pragma once

#include <string>

#include "pipeline/run_record.h"

namespace guard {

std::string check_annotations(const CheckRecord& record);
std::string run_annotations(const RunRecord& record);

}  // namespace guard
