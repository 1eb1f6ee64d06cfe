// Before a record is shown: every text in it that can hold foreign words (test names, file names, what bun, git or an
// engine said, variables in an error, a command) goes through the redactor. Findings' excerpts were masked with their
// whole file at hand before.
#pragma once

#include <map>
#include <optional>
#include <string>

#include "common/error.h"
#include "pipeline/run_record.h"
#include "redact/kinds/secret_source.h"

namespace guard {

void mask_record(const SecretSource& secrets, CheckRecord& record);
void mask_record(const SecretSource& secrets, RunRecord& record);
// Nothing of a run's record leaves unmasked: where the run never came as far as its known values, the kinds alone have
// to do, and where no redactor can be made, nothing is left but a verdict that says so.
void mask_or_withhold(const std::optional<SecretSource>& secrets, RunRecord& record);

// As the names and values of a table in a record are masked.
std::map<std::string, std::string> masked_names(const SecretSource& secrets, std::map<std::string, std::string> rows);
Error masked_error(const SecretSource& secrets, const Error& error);

}  // namespace guard
