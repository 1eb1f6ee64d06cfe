// Whether what an evidence record was made of is still there: the project's files, guard, its rules, the image, bun.
#pragma once

#include <vector>

#include "common/cancel.h"
#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_record.h"

namespace guard {

// Reads files and changes nothing; what the run did not come as far as is left out.
std::vector<EvidenceCheck> compare_with_present(
    const EvidenceRecord& record, const EvidencePresent& present, const CancelToken& cancel);

}  // namespace guard
