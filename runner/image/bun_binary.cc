#include "runner/image/bun_binary.h"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdlib>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "common/text/text.h"
#include "runner/image/elf_file.h"
#include "runner/init_side/init_binary.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kHint =
    "install it with `npm install --global bun`, or set GUARD_BUN to the path of a bun binary";

std::vector<std::string_view> platform_packages() {
#if defined(__x86_64__)
  // The plain build needs AVX2.
  if (__builtin_cpu_supports("avx2"))
    return {"bun-linux-x64", "bun-linux-x64-baseline", "bun-linux-x64-musl", "bun-linux-x64-musl-baseline"};
  return {"bun-linux-x64-baseline", "bun-linux-x64-musl-baseline"};
#else
  return {"bun-linux-aarch64", "bun-linux-aarch64-musl"};
#endif
}

bool is_program(const fs::path& path) {
  const auto elf = read_elf(path);
  if (!elf || !elf->has_value()) return false;
  if (::access(path.c_str(), X_OK) != 0) return false;
  // A build for another C library (musl) has a loader that this machine does not have.
  return (*elf)->interpreter.empty() || ::access((*elf)->interpreter.c_str(), X_OK) == 0;
}

Error not_found(std::string message) {
  return Error(ErrorCode::dependency_unsatisfied, std::move(message)).hint(std::string(kHint));
}

constexpr std::uint64_t kPartBytesMax = 4ull << 20;
constexpr std::uint64_t kWordsMax = 4096;

}  // namespace

Result<AttestationParts> compile_attestation(const fs::path& bun, const fs::path& folder, const CancelToken& cancel) {
  const std::string source(attestation_core());
  GUARD_TRY(write_new_file(folder / kAttestationCore, source, 0644));
  // Or those of a folder further up would apply.
  for (const char* settings : {"package.json", "tsconfig.json"})
    GUARD_TRY(write_new_file(folder / settings, "{}\n", 0644));
  ProcessSpec spec;
  // What bun makes is no module: it has to be told to be strict, and the name that hides its frames.
  spec.argv = {bun.string(), "build", "--bytecode", "--target=bun", "--format=cjs", "--banner=\"use strict\";",
      "--footer=//# sourceURL=node:guard", "--entry-naming=[name].[ext]", "--outdir=made",
      fmt::format("./{}", kAttestationCore)};
  spec.cwd = folder.string();
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", folder.string()}, {"TMPDIR", folder.string()}, {"NO_COLOR", "1"},
      {"DO_NOT_TRACK", "1"}};
  spec.deadline = Deadline::after(std::chrono::seconds(60));
  GUARD_TRY_ASSIGN(const CollectedProcess built, collect_process(spec, kWordsMax, cancel));
  if (built.result.outcome.kind == OutcomeKind::cancelled)
    return Error(ErrorCode::cancelled, "stopped while compiling the attestation script");
  const fs::path made = folder / "made" / kAttestationCore;
  auto core = read_file(made, kPartBytesMax, FollowLinks::no);
  auto bytecode = read_file(made.string() + ".jsc", kPartBytesMax, FollowLinks::no);
  const bool exited = built.result.outcome.kind == OutcomeKind::exited && built.result.outcome.value == 0;
  if (!exited || !core || !bytecode) return AttestationParts{source, {}};
  return AttestationParts{std::move(*core), std::move(*bytecode)};
}

Result<fs::path> resolve_bun(const fs::path& named) {
  std::error_code failure;
  const fs::path real = fs::canonical(named, failure);
  if (failure) return not_found(fmt::format("{}: {}", printable(named.native()), failure.message()));
  if (is_program(real)) return real;
  for (fs::path folder = real.parent_path();; folder = folder.parent_path()) {
    for (const auto& modules : {folder, folder / "node_modules"}) {
      if (modules.filename() != "node_modules") continue;
      for (const std::string_view package : platform_packages()) {
        const fs::path program = fs::canonical(modules / "@oven" / package / "bin" / "bun", failure);
        if (!failure && is_program(program)) return program;
      }
    }
    if (folder == folder.root_path()) break;
  }
  return not_found(
      fmt::format("{} is not the bun program, nor does it lead to one for this machine", printable(named.native())));
}

Result<fs::path> find_bun() {
  if (const char* named = std::getenv("GUARD_BUN"); named != nullptr && *named != '\0') {
    return resolve_bun(named).context("following GUARD_BUN");
  }
  const char* search = std::getenv("PATH");
  std::string_view rest = search != nullptr ? search : "";
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const fs::path folder(rest.substr(0, colon));
    rest = colon == std::string_view::npos ? std::string_view() : rest.substr(colon + 1);
    // A relative folder in PATH could be one that a generator wrote.
    if (!folder.is_absolute() || ::access((folder / "bun").c_str(), X_OK) != 0) continue;
    if (auto program = resolve_bun(folder / "bun")) return program;
  }
  return not_found("there is no bun in PATH");
}

Result<std::string> ask_bun_version(const fs::path& bun, const CancelToken& cancel) {
  ProcessSpec spec;
  spec.argv = {bun.string(), "--version"};
  spec.cwd = "/";
  spec.env = {{"PATH", "/usr/bin:/bin"}, {"HOME", "/nonexistent"}, {"NO_COLOR", "1"}};
  spec.deadline = Deadline::after(std::chrono::seconds(10));
  GUARD_TRY_ASSIGN(const CollectedProcess asked, collect_process(spec, 4096, cancel));
  if (asked.result.outcome.kind == OutcomeKind::cancelled)
    return Error(ErrorCode::cancelled, "stopped while asking bun for its version");
  std::string version = asked.out.substr(0, asked.out.find('\n'));
  const bool looks_right = !version.empty() &&
      version.find_first_not_of("0123456789.-+abcdefghijklmnopqrstuvwxyz") == std::string::npos &&
      version.front() >= '0' && version.front() <= '9' && version.find('.') != std::string::npos;
  if (asked.result.outcome.kind != OutcomeKind::exited || asked.result.outcome.value != 0 || !looks_right) {
    return not_found(fmt::format("{} does not answer `--version` like bun", printable(bun.native())));
  }
  return version;
}

}  // namespace guard
