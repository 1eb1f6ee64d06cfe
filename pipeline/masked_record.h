// Before a record is shown: every text in it that can hold foreign words (test names, file names, what bun, git or an engine said,
// variables in an error) goes through the redactor. Findings' excerpts were masked with their whole file at hand before.
#pragma once

#include "common/error.h"
#include "pipeline/run_record.h"
#include "redact/secret_source.h"

namespace guard {

void mask_record(const SecretSource& secrets, CheckRecord& record);
void mask_record(const SecretSource& secrets, RunRecord& record);
Error masked_error(const SecretSource& secrets, const Error& error);

}  // namespace guard
