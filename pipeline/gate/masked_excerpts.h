// A finding shows a line of the file, and that line may hold a secret: the banned patterns find nothing else. Excerpts
// are rewritten from a copy of the file in which every secret is blotted out, before any report sees them. What a
// finding was read as (Finding::reading) can hold a secret that the file spells in pieces; it becomes Finding::matched,
// masked by the same rules.
#pragma once

#include <string_view>
#include <vector>

#include "common/result.h"
#include "redact/kinds/secret_source.h"
#include "validator/validator.h"

namespace guard {

constexpr std::size_t kMatchedBytesMax = 120;

// `findings` are of one file, which has `bytes`; empty where they cannot be had: nothing is shown then. An Error means
// that the excerpts could not be shown to be clean; they and the readings are empty then.
Result<void> mask_excerpts(const SecretSource& secrets, std::string_view bytes, std::vector<Finding>& findings);

// Takes everything out of `findings` that shows a piece of a file.
void withhold_excerpts(std::vector<Finding>& findings);

}  // namespace guard
