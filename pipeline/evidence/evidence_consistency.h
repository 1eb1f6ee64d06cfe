// Whether an evidence record contradicts itself: what somebody who changed one field would have to change, too. Pure
// functions.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "pipeline/evidence/evidence_check.h"

namespace guard {

// `record` has the shape that evidence_reader.h knows.
std::vector<EvidenceCheck> check_consistency(const nlohmann::json& record);

}  // namespace guard
