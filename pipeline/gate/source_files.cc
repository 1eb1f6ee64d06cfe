#include "pipeline/gate/source_files.h"

#include <algorithm>
#include <array>

#include "common/file_io.h"
#include "common/text/characters.h"
#include "common/text/glob.h"
#include "pipeline/gate/file_walk.h"

namespace guard {

bool is_gated_path(const std::vector<std::string>& globs, std::string_view path) {
  for (;;) {
    if (std::any_of(globs.begin(), globs.end(), [&](const std::string& glob) { return glob_matches(glob, path); }))
      return true;
    const std::size_t slash = path.find('/');
    if (slash == std::string_view::npos) return false;
    path.remove_prefix(slash + 1);
  }
}

namespace {}  // namespace

// bun compares without case, too.
bool is_code_name(std::string_view name) {
  static constexpr std::array<std::string_view, 8> kEndings = {
      ".ts", ".tsx", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts"};
  const std::string lower = lower_case(name);
  return std::any_of(
      kEndings.begin(), kEndings.end(), [&](std::string_view ending) { return lower.ends_with(ending); });
}

bool is_test_name(std::string_view name) {
  if (!is_code_name(name)) return false;
  const std::string stem = lower_case(name.substr(0, name.rfind('.')));
  return stem.ends_with(".test") || stem.ends_with("_test") || stem.ends_with(".spec") || stem.ends_with("_spec");
}

namespace {

// "/p/." is "/p".
std::filesystem::path full_path(const std::filesystem::path& path) {
  std::error_code failure;
  const std::filesystem::path full = std::filesystem::absolute(path.empty() ? "." : path, failure);
  const std::filesystem::path normal = (failure ? path : full).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace

ProjectPaths::ProjectPaths(const std::filesystem::path& project, const std::filesystem::path& root)
    : root_(full_path(root)), project_(project.empty() ? root_ : full_path(project)) {}

std::optional<std::string> ProjectPaths::below(const std::string& path) const {
  const auto relative = (root_ / path).lexically_normal().lexically_relative(project_);
  if (relative.empty() || *relative.begin() == "..") return std::nullopt;
  return relative.generic_string();
}

std::string ProjectPaths::shown(const std::string& path) const {
  const auto inside = below(path);
  return inside ? *inside : (root_ / path).lexically_normal().relative_path().generic_string();
}

Result<SourceFiles> collect_paths(const std::vector<std::string>& paths, const CollectOptions& options) {
  SourceFiles found;
  const auto read = [&](const WalkedFile& file) -> Result<void> {
    std::string bytes;
    GUARD_TRY_ASSIGN(const bool judged, read_walked(file, options.file_bytes_max, bytes, found.findings));
    if (judged) found.files.push_back(SourceFile{file.path, std::move(bytes)});
    return ok();
  };
  FileWalk walk(options, read, found.findings);
  GUARD_TRY(walk.add_all(paths));
  std::sort(
      found.files.begin(), found.files.end(), [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return found;
}

Result<SourceFiles> collect_stdin(int fd, std::string_view name, const CollectOptions& options) {
  GUARD_TRY_ASSIGN(std::string bytes, read_all(fd, options.file_bytes_max, "standard input"));
  SourceFiles found;
  found.files.push_back(SourceFile{std::string(name), std::move(bytes)});
  return found;
}

}  // namespace guard
