// Whether an evidence record contradicts itself: what somebody who changed one field would have to change, too. What it
// says of the run is given to the judge that gave the verdict (pipeline/verdict.h). Pure functions.
#pragma once

#include <vector>

#include "pipeline/evidence/evidence_check.h"
#include "pipeline/evidence/evidence_record.h"

namespace guard {

std::vector<EvidenceCheck> check_consistency(const EvidenceRecord& record);

}  // namespace guard
