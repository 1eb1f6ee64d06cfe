#include "runner/init_side/init_binary.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <mutex>

#include "common/file_io.h"
#include "common/hash.h"
#include "common/unique_fd.h"
#include "runner/init_side/init_protocol.h"
#include "runner/process/child_process.h"
#include "runner/sandbox/seccomp_filter.h"

extern "C" {
extern const char guard_init_program[];
extern const char guard_init_program_end[];
extern const char guard_init_sha256[];
extern const char guard_attestation_sha256[];
extern const char guard_attestation_start[];
extern const char guard_attestation_start_end[];
extern const char guard_attestation_core[];
extern const char guard_attestation_core_end[];
}

namespace guard {
namespace {

constexpr std::size_t kHexDigits = 2 * Sha256::kBytes;

std::string_view between(const char* begin, const char* end) { return {begin, static_cast<std::size_t>(end - begin)}; }

// In pieces: a megabyte of memory costs more than reading it.
bool is_intact(const std::filesystem::path& path, std::string_view bytes, mode_t mode) {
  const UniqueFd fd(::open(path.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  struct stat found {};
  if (!fd || ::fstat(fd.get(), &found) != 0 || !S_ISREG(found.st_mode) || (found.st_mode & 07777) != mode) return false;
  std::array<char, 64ul * 1024> piece;
  for (;;) {
    const ssize_t got = ::read(fd.get(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return got == 0 && bytes.empty();
    const std::string_view read(piece.data(), static_cast<std::size_t>(got));
    if (!bytes.starts_with(read)) return false;
    bytes.remove_prefix(read.size());
  }
}

Result<std::filesystem::path> written_out(
    std::string_view digest, const char* name, std::string_view bytes, mode_t mode) {
  GUARD_TRY_ASSIGN(const std::filesystem::path cache, shared_cache_folder());
  const std::filesystem::path folder = cache / "init" / digest;
  const std::filesystem::path path = folder / name;
  if (is_intact(path, bytes, mode)) return path;
  const std::string what = fmt::format("writing out the sandbox's {}", name);
  GUARD_TRY(make_folders(folder, 0755).context(what));
  {
    const std::scoped_lock alone(executable_writes());
    GUARD_TRY(write_file_atomically(path, bytes, mode).context(what));
  }
  if (!is_intact(path, bytes, mode)) {
    return Error(ErrorCode::io_error, fmt::format("{} does not hold what was written into it", path.string()));
  }
  return path;
}

bool is_filled(const SandboxSpec& spec, std::string_view target) {
  return std::any_of(spec.scratch.begin(), spec.scratch.end(),
      [&](const ScratchFolder& scratch) { return scratch.target == target && !scratch.filled_from.empty(); });
}

}  // namespace

std::string_view init_binary() { return between(guard_init_program, guard_init_program_end); }
std::string_view attestation_script() { return between(guard_attestation_start, guard_attestation_start_end); }
std::string_view attestation_core() { return between(guard_attestation_core, guard_attestation_core_end); }
std::string_view attestation_sha256() { return {guard_attestation_sha256, kHexDigits}; }

std::string_view init_binary_sha256() { return {guard_init_sha256, kHexDigits}; }

Result<std::filesystem::path> init_binary_path() {
  return written_out(init_binary_sha256(), "guard-init", init_binary(), 0755);
}

Result<std::filesystem::path> seccomp_profile_path() {
  static const std::string digest = sha256_hex(seccomp_profile_json());
  return written_out(digest, "seccomp.json", seccomp_profile_json(), 0644);
}

std::vector<std::string> init_command(std::string_view program, const SandboxSpec& spec, const InitDuties& duties) {
  std::vector<std::string> command = {std::string(program)};
  if (!duties.owner.empty()) command.insert(command.end(), {"--owner", duties.owner});
  if (duties.no_life_line) command.emplace_back("--no-life-line");
  if (spec.report == ReportChannel::on) command.emplace_back("--report");
  if (spec.attestation == Attestation::on) command.emplace_back("--attest");
  if (spec.input_descriptor >= 0) command.emplace_back("--stdin");
  if (spec.network == Network::allowlist) command.emplace_back("--egress");
  if (duties.watch_cgroup) command.emplace_back("--watch");
  if (duties.tag_frames) command.emplace_back("--key");
  if (duties.own_filter) command.emplace_back("--filter");
  const auto add = [&command](const char* option, auto value) {
    command.emplace_back(option);
    command.push_back(fmt::format("{}", value));
  };
  add("--nofile", spec.limits.open_files);
  add("--fsize", spec.limits.file_bytes);
  if (duties.nproc > 0) add("--nproc", duties.nproc);
  for (const SharedFolder& folder : spec.shared) {
    add("--shared", folder.target);
    command.push_back(fmt::format("{}:{}", folder.identity.device, folder.identity.inode));
  }
  for (const ScratchFolder& scratch : spec.scratch) {
    if (scratch.filled_from.empty() || !duties.own_folders) continue;
    add("--fill", scratch.target);
    command.push_back(scratch.filled_from);
  }
  if (spec.argv.empty()) {
    command.insert(command.end(), {"--serve", "--"});
    return command;
  }
  add("--deadline-ms", (spec.timeout + spec.grace + milliseconds(init_protocol::kDeadlineSlackMs)).count());
  add("--grace-ms", spec.grace.count());
  if (spec.collect) {
    add("--collect", spec.collect->folder);
    add("--collect-files", spec.collect->files_max);
    add("--collect-bytes", spec.collect->bytes_max);
    add("--collect-file-bytes", spec.collect->file_bytes_max);
  }
  if (!spec.each.empty()) {
    add("--each", spec.each.size());
    if (spec.each_timeout.count() > 0) add("--each-ms", spec.each_timeout.count());
    for (const MemoryFolder& folder : memory_folders(spec)) {
      if (duties.own_folders && !is_filled(spec, folder.target)) add("--fresh", folder.target);
    }
  }
  command.emplace_back("--");
  command.insert(command.end(), spec.argv.begin(), spec.argv.end());
  command.insert(command.end(), spec.each.begin(), spec.each.end());
  return command;
}

}  // namespace guard
