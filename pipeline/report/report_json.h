// The documents for machines (schema: docs/documents.md). Versioned, only ever extended. One JSON object, one line end.
#pragma once

#include <string>

#include "pipeline/run_record.h"

namespace guard {

std::string check_document(const CheckRecord& record);
std::string run_document(const RunRecord& record);

}  // namespace guard
