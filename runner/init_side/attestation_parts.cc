#include "runner/init_side/attestation_parts.h"

#include <fmt/format.h>

#include <string_view>

#include "common/file_io.h"
#include "runner/init_side/init_binary.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

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

}  // namespace guard
