// What to say of a command that can't work in a sandbox, beside what it said itself.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "common/error.h"
#include "runner/sandbox/sandbox.h"

namespace guard {

// "bun install", where `argv` is a package manager that would fetch or change packages; else empty. What a shell or a
// script starts is not seen.
std::string installer_of(const std::vector<std::string>& argv);

// Of a command that failed: DEPENDENCY_UNSATISFIED where it would install packages without a network.
std::optional<Error> why_it_failed(const SandboxSpec& spec);

// Of a command that could not be started: FILE_NOT_FOUND with what to do; any other error as it is.
Error with_start_hint(Error error, const SandboxSpec& spec);

}  // namespace guard
