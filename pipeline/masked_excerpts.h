// A finding shows a line of the file, and that line may hold a secret: the banned patterns find nothing else. Excerpts are
// rewritten from a copy of the file in which every secret is blotted out, before any report sees them.
#pragma once

#include <vector>

#include "common/result.h"
#include "redact/secret_source.h"
#include "validator/validator.h"

namespace guard {

// An Error means that the excerpts could not be shown to be clean; the caller drops them.
Result<void> mask_excerpts(const SecretSource& secrets, const std::vector<SourceFile>& files, std::vector<Finding>& findings);

}  // namespace guard
