// Whether what an evidence record was made of is still there: the project's files, guard, its rules, the image, bun.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "common/cancel.h"
#include "pipeline/evidence/evidence_check.h"

namespace guard {

// `record` has the shape that evidence_reader.h knows. Reads files and changes nothing; what the run did not come as
// far as is left out.
std::vector<EvidenceCheck> compare_with_present(
    const nlohmann::json& record, const EvidencePresent& present, const CancelToken& cancel);

}  // namespace guard
