// How bun is called to run tests: what `run` starts, and what `verify` expects in a record.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "runner/sandbox/sandbox.h"

namespace guard {

inline constexpr std::string_view kBunInside = "/usr/local/bin/bun";
// In PATH there; nobody knows where the environment of another program keeps it.
inline constexpr std::string_view kBunInEnvironment = "bun";
inline constexpr std::string_view kAttestationInside = "/.guard-attestation.mjs";
// Beside it: bun's settings in place of the project's bunfig.toml, where something is preloaded.
inline constexpr std::string_view kBunfig = ".guard-bunfig.toml";
// And what is loaded last of all.
inline constexpr std::string_view kPreloaded = ".guard-preloaded.mjs";
inline constexpr std::string_view kPreloadedText =
    "// @bun\nconst beLast = globalThis.guardBeLast;\ndelete globalThis.guardBeLast;\nbeLast();\n";

// Where bun writes lcov.info, below the one folder that init hands files out of.
inline constexpr std::string_view kCoverageInside = "/app/sandbox/guard-coverage";

enum class Coverage : std::uint8_t { off, on };

// Other ways to run the same tests, for those who weigh them. The evidence of `run` knows the plain one alone.
struct TestOptions {
  std::optional<std::uint32_t> seed;  // in random order, the same for the same seed
  Coverage coverage = Coverage::off;  // on: into RunRecord::coverage
  std::string names;                  // only tests whose "group test" matches this regular expression; empty: all
  std::vector<std::string> preload;   // Preload::names, which bun loads after the attestation

  bool is_plain() const noexcept { return !seed && names.empty() && coverage == Coverage::off; }
};

// `files`: relative to the project. "./" makes bun take a name as a path and never as a pattern or an option.
inline std::vector<std::string> test_command(std::string_view bun, std::string_view attestation,
    const std::vector<std::string>& files, const TestOptions& options = {}) {
  std::vector<std::string> argv = {std::string(bun), "test", "--preload", std::string(attestation)};
  for (const auto& name : options.preload) argv.insert(argv.end(), {"--preload", name});
  if (!options.preload.empty()) {
    const std::string_view folder = attestation.substr(0, attestation.rfind('/') + 1);
    argv.insert(argv.end(),
        {"--preload", fmt::format("{}{}", folder, kPreloaded), fmt::format("--config={}{}", folder, kBunfig)});
  }
  argv.insert(argv.end(), {"--reporter=junit", fmt::format("--reporter-outfile=/dev/fd/{}", SandboxSpec::kReportFd)});
  if (options.seed) {
    argv.emplace_back("--randomize");
    argv.push_back(fmt::format("--seed={}", *options.seed));
  }
  if (options.coverage == Coverage::on) {
    argv.insert(
        argv.end(), {"--coverage", "--coverage-reporter=lcov", fmt::format("--coverage-dir={}", kCoverageInside)});
  }
  if (!options.names.empty()) argv.push_back(fmt::format("--test-name-pattern={}", options.names));
  for (const auto& file : files) argv.push_back("./" + file);
  return argv;
}

}  // namespace guard
