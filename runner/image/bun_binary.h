// Which bun runs the tests: finding it, and saying exactly which one it is.
#pragma once

#include <filesystem>
#include <string>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

// The attestation script as it lies in an image: with the bytecode that the image's own bun has made of it, so that a
// process per test file does not parse it each time.
struct AttestationParts {
  std::string core;      // of attestation_core(), or itself where this bun makes no bytecode
  std::string bytecode;  // of `core`; empty: none
};

// `folder`: empty and private. bun takes bytecode only for the very text and the very build that it was made of.
Result<AttestationParts> compile_attestation(
    const std::filesystem::path& bun, const std::filesystem::path& folder, const CancelToken& cancel);

// Finds bun: $GUARD_BUN, then the folders of PATH (following npm's wrapper to the real binary). DEPENDENCY_UNSATISFIED.
// A GUARD_BUN that does not lead to bun is an error: PATH is not asked then.
Result<std::filesystem::path> find_bun();

// From what a person may call bun (a link, npm's wrapper script, the binary) to the binary: an ELF file for this
// machine, no link on the way. DEPENDENCY_UNSATISFIED.
Result<std::filesystem::path> resolve_bun(const std::filesystem::path& named);

// `bun --version`: "1.4.5". DEPENDENCY_UNSATISFIED when it does not answer like bun within 10 s.
Result<std::string> ask_bun_version(const std::filesystem::path& bun, const CancelToken& cancel);

}  // namespace guard
