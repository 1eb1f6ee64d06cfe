// What machines need to know about a finding beside its line: where it is in characters, and a fingerprint by which the
// same finding is known again after code around it moved.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "validator/validator.h"

namespace guard {

// SHA-256 in hex over the rule and the lines that the finding spans, blanks at their ends and runs of blanks left out;
// neither path nor place count. A finding about a file as a whole is marked by the file's bytes, or by its name where
// there are none.
std::string finding_fingerprint(const Finding& finding, std::string_view bytes);

// Fills `fingerprint` and `region` of every finding. `findings` are sorted as a report has them: the work is then
// linear in the files.
void mark_findings(const std::vector<SourceFile>& files, std::vector<Finding>& findings);

}  // namespace guard
