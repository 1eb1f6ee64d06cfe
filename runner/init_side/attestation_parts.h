// The attestation script as it lies in an image: with the bytecode that the image's own bun has made of it, so that a
// process per test file does not parse it each time.
#pragma once

#include <filesystem>
#include <string>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct AttestationParts {
  std::string core;      // of attestation_core(), or itself where this bun makes no bytecode
  std::string bytecode;  // of `core`; empty: none
};

// `folder`: empty and private. bun takes bytecode only for the very text and the very build that it was made of.
Result<AttestationParts> compile_attestation(
    const std::filesystem::path& bun, const std::filesystem::path& folder, const CancelToken& cancel);

}  // namespace guard
