#include "pipeline/config/config_file.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <cerrno>
#include <system_error>

#include "common/file_io.h"
#include "common/text/text.h"

// A generator writes into the sandbox folder, so a guard.toml in there is its own wish and not the person's. The search
// therefore leaves the outermost sandbox folder of a project before it looks for anything, the .git that ends the
// search included: both could be planted.

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSandboxFolder = "sandbox";

std::string shown(const fs::path& path) { return printable(path.native()); }

// What cannot be looked at counts as being there: the caller then fails when it reads, and does not pass it by.
bool is_there(const fs::path& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

bool is_in_repository(const fs::path& folder) {
  for (fs::path at = folder;; at = at.parent_path()) {
    if (is_there(at / ".git")) return true;
    if (at == at.parent_path()) return false;
  }
}

// Any folder may be called "sandbox"; a project's is one that stands in a repository or beside the files of a project.
bool holds_project(const fs::path& folder) {
  return is_there(folder / "package.json") || is_there(folder / "tsconfig.json") ||
      is_there(folder / kConfigFileName) || is_in_repository(folder);
}

// `folder`, or the parent of the outermost sandbox folder of a project that it lies in.
fs::path outside_sandbox(const fs::path& folder) {
  fs::path at;
  for (const auto& part : folder) {
    if (part == kSandboxFolder && holds_project(at)) return at;
    at /= part;
  }
  return folder;
}

// `inner` lies in `outer` or is it; both canonical.
bool lies_in(const fs::path& inner, const fs::path& outer) {
  auto part = inner.begin();
  for (const auto& wanted : outer) {
    if (part == inner.end() || *part != wanted) return false;
    ++part;
  }
  return true;
}

// Whatever went wrong with a guard.toml that is there, the configuration is what is wrong: never "there is none".
Error as_config_error(const Error& error) {
  return Error(ErrorCode::config_invalid, error.message())
      .caused_by(error)
      .hint("fix or remove the file, or name another one with --config");
}

}  // namespace

Result<ConfigPlace> config_place(const fs::path& start) {
  std::error_code fault;
  const fs::path absolute = fs::absolute(start, fault).lexically_normal();
  if (fault)
    return Error(ErrorCode::config_invalid, fmt::format("cannot tell where {} is: {}", shown(start), fault.message()));

  // Once as written and once with links resolved: either may be the form that shows the sandbox folder.
  const fs::path written = outside_sandbox(absolute);
  const fs::path resolved = fs::canonical(written, fault);
  if (fault)
    return Error(ErrorCode::config_invalid, fmt::format("cannot open {}: {}", shown(written), fault.message()));
  ConfigPlace place;
  place.begin = outside_sandbox(resolved);
  place.left_sandbox = written != absolute || place.begin != resolved;

  place.root = place.begin;
  for (fs::path at = place.begin;; at = at.parent_path()) {
    if (is_there(at / ".git")) {
      place.root = at;
      break;
    }
    if (at == at.parent_path()) break;
  }
  return place;
}

Result<std::optional<ConfigFile>> find_config_file(const ConfigPlace& place) {
  const fs::path path = place.root / kConfigFileName;
  if (!is_there(path)) return std::optional<ConfigFile>();
  std::error_code fault;
  const fs::path resolved = fs::canonical(path, fault);
  if (fault) return Error(ErrorCode::config_invalid, fmt::format("cannot read {}: {}", shown(path), fault.message()));
  if (!lies_in(resolved, place.root) || outside_sandbox(resolved) != resolved) {
    return Error(ErrorCode::config_invalid,
        fmt::format("{} is a link to {}, which is not the project's own", shown(path), shown(resolved)))
        .hint("replace the link by a file, or name the other file with --config");
  }
  auto bytes = read_file(resolved, kConfigBytesMax, FollowLinks::no);
  if (!bytes) return as_config_error(bytes.error());
  return ConfigFile{path, {std::string(kConfigFileName), std::move(*bytes)}};
}

Result<ConfigFile> read_config_file(const fs::path& path) {
  auto bytes = read_file(path, kConfigBytesMax, FollowLinks::yes);
  if (!bytes) return as_config_error(bytes.error());
  return ConfigFile{path, {path.native(), std::move(*bytes)}};
}

}  // namespace guard
