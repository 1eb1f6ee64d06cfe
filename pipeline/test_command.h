// How bun is called to run tests: what `run` starts, and what `verify` expects in a record.
#pragma once

#include <fmt/format.h>

#include <string>
#include <string_view>
#include <vector>

#include "runner/sandbox.h"

namespace guard {

inline constexpr std::string_view kBunInside = "/usr/local/bin/bun";
// In PATH there; nobody knows where the environment of another program keeps it.
inline constexpr std::string_view kBunInEnvironment = "bun";
inline constexpr std::string_view kAttestationInside = "/.guard-attestation.mjs";

// `files`: relative to the project. "./" makes bun take a name as a path and never as a pattern or an option.
inline std::vector<std::string> test_command(std::string_view bun, std::string_view attestation, const std::vector<std::string>& files) {
  std::vector<std::string> argv = {std::string(bun),        "test", "--preload", std::string(attestation),
                                   "--reporter=junit", fmt::format("--reporter-outfile=/dev/fd/{}", SandboxSpec::kReportFd)};
  for (const auto& file : files) argv.push_back("./" + file);
  return argv;
}

}  // namespace guard
