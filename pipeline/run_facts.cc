#include "pipeline/run_facts.h"

#include <fmt/format.h>
#include <sys/utsname.h>

#include "common/file_io.h"
#include "runner/files/file_digests.h"
#include "runner/image/bun_binary.h"
#include "runner/process/run_folder.h"

namespace guard {

namespace {

// Not the name of the machine, which uname(2) tells, too.
std::string kernel_name() {
  utsname names{};
  if (::uname(&names) != 0) return {};
  return fmt::format("{} {} {}", names.sysname, names.release, names.machine);
}

}  // namespace

std::string remembered_sha256(const std::filesystem::path& file) {
  const auto cache = cache_folder();
  if (!cache) return {};
  auto digest = FileDigests(*cache).sha256_hex_of(file);
  return digest ? std::move(*digest) : std::string();
}

// The link leads to the file that runs, also when another one took its name meanwhile.
std::string program_sha256() { return remembered_sha256("/proc/self/exe"); }

RunFacts new_run_facts() {
  RunFacts facts;
  if (auto id = new_run_id()) facts.run_id = std::move(*id);
  facts.started = std::chrono::system_clock::now();
  facts.kernel = kernel_name();
  facts.program_sha256 = program_sha256();
  return facts;
}

RunFacts without_texts(const RunFacts& facts) {
  RunFacts bare;
  bare.run_id = facts.run_id;
  bare.started = facts.started;
  bare.elapsed = facts.elapsed;
  return bare;
}

void take_engine(const SandboxProbe& probe, RunFacts& facts) {
  facts.engine_endpoint = probe.endpoint;
  facts.engine_version = probe.version;
  facts.engine = probe.facts;
}

void take_image(const ImagePlan& plan, RunFacts& facts) {
  facts.bun_version = plan.bun_version;
  facts.bun_sha256 = plan.bun_sha256;
  facts.image_digest = plan.digest;
  facts.layer_sha256 = plan.layer_sha256;
}

void take_host_bun(const std::filesystem::path& bun, const CancelToken& cancel, RunFacts& facts) {
  if (auto version = ask_bun_version(bun, cancel)) facts.bun_version = std::move(*version);
  facts.bun_sha256 = remembered_sha256(bun);
}

}  // namespace guard
