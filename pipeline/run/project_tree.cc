#include "pipeline/run/project_tree.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <set>

#include "common/text/text.h"
#include "pipeline/gate/file_walk.h"

namespace guard {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kSandbox = "sandbox";

bool is_below(std::string_view path, std::string_view folder) {
  return folder.empty() || path == folder ||
      (path.starts_with(folder) && path.size() > folder.size() && path[folder.size()] == '/');
}

bool is_never_shown(std::string_view path) {
  const auto parts = pieces_of(path, '/');
  return std::any_of(parts.begin(), parts.end(),
      [](std::string_view part) { return part.starts_with(".env") || part == ".git" || part == "node_modules"; });
}

class Reader {
 public:
  explicit Reader(const ProjectTreeRequest& request) : request_(request) {
    const bool in_sandbox = std::all_of(request.named.begin(), request.named.end(),
        [](const std::string& name) { return is_below(name, kSandbox) && name != kSandbox; });
    if (has_sandbox_folder(request.project) && in_sandbox) tree_.writable = kSandbox;
    for (const std::string& name : request.named) {
      if (is_folder(name)) {
        named_folders_.push_back(name);
      } else {
        named_files_.insert(name);
      }
    }
  }

  Result<ProjectTree> read() {
    CollectOptions options;
    options.file_bytes_max = request_.file_bytes_max;
    options.gated_paths = request_.gated_paths;
    options.whole_tree = true;
    options.ignored = request_.ignored;
    if (is_seed_layout()) {
      options.gated_paths = {"sandbox/**"};
      options.ignored = nullptr;
    }
    std::vector<std::string> roots;
    for (const char* name : {"sandbox", "src", "package.json", "tsconfig.json"}) {
      std::error_code failure;
      if (is_seed_layout() && fs::exists(fs::symlink_status(request_.project / name, failure)))
        roots.push_back((request_.project / name).string());
    }
    if (!is_seed_layout()) roots.push_back(request_.project.string());
    for (const std::string& path : request_.also) {
      if (is_seed_layout() && !is_below(path, kSandbox) && !is_below(path, "src"))
        roots.push_back((request_.project / path).string());
    }
    std::vector<Finding> findings;
    FileWalk walk(
        options, [this](const WalkedFile& file) { return take(file); }, findings);
    GUARD_TRY(walk.add_all(roots));
    for (auto& finding : findings) {
      finding.path = relative(finding.path);
      tree_.gated.findings.push_back(std::move(finding));
    }
    const auto by_path = [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; };
    std::sort(tree_.gated.files.begin(), tree_.gated.files.end(), by_path);
    std::sort(tree_.others.begin(), tree_.others.end());
    GUARD_TRY(find_tests());
    return std::move(tree_);
  }

 private:
  bool is_seed_layout() const { return !tree_.writable.empty(); }
  std::string relative(const std::string& path) const {
    return fs::path(path).lexically_relative(request_.project).generic_string();
  }

  Result<void> take(const WalkedFile& file) {
    const std::string path = relative(file.path);
    if (is_never_shown(path) && !file.gated) {
      tree_.left_out.push_back(path);
      return ok();
    }
    const bool is_test =
        named_files_.count(path) != 0 || (is_test_name(fs::path(path).filename().native()) && is_below_named(path));
    if (!file.gated && !is_test) {
      if (file.kind == WalkedFile::Kind::special) {
        tree_.left_out.push_back(path);
      } else {
        tree_.others.push_back(path);
      }
      return ok();
    }
    std::string bytes;
    GUARD_TRY_ASSIGN(const bool judged, read_walked(file, request_.file_bytes_max, bytes, tree_.gated.findings));
    if (judged)
      tree_.gated.files.push_back({path, std::move(bytes)});
    else if (!tree_.gated.findings.empty())
      tree_.gated.findings.back().path = path;
    return ok();
  }

  static bool is_folder(std::string_view name) { return name.empty() || name.ends_with('/'); }

  bool is_below_named(const std::string& path) const {
    return std::any_of(named_folders_.begin(), named_folders_.end(),
        [&](const std::string& folder) { return path.starts_with(folder); });
  }

  Error not_found(const std::string& name) const {
    std::error_code failure;
    if (fs::exists(fs::symlink_status(request_.project / name, failure))) {
      return Error(ErrorCode::file_not_found, fmt::format("{} is not part of the project", printable(name)))
          .hint(
              "name a file that git does not ignore and that does not lie in node_modules or .git or begin with .env");
    }
    return Error(ErrorCode::file_not_found,
        fmt::format("{}: no such file in {}", printable(name), printable(request_.project.native())))
        .hint("check the spelling; a pattern that the shell could not expand is taken as a name");
  }

  Result<void> find_tests() {
    // What was refused is named all the same: the gate refuses it before anything runs.
    std::vector<std::string_view> present;
    for (const auto& file : tree_.gated.files) present.push_back(file.path);
    for (const auto& finding : tree_.gated.findings) present.push_back(finding.path);
    const std::set<std::string_view> known(present.begin(), present.end());
    for (const std::string& name : request_.named) {
      const std::size_t before = tree_.tests.size();
      if (!is_folder(name)) {
        if (known.count(name) == 0) return not_found(name);
        add_test(name);
        continue;
      }
      for (const std::string_view path : present) {
        if (path.starts_with(name) && is_test_name(path.substr(path.rfind('/') + 1))) add_test(std::string(path));
      }
      if (tree_.tests.size() > before) continue;
      return Error(ErrorCode::file_not_found,
          fmt::format("there are no tests in {}", printable(name.empty() ? request_.project.native() : name)))
          .hint(
              "tests are called *.test.ts, *_test.ts, *.spec.ts or *_spec.ts (or .js, .tsx, .jsx, .mjs, .cjs, .mts, "
              ".cts)");
    }
    return ok();
  }

  // The same file named twice is one file.
  void add_test(const std::string& name) {
    if (tests_.insert(name).second) tree_.tests.push_back(name);
  }

  const ProjectTreeRequest& request_;
  ProjectTree tree_;
  std::set<std::string> named_files_;
  std::vector<std::string> named_folders_;
  std::set<std::string> tests_;
};

bool has(const fs::path& folder, const char* name) {
  std::error_code failure;
  return fs::exists(fs::symlink_status(folder / name, failure));
}

bool has_lockfile(const fs::path& folder) {
  for (const char* name : {"bun.lock", "bun.lockb", "package-lock.json", "pnpm-lock.yaml", "yarn.lock"}) {
    if (has(folder, name)) return true;
  }
  return false;
}

}  // namespace

bool has_sandbox_folder(const fs::path& project) {
  std::error_code failure;
  return fs::is_directory(fs::symlink_status(project / kSandbox, failure));
}

bool may_change_others(std::string_view path) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  return is_below(path, kSandbox) || is_below(path, "src") || is_code_name(name) || name == "package.json" ||
      name == "bunfig.toml" || name == "jsconfig.json" || (name.starts_with("tsconfig") && name.ends_with(".json"));
}

Result<ProjectTree> read_project_tree(const ProjectTreeRequest& request) { return Reader(request).read(); }

fs::path project_of(const fs::path& path) {
  std::error_code failure;
  const fs::path named = fs::absolute(path, failure).lexically_normal();
  fs::path start = fs::is_directory(named, failure) ? named : named.parent_path();
  if (!start.has_filename()) start = start.parent_path();
  fs::path seed;
  fs::path locked;
  fs::path outermost;
  for (fs::path at = start;; at = at.parent_path()) {
    if (has(at, "package.json")) {
      const fs::path inside = named.lexically_relative(at);
      if (inside.begin() != inside.end() && *inside.begin() == kSandbox) seed = at;
      if (locked.empty() && has_lockfile(at)) locked = at;
      outermost = at;
    }
    const bool is_top = has(at, ".git");
    if (!is_top && at != at.parent_path()) continue;
    return !seed.empty() ? seed : !locked.empty() ? locked : !outermost.empty() ? outermost : is_top ? at : start;
  }
}

}  // namespace guard
