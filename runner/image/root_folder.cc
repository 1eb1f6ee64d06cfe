#include "runner/image/root_folder.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <set>
#include <string_view>
#include <vector>

#include "common/text/text.h"
#include "runner/files/plain_path.h"
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

constexpr int kDepthMax = 128;

std::string modules_of(std::string_view place) {
  return place.empty() ? "node_modules" : fmt::format("{}/node_modules", place);
}

class Copier {
 public:
  Copier(fs::path root, const InstalledTrees& trees, const fs::path& project, const PackageTreeLimits& limits,
      const CancelToken& cancel)
      : root_(std::move(root)), workspaces_(trees.workspaces), project_(project), limits_(limits), cancel_(cancel) {
    for (const auto& place : trees.module_folders) modules_.push_back(modules_of(place));
  }

  Result<void> all_to(const fs::path& to) {
    for (const auto& modules : modules_) GUARD_TRY(folder(root_ / modules, to / modules, 0));
    return ok();
  }

 private:
  Result<void> folder(const fs::path& from, const fs::path& to, int depth) {
    if (depth > kDepthMax) return refused(from, "lies too deep");
    GUARD_TRY(new_folder(to));
    std::error_code failure;
    std::vector<fs::path> names;
    for (fs::directory_iterator entry(from, failure), end; !failure && entry != end; entry.increment(failure)) {
      names.push_back(entry->path().filename());
    }
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(from.native()), failure.value());
    // Sorted, so that what is refused first does not depend on the file system.
    std::sort(names.begin(), names.end());
    for (const auto& name : names) GUARD_TRY(entry(from / name, to / name, depth));
    return clear_time(to);
  }

  Result<void> entry(const fs::path& from, const fs::path& to, int depth) {
    if (cancel_.cancelled()) return Error(ErrorCode::cancelled, "stopped while copying packages");
    if (++entries_ > limits_.entries_max)
      return refused(from, fmt::format("is one more than the {} entries allowed", limits_.entries_max));
    if (from.filename().native().starts_with(".wh."))
      return refused(from, "has a name that means a removal in a layer of an image");
    struct stat status {};
    if (::lstat(from.c_str(), &status) != 0)
      return Error::from_errno(ErrorCode::io_error, printable(from.native()), errno);
    if (S_ISDIR(status.st_mode)) return folder(from, to, depth + 1);
    if (S_ISLNK(status.st_mode)) return link(from, to);
    if (!S_ISREG(status.st_mode)) return refused(from, "is a device, FIFO or socket");
    const mode_t mode = (status.st_mode & S_IXUSR) != 0 ? 0755 : 0644;
    GUARD_TRY_ASSIGN(const CopiedFile copied, copy_to_new_file(from, to, mode, limits_.bytes_max - bytes_, cancel_));
    bytes_ += copied.bytes;
    return ok();
  }

  // Its text is not kept: it may pass other links, and the folders that it names may have other names in the copy.
  Result<void> link(const fs::path& from, const fs::path& to) {
    std::error_code failure;
    const fs::path real = fs::canonical(from, failure);
    if (failure) return refused(from, "is a link that leads nowhere");
    const std::string inside = real.lexically_relative(root_).native();
    const auto holds = [&](const std::string& place) { return is_same_or_below(inside, place); };
    fs::path target;
    if (std::any_of(modules_.begin(), modules_.end(), holds))
      target = real.lexically_relative(from.parent_path());
    else if (std::any_of(workspaces_.begin(), workspaces_.end(),
                 [&](const std::string& place) { return place.empty() ? inside == "." : holds(place); }))
      target = inside == "." ? project_ : project_ / inside;
    else
      return refused(from, "is a link that leads out of node_modules");
    fs::create_symlink(target, to, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(to.native()), failure.value());
    return clear_time(to);
  }

  Error refused(const fs::path& path, std::string_view why) const {
    return Error(ErrorCode::dependency_unsatisfied,
        fmt::format("an installed package holds {}, which {}", printable(path.lexically_relative(root_).native()), why))
        .hint("leave that package out: guard does not put such files into an image");
  }

  const fs::path root_;
  std::vector<std::string> modules_;
  const std::vector<std::string>& workspaces_;
  const fs::path& project_;
  const PackageTreeLimits& limits_;
  const CancelToken& cancel_;
  std::uint64_t entries_ = 0;
  std::uint64_t bytes_ = 0;
};

}  // namespace

Result<void> copy_package_trees(const InstalledTrees& trees, const fs::path& to, const fs::path& project,
    const PackageTreeLimits& limits, const CancelToken& cancel) {
  if (trees.module_folders.empty()) return ok();
  std::error_code failure;
  const fs::path root = fs::canonical(trees.folder, failure);
  if (failure) return Error::from_errno(ErrorCode::io_error, printable(trees.folder.native()), failure.value());
  return Copier(root, trees, project, limits, cancel).all_to(to);
}

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
