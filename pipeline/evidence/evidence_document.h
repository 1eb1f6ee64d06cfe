// The evidence record of a run: one JSON document that says what was run, on what, under which limits, and what came of
// it. docs/evidence.md describes it, docs/evidence.schema.json is its schema, guard verify checks it
// (evidence_reader.h).
#pragma once

#include <string>
#include <string_view>

#include "pipeline/run_record.h"

namespace guard {

// Raised when a field changes its meaning or goes away; new fields alone do not raise it.
inline constexpr int kEvidenceVersion = 1;

// `record` is masked (masked_record.h). `exit_status`: the one that guard ends with.
std::string evidence_document(const RunRecord& record, std::string_view guard_version, int exit_status);

// "20300131T120000Z-r0123456789.json": files of a folder sort by the time the runs started.
std::string evidence_file_name(const RunRecord& record);

}  // namespace guard
