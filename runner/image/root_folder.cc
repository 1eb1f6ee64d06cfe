#include "runner/image/root_folder.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "common/text/text.h"
#include "runner/files/tree_writer.h"
#include "runner/init_side/init_binary.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::uint64_t kProgramBytesMax = 1ull << 30;

constexpr std::string_view kPasswd =
    "root:x:0:0:root:/:/sbin/nologin\n"
    "runner:x:1000:1000:runner:/tmp:/sbin/nologin\n";
constexpr std::string_view kGroup =
    "root:x:0:\n"
    "runner:x:1000:\n";
constexpr std::string_view kNsswitch =
    "passwd: files\n"
    "group: files\n"
    "hosts: files dns\n";
constexpr std::string_view kHosts =
    "127.0.0.1 localhost\n"
    "::1 localhost\n";

class Writer {
 public:
  explicit Writer(const fs::path& root) : root_(root) {}

  // With its parents.
  Result<void> folder(const fs::path& relative) {
    fs::path done;
    for (const auto& part : relative) {
      done /= part;
      if (!folders_.insert(done).second) continue;
      GUARD_TRY(new_folder(root_ / done));
    }
    return ok();
  }

  Result<void> file(const fs::path& relative, std::string_view bytes) {
    GUARD_TRY(folder(relative.parent_path()));
    return new_file(root_ / relative, bytes);
  }

  Result<void> link(const fs::path& to, const fs::path& relative) {
    std::error_code failure;
    fs::create_symlink(to, root_ / relative, failure);
    if (failure)
      return Error(ErrorCode::io_error,
          fmt::format("cannot make the link {}: {}", (root_ / relative).string(), failure.message()));
    return clear_time(root_ / relative);
  }

  Result<void> copy(const fs::path& source, const fs::path& relative, mode_t mode, const std::string& sha256,
      const CancelToken& cancel) {
    GUARD_TRY(folder(relative.parent_path()));
    GUARD_TRY_ASSIGN(
        const CopiedFile copied, copy_to_new_file(source, root_ / relative, mode, kProgramBytesMax, cancel));
    if (copied.sha256_hex == sha256) return ok();
    return Error(ErrorCode::io_error, fmt::format("{} changed while the image was built", printable(source.native())))
        .hint("build again");
  }

  // Children first: making an entry sets the time of its folder.
  Result<void> clear_times() {
    for (auto folder = folders_.rbegin(); folder != folders_.rend(); ++folder) GUARD_TRY(clear_time(root_ / *folder));
    return clear_time(root_);
  }

 private:
  const fs::path& root_;
  std::set<fs::path> folders_;  // sorted: a folder stands before what is in it
};

}  // namespace

Result<void> write_root_folder(const fs::path& root, const RootFolderParts& parts, const CancelToken& cancel) {
  GUARD_TRY(new_folder(root));
  Writer writer(root);
  // Where nobody may read it, its process is not dumpable: it can't open its own memory (/proc/self/mem), and nobody of
  // its user can trace it.
  GUARD_TRY(writer.copy(parts.bun, "usr/local/bin/bun", parts.bun_mode, parts.bun_sha256, cancel));
  for (std::size_t index = 0; index < parts.libraries.size(); ++index) {
    const LibraryFile& library = parts.libraries[index];
    GUARD_TRY(writer.copy(library.source, library.target, 0755, parts.library_sha256[index], cancel));
  }
  // bun is given the links, and looks for what belongs to a script beside them. A link costs no mount.
  const fs::path scripts = "usr/local/lib/guard";
  const auto script = [&](const std::string& name, std::string_view bytes) -> Result<void> {
    GUARD_TRY(writer.file(scripts / name, bytes));
    return writer.link(scripts / name, name);
  };
  GUARD_TRY(script(std::string(kAttestationStart), attestation_script()));
  GUARD_TRY(script(std::string(kAttestationCore), parts.attestation.core));
  if (!parts.attestation.bytecode.empty())
    GUARD_TRY(script(fmt::format("{}.jsc", kAttestationCore), parts.attestation.bytecode));
  GUARD_TRY(writer.file("etc/passwd", kPasswd));
  GUARD_TRY(writer.file("etc/group", kGroup));
  GUARD_TRY(writer.file("etc/nsswitch.conf", kNsswitch));
  GUARD_TRY(writer.file("etc/hosts", kHosts));
  for (const char* place : {"app", "dev", "modules", "proc", "run", "sys", "tmp"}) GUARD_TRY(writer.folder(place));
  for (const auto& place : parts.packages.module_folders)
    GUARD_TRY(writer.folder(place.empty() ? "modules" : fs::path("modules") / place));
  GUARD_TRY(copy_package_trees(parts.packages, root / "modules", "/app", {}, cancel));
  return writer.clear_times();
}

}  // namespace guard
