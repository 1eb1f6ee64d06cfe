#include "nightly/worth/project_copy.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>

#include "common/text/text.h"
#include "nightly/worth/script_tokens.h"
#include "pipeline/gate/source_files.h"
#include "pipeline/run/preload.h"
#include "pipeline/run/staging.h"

namespace guard::nightly {
namespace {

namespace fs = std::filesystem;

constexpr int kDepthMax = 64;
constexpr std::uint64_t kScriptBytesMax = 2u << 20;  // more is data, and no place for a mutant

bool is_source(const std::string& path) {
  return path.starts_with("src/") && is_code_name(path) && !is_declaration(path);
}

Error io(const fs::path& path, const std::error_code& failure) {
  return Error::from_errno(ErrorCode::io_error, printable(path.native()), failure.value());
}

// Copies what a run is made of, and nothing that a link leads to. Links stay links; whoever stages the copy judges
// them.
class Copier {
 public:
  Copier(const fs::path& from, const fs::path& to) : from_(from), to_(to) {}

  Result<void> copy() {
    GUARD_TRY_ASSIGN(const Preload preload, read_preload(from_));
    for (const std::string& path : preload.files) {
      if (path.starts_with("src/") || path.starts_with("sandbox/")) continue;
      GUARD_TRY(make_folders((to_ / path).parent_path()));
      GUARD_TRY(copy_any(path, 0));
    }
    for (const char* name : {"src", "sandbox", "package.json", "tsconfig.json", "bun.lock", "bun.lockb"})
      GUARD_TRY(copy_any(name, 0));
    return ok();
  }

 private:
  Result<void> copy_any(const fs::path& relative, int depth) {
    std::error_code failure;
    const fs::file_status status = fs::symlink_status(from_ / relative, failure);
    if (status.type() == fs::file_type::not_found) return ok();
    if (failure) return io(relative, failure);
    if (fs::is_symlink(status)) {
      fs::copy_symlink(from_ / relative, to_ / relative, failure);
      if (failure) return io(relative, failure);
      return ok();
    }
    if (fs::is_directory(status)) return copy_folder(relative, depth);
    if (!fs::is_regular_file(status))
      return Error(
          ErrorCode::input_invalid, fmt::format("{} is a device, FIFO or socket", printable(relative.native())));
    GUARD_TRY_ASSIGN(const std::string bytes, read_file(from_ / relative, kStagedBytesMax, FollowLinks::no));
    bytes_ += bytes.size();
    if (bytes_ > kStagedBytesMax || ++files_ > kStagedFilesMax)
      return Error(ErrorCode::input_invalid, "src and sandbox are larger than what is staged for a run");
    return write_new_file(to_ / relative, bytes);
  }

  Result<void> copy_folder(const fs::path& relative, int depth) {
    if (depth > kDepthMax)
      return Error(ErrorCode::input_invalid, fmt::format("{} is nested too deeply", printable(relative.native())));
    GUARD_TRY(make_folders(to_ / relative));
    std::error_code failure;
    for (fs::directory_iterator entry(from_ / relative, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const fs::path name = entry->path().filename();
      // Never staged from src/ either.
      if (name == ".git" || name == "node_modules") continue;
      GUARD_TRY(copy_any(relative / name, depth + 1));
    }
    if (failure) return io(relative, failure);
    return ok();
  }

  const fs::path& from_;
  const fs::path& to_;
  std::uint64_t bytes_ = 0;
  std::uint64_t files_ = 0;
};

}  // namespace

Result<ProjectCopy> ProjectCopy::create(const fs::path& project, const fs::path& scratch,
    const std::vector<std::string>& tests, const std::map<std::string, std::string>& before) {
  GUARD_TRY(make_folders(scratch));
  GUARD_TRY_ASSIGN(TempDir folder, TempDir::create(scratch));
  ProjectCopy made(std::move(folder));
  GUARD_TRY(make_folders(made.folder_));
  GUARD_TRY(Copier(project, made.folder_).copy().context("copying the project"));
  GUARD_TRY(made.read_scripts(before));
  made.follow_imports(tests);
  return made;
}

Result<void> ProjectCopy::read_scripts(const std::map<std::string, std::string>& before) {
  for (const char* folder : {"src", "sandbox"}) {
    std::error_code failure;
    if (!fs::is_directory(fs::symlink_status(folder_ / folder, failure))) continue;
    for (fs::recursive_directory_iterator entry(folder_ / folder, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      const std::string path = entry->path().lexically_relative(folder_).generic_string();
      if (!fs::is_regular_file(entry->symlink_status(failure))) continue;
      files_.insert(path);
      if (!is_code_name(path)) continue;
      auto text = read_file(entry->path(), kScriptBytesMax, FollowLinks::no);
      if (!text) continue;
      links_.emplace(path, links_of(path, *text));
      scripts_.emplace(path, std::move(*text));
      if (is_source(path)) sources_.push_back(path);
    }
    if (failure) return io(folder, failure);
  }
  std::sort(sources_.begin(), sources_.end());
  for (const auto& [path, text] : before) {
    if (scripts_.count(path) == 0)
      return Error(
          ErrorCode::input_invalid, fmt::format("{} is too large to be compared with what it was", printable(path)));
    // Modules that only the old text reaches are broken, too.
    const ModuleLinks old = links_of(path, text);
    auto& imports = links_[path].imports;
    imports.insert(imports.end(), old.imports.begin(), old.imports.end());
  }
  return ok();
}

void ProjectCopy::follow_imports(const std::vector<std::string>& tests) {
  std::set<std::string> seen(tests.begin(), tests.end());
  std::vector<std::string> queue = tests;
  std::vector<std::string> further;
  for (const bool in_sandbox : {true, false}) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const auto links = links_.find(queue[i]);
      if (links == links_.end()) continue;
      for (const auto& import : links->second.imports) {
        const std::string target = resolve_import(queue[i], import.specifier, files_);
        if (target.empty() || !seen.insert(target).second) continue;
        if (!target.starts_with("src/")) {
          queue.push_back(target);
          continue;
        }
        if (in_sandbox && is_source(target)) imported_.push_back(target);
        reached_.push_back(target);
        (in_sandbox ? further : queue).push_back(target);
      }
    }
    queue = std::move(further);
    further.clear();
  }
  reached_.erase(
      std::remove_if(reached_.begin(), reached_.end(), [](const std::string& path) { return !is_source(path); }),
      reached_.end());
}

Result<void> ProjectCopy::put(const std::map<std::string, std::string>& files) const {
  for (const auto& [path, bytes] : files) {
    const fs::path target = folder_ / path;
    if (::unlink(target.c_str()) != 0) return Error::from_errno(ErrorCode::io_error, printable(path), errno);
    GUARD_TRY(write_new_file(target, bytes));
  }
  return ok();
}

Result<void> ProjectCopy::take_back(const std::map<std::string, std::string>& files) const {
  std::map<std::string, std::string> as_copied;
  for (const auto& [path, bytes] : files) as_copied[path] = scripts_.at(path);
  return put(as_copied);
}

std::string ProjectCopy::stub_of(const std::string& module, StubKind kind) const {
  std::map<std::string, ExportShape> exports;
  std::set<std::string> foreign;
  std::set<std::string> seen;
  collect_exports(module, exports, foreign, seen);
  // Whatever is imported from it has to be there, or nothing would load.
  for (const auto& [importer, links] : links_) {
    for (const auto& import : links.imports) {
      if (import.names.empty() || resolve_import(importer, import.specifier, files_) != module) continue;
      for (const auto& name : import.names) exports.emplace(name, ExportShape::anything);
    }
  }
  const bool common_js = links_.at(module).common_js;
  std::string text = stub_module(exports, common_js, kind);
  if (!common_js) {
    for (const auto& specifier : foreign) text += fmt::format("export * from \"{}\";\n", specifier);
  }
  return text;
}

void ProjectCopy::collect_exports(const std::string& module, std::map<std::string, ExportShape>& exports,
    std::set<std::string>& foreign, std::set<std::string>& seen) const {
  const auto links = links_.find(module);
  if (links == links_.end() || !seen.insert(module).second) return;
  const bool is_first = seen.size() == 1;
  for (const auto& [name, shape] : links->second.exports) {
    if (is_first || name != "default") exports.emplace(name, shape);
  }
  for (const auto& import : links->second.imports) {
    if (!import.passed_on) continue;
    const std::string target = resolve_import(module, import.specifier, files_);
    if (links_.count(target) != 0) {
      collect_exports(target, exports, foreign, seen);
    } else if (import.specifier.find_first_of("\"\\\n\r") == std::string::npos && !import.specifier.starts_with('.')) {
      foreign.insert(import.specifier);
    }
  }
}

}  // namespace guard::nightly
