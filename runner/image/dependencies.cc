#include "runner/image/dependencies.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "common/text/foreign_json.h"
#include "common/text/glob.h"
#include "common/text/text.h"
#include "runner/process/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::string_view kFolderMark = ".guard-folder";
constexpr std::uint64_t kPackageBytesMax = 4ull << 20;
constexpr std::uint64_t kLockfileBytesMax = 64ull << 20;
constexpr std::uint64_t kArchiveBytesMax = 64ull << 20;
constexpr std::uint64_t kPatchBytesMax = 16ull << 20;
constexpr std::size_t kFoldersMax = 50'000;
constexpr int kDepthMax = 16;
constexpr std::uint64_t kBunWordsMax = 64ul * 1024;
// A cold install of a large project over a slow line; whoever waits can interrupt.
constexpr std::chrono::minutes kInstallDeadline{15};

constexpr std::string_view kWhatIsInstalled =
    "guard installs workspaces, folders and archives of the project and packages of a registry: another path, a git "
    "address or a URL is not "
    "fixed by the lockfile";

constexpr std::array<std::string_view, 4> kDependencyTables = {
    "dependencies", "devDependencies", "optionalDependencies", "peerDependencies"};

// In the order in which bun looks for them.
struct Lockfile {
  std::string_view name;
  std::string_view manager;  // as `packageManager` names it; its `install` brings the lockfile up to date
};
constexpr std::array<Lockfile, 5> kLockfiles = {{{"bun.lock", "bun"}, {"bun.lockb", "bun"},
    {"package-lock.json", "npm"}, {"yarn.lock", "yarn"}, {"pnpm-lock.yaml", "pnpm"}}};
constexpr std::string_view kPnpmWorkspaces = "pnpm-workspace.yaml";

Error unsatisfied(std::string message) { return Error(ErrorCode::dependency_unsatisfied, std::move(message)); }

// Keys that come twice are refused: bun and guard would have to agree on which one counts.
Result<json> parse_object(const std::string& text, const std::string& name) {
  auto document = parse_json(text, RepeatedKeys::refused);
  if (!document) return unsatisfied(fmt::format("{} {}", name, document.error().message()));
  if (!document->is_object()) return unsatisfied(fmt::format("{} is not a JSON object", name));
  return document;
}

// bun.lock is JSON with commas behind last elements.
std::string without_trailing_commas(const std::string& text) {
  std::string out;
  out.reserve(text.size());
  bool in_string = false;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char byte = text[at];
    if (in_string) {
      out += byte;
      if (byte == '\\' && at + 1 < text.size())
        out += text[++at];
      else if (byte == '"')
        in_string = false;
      continue;
    }
    if (byte == '"') in_string = true;
    if (byte == ',') {
      const auto next = text.find_first_not_of(" \t\r\n", at + 1);
      if (next != std::string::npos && (text[next] == '}' || text[next] == ']')) continue;
    }
    out += byte;
  }
  return out;
}

constexpr std::string_view kAlphanumeric = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";

bool consists_of(std::string_view text, std::string_view further) {
  return std::all_of(text.begin(), text.end(), [&](char byte) {
    return kAlphanumeric.find(byte) != std::string_view::npos || further.find(byte) != std::string_view::npos;
  });
}

bool is_package_name(std::string_view name) {
  if (name.empty() || !consists_of(name, "@._~-/") || name.find("..") != std::string_view::npos) return false;
  const auto slashes = std::count(name.begin(), name.end(), '/');
  return name.front() == '@' ? slashes == 1 && name.rfind('@') == 0
                             : slashes == 0 && name.find('@') == std::string_view::npos;
}

// "a/../b/" -> "b", "." -> ""; nothing where it leads out.
std::optional<std::string> path_within(const fs::path& path) {
  std::string normal = path.lexically_normal().generic_string();
  while (normal.ends_with('/')) normal.pop_back();
  if (normal == ".") normal.clear();
  if (normal == ".." || normal.starts_with("../") || normal.starts_with('/')) return std::nullopt;
  return normal;
}

// The folder or archive that "file:../b", "link:./b" or "portal:b" in the package.json in `place` names, relative to
// the project; nothing where it lies outside.
std::optional<std::string> local_path(std::string_view range, const std::string& place) {
  for (const std::string_view kind : {"file:", "link:", "portal:"}) {
    if (!range.starts_with(kind)) continue;
    range.remove_prefix(kind.size());
    return range.starts_with('/') ? std::nullopt : path_within(fs::path(place) / range);
  }
  return std::nullopt;
}

// A range of versions or a tag ("^1.2.0 || 2.x", "latest"), also under another name ("npm:other@^1"), of a workspace
// ("workspace:^") or from the catalog of the root. Everything else that package.json may say (file:, git+ssh:, https:,
// user/repository) has a ':' or a '/'.
bool is_registry_range(std::string_view range) {
  constexpr std::string_view kAlias = "npm:";
  if (range.starts_with(kAlias)) {
    range.remove_prefix(kAlias.size());
    const auto at = range.rfind('@');
    const bool versioned = at != std::string_view::npos && at != 0;
    if (!is_package_name(versioned ? range.substr(0, at) : range)) return false;
    range = versioned ? range.substr(at + 1) : std::string_view();
  }
  for (const std::string_view kind : {"workspace:", "catalog:"}) {
    if (range.starts_with(kind)) range.remove_prefix(kind.size());
  }
  return consists_of(range, " .*^~<>=|+-_");
}

bool is_version(std::string_view version) {
  return !version.empty() && version.front() >= '0' && version.front() <= '9' &&
      std::count(version.begin(), version.end(), '.') >= 2 && consists_of(version, ".+-");
}

bool is_integrity(const json& value) {
  if (!value.is_string()) return false;
  const auto& text = value.get_ref<const std::string&>();
  const auto dash = text.find('-');
  if (dash == std::string::npos || dash + 20 > text.size()) return false;
  const std::string_view kind(text.data(), dash);
  return (kind == "sha512" || kind == "sha384" || kind == "sha256" || kind == "sha1") &&
      consists_of(std::string_view(text).substr(dash + 1), "+/= -");
}

// ["is-number@7.0.0", "", {...}, "sha512-..."]: a package of a registry. Others have fewer elements, or an address in
// place of the version. Lockfiles of old versions of npm and yarn lack some hashes: "".
bool is_registry_package(const json& entry) {
  if (!entry.is_array() || entry.size() != 4 || !entry[0].is_string() || !entry[1].is_string() || !entry[2].is_object())
    return false;
  const auto& named = entry[0].get_ref<const std::string&>();
  const auto at = named.rfind('@');
  return at != std::string::npos && at != 0 && is_package_name(std::string_view(named).substr(0, at)) &&
      is_version(std::string_view(named).substr(at + 1)) && entry[3].is_string();
}

bool is_archive(std::string_view path) { return path.ends_with(".tgz") || path.ends_with(".tar.gz"); }

// ["@s/a@workspace:packages/a"], ["b@file:libs/b", {...}], ["c@libs/c.tgz", {...}, "sha512-..."], and ["x@root:",
// {...}] where a workspace depends on the project itself.
bool is_own_package(const json& entry, const std::vector<std::string>& places) {
  if (!entry.is_array() || entry.empty() || !entry[0].is_string() || (entry.size() > 1 && !entry[1].is_object()))
    return false;
  const std::string_view named = entry[0].get_ref<const std::string&>();
  const auto at = named.find('@', 1);
  if (at == std::string_view::npos || !is_package_name(named.substr(0, at))) return false;
  std::string_view path = named.substr(at + 1);
  bool is_folder = false;
  for (const std::string_view kind : {"workspace:", "root:", "file:", "link:"}) {
    if (is_folder || !path.starts_with(kind)) continue;
    is_folder = true;
    path.remove_prefix(kind.size());
  }
  const auto place = path_within(path);
  if (!place || std::find(places.begin(), places.end(), *place) == places.end()) return false;
  return is_archive(*place) ? entry.size() == 3 && is_integrity(entry[2]) : is_folder && entry.size() <= 2;
}

// Settings of npm, its registries and proxies. Everything else stays outside: install scripts do not run, yet bun reads
// many variables.
bool may_pass_to_install(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kNames = {"PATH", "HOME", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
      "NO_PROXY", "http_proxy", "https_proxy", "all_proxy", "no_proxy", "SSL_CERT_FILE", "SSL_CERT_DIR",
      "NODE_EXTRA_CA_CERTS", "NPM_TOKEN", "NODE_AUTH_TOKEN", "BUN_CONFIG_REGISTRY", "BUN_CONFIG_TOKEN"};
  return name.starts_with("npm_config_") || name.starts_with("NPM_CONFIG_") ||
      std::find(kNames.begin(), kNames.end(), name) != kNames.end();
}

std::map<std::string, std::string> install_environment(const fs::path& folder) {
  std::map<std::string, std::string> env;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    const auto equals = text.find('=');
    if (equals == std::string_view::npos || !may_pass_to_install(text.substr(0, equals))) continue;
    env.emplace(text.substr(0, equals), text.substr(equals + 1));
  }
  env["BUN_INSTALL_CACHE_DIR"] = (folder / ".cache").string();
  env["BUN_TMPDIR"] = (folder / ".tmp").string();
  env["TMPDIR"] = env["BUN_TMPDIR"];
  env["NO_COLOR"] = "1";
  env["DO_NOT_TRACK"] = "1";
  return env;
}

// bun says much about its progress; what went wrong is in the lines that begin so, one for each package.
std::string words_of(std::string_view err) {
  constexpr std::size_t kShownMax = 3;
  std::vector<std::string> words;
  std::string last;
  while (!err.empty()) {
    const auto line = err.substr(0, err.find('\n'));
    err.remove_prefix(std::min(err.size(), line.size() + 1));
    if (line.empty()) continue;
    last = printable(line);
    if (line.starts_with("error:") || line.starts_with("note:") || line.starts_with("warn:")) words.push_back(last);
  }
  if (words.empty()) return last;
  const std::size_t more = words.size() > kShownMax ? words.size() - kShownMax : 0;
  words.resize(words.size() - more);
  return fmt::format("{}{}", fmt::join(words, "; "), more > 0 ? fmt::format("; and {} more", more) : "");
}

}  // namespace

std::vector<std::string> Dependencies::places() const {
  std::vector<std::string> all = workspaces;
  all.insert(all.end(), archives.begin(), archives.end());
  return all;
}

Result<NamedDependencies> named_dependencies(const std::string& package_json, const std::string& place) {
  const std::string name = place.empty() ? "package.json" : place + "/package.json";
  GUARD_TRY_ASSIGN(const json package, parse_object(package_json, name));
  NamedDependencies named;
  for (const std::string_view table : kDependencyTables) {
    const auto entries = package.find(table);
    if (entries == package.end()) continue;
    if (!entries->is_object()) return unsatisfied(fmt::format("\"{}\" in {} is not an object", table, name));
    for (const auto& [package_name, range] : entries->items()) {
      named.any = true;
      if (is_package_name(package_name) && range.is_string()) {
        const auto& text = range.get_ref<const std::string&>();
        if (is_registry_range(text)) continue;
        if (auto path = local_path(text, place)) {
          (is_archive(*path) ? named.archives : named.folders).push_back(std::move(*path));
          continue;
        }
      }
      const std::string shown =
          range.is_string() ? fmt::format("\"{}\"", printable(range.get_ref<const std::string&>())) : range.type_name();
      return unsatisfied(
          fmt::format("{} asks for \"{}\" as {}, which is neither a package of a registry nor one of the project", name,
              printable(package_name), shown))
          .hint(std::string(kWhatIsInstalled));
    }
  }
  return named;
}

Result<std::size_t> check_lockfile(
    const std::string& lockfile, const std::string& name, const std::vector<std::string>& places) {
  std::size_t unhashed = 0;
  GUARD_TRY_ASSIGN(const json lock, parse_object(without_trailing_commas(lockfile), name));
  const auto locked = lock.find("workspaces");
  const auto packages = lock.find("packages");
  if (!lock.contains("lockfileVersion") || locked == lock.end() || !locked->is_object() || !locked->contains("") ||
      packages == lock.end() || !packages->is_object()) {
    return unsatisfied(fmt::format("{} is not a lockfile of bun", name)).hint("make a new one with `bun install`");
  }
  for (const auto& [place, package] : locked->items()) {
    if (std::find(places.begin(), places.end(), place) != places.end()) continue;
    return unsatisfied(fmt::format("{} has a workspace {} that package.json does not name, or that is not there", name,
                           printable(place)))
        .hint("run `bun install` and commit bun.lock");
  }
  for (const auto& [key, entry] : packages->items()) {
    if (is_own_package(entry, places)) continue;
    const bool registry = is_registry_package(entry);
    if (registry && is_integrity(entry[3])) continue;
    // bun itself always writes the hash.
    if (registry && entry[3] == "" && name != "bun.lock") {
      ++unhashed;
      continue;
    }
    const std::string shown =
        entry.is_array() && !entry.empty() && entry[0].is_string() ? entry[0].get<std::string>() : key;
    return unsatisfied(
        fmt::format(
            "{} holds \"{}\", which is neither a package of a registry with an integrity hash nor one of the project",
            name, printable(shown)))
        .hint(std::string(kWhatIsInstalled));
  }
  return unhashed;
}

namespace {

// What `workspaces` of a package.json says: a list, or an object with one.
std::vector<std::string> workspace_globs(const json& package) {
  std::vector<std::string> globs;
  const auto said = package.find("workspaces");
  if (said == package.end()) return globs;
  const json none = json::array();
  const json& list = said->is_object() ? said->value("packages", none) : *said;
  if (!list.is_array()) return globs;
  for (const json& glob : list) {
    if (glob.is_string()) globs.push_back(glob.get<std::string>());
  }
  return globs;
}

// What stands below `key:` in pnpm-workspace.yaml, an entry a line: "- value" or "name: value".
std::vector<std::string> pnpm_values(std::string_view text, std::string_view key) {
  std::vector<std::string> values;
  bool inside = false;
  while (!text.empty()) {
    std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    line = line.substr(0, line.find(" #"));
    const auto begin = line.find_first_not_of(" \t\r");
    if (begin == std::string_view::npos || line[begin] == '#') continue;
    if (begin == 0 && line[0] != '-') {
      inside = line.starts_with(key) && line.substr(key.size()).starts_with(':');
      continue;
    }
    if (!inside) continue;
    const auto colon = line.rfind(": ");
    line.remove_prefix(line[begin] == '-' ? begin + 1 : colon == std::string_view::npos ? line.size() : colon + 2);
    const auto first = line.find_first_not_of(" \t'\"");
    const auto last = line.find_last_not_of(" \t\r'\"");
    if (first != std::string_view::npos) values.emplace_back(line.substr(first, last - first + 1));
  }
  return values;
}

// Finds the folders with a package.json that globs name. Links are not followed.
class Workspaces {
 public:
  Workspaces(const fs::path& project, const std::vector<std::string>& globs) : project_(project) {
    for (std::string_view glob : globs) {
      auto& list = glob.starts_with('!') ? without_ : with_;
      glob.remove_prefix(glob.starts_with('!') ? 1 : 0);
      glob.remove_prefix(glob.starts_with("./") ? 2 : 0);
      while (glob.ends_with('/')) glob.remove_suffix(1);
      const int levels = glob.find("**") != std::string_view::npos
          ? kDepthMax
          : static_cast<int>(std::count(glob.begin(), glob.end(), '/')) + 1;
      depth_ = std::max(depth_, std::min(levels, kDepthMax));
      list.emplace_back(glob);
    }
  }

  Result<std::vector<std::string>> find() {
    found_ = {""};
    if (!with_.empty()) GUARD_TRY(look("", 0));
    std::sort(found_.begin(), found_.end());
    return std::move(found_);
  }

 private:
  Result<void> look(const std::string& folder, int depth) {
    if (depth == depth_) return ok();
    std::error_code failure;
    for (fs::directory_iterator entry(project_ / folder, fs::directory_options::skip_permission_denied, failure), end;
         !failure && entry != end; entry.increment(failure)) {
      const std::string name = entry->path().filename().native();
      std::error_code gone;
      if (name.starts_with('.') || name == "node_modules" || !fs::is_directory(entry->symlink_status(gone))) continue;
      if (++folders_ > kFoldersMax)
        return unsatisfied(
            fmt::format("the workspaces that package.json names lie among more than {} folders", kFoldersMax))
            .hint("name the folders instead of using **");
      const std::string path = folder.empty() ? name : fmt::format("{}/{}", folder, name);
      const auto names = [&](const std::string& glob) { return glob_matches(glob, path); };
      if (std::any_of(with_.begin(), with_.end(), names) && std::none_of(without_.begin(), without_.end(), names) &&
          fs::is_regular_file(fs::symlink_status(project_ / path / "package.json", gone))) {
        found_.push_back(path);
      }
      GUARD_TRY(look(path, depth + 1));
    }
    return ok();
  }

  const fs::path& project_;
  std::vector<std::string> with_;
  std::vector<std::string> without_;
  std::vector<std::string> found_;
  std::size_t folders_ = 0;
  int depth_ = 0;
};

// Whether no link on the way leads elsewhere.
bool lies_in_project(const fs::path& project, const std::string& path) {
  std::error_code failure;
  return fs::weakly_canonical(project / path, failure) ==
      (fs::weakly_canonical(project, failure) / path).lexically_normal() &&
      !failure;
}

// The patch files, which belong to the project: `patchedDependencies` of package.json, there below `pnpm` too, and of
// pnpm-workspace.yaml.
Result<void> read_patches(const fs::path& project, const json& package, const std::string& pnpm_workspaces,
    std::map<std::string, std::string>& files) {
  std::vector<std::string> patches = pnpm_values(pnpm_workspaces, "patchedDependencies");
  const json none = json::object();
  const json& pnpm = package.contains("pnpm") ? package["pnpm"] : none;
  for (const json* holder : {&package, &pnpm}) {
    if (!holder->is_object() || !holder->contains("patchedDependencies")) continue;
    for (const json& place : (*holder)["patchedDependencies"])
      patches.push_back(place.is_string() ? place.get<std::string>() : std::string());
  }
  // yarn's lie in a folder of their own, and are named in the ranges of its lockfile.
  constexpr std::string_view kYarnPatches = ".yarn/patches";
  std::error_code failure;
  for (fs::directory_iterator entry(project / kYarnPatches, failure), end; !failure && entry != end;
       entry.increment(failure)) {
    if (entry->path().extension() == ".patch")
      patches.push_back((fs::path(kYarnPatches) / entry->path().filename()).native());
  }
  for (const std::string& patch : patches) {
    const auto path = path_within(patch);
    if (!path || path->empty() || !lies_in_project(project, *path))
      return unsatisfied(fmt::format("the patch \"{}\" is no file of the project", printable(patch)));
    GUARD_TRY_ASSIGN(files[*path], read_file(project / *path, kPatchBytesMax, FollowLinks::no));
  }
  return ok();
}

// The lockfiles in the order in which they count: where there are several, that of the package manager which
// package.json names is kept up.
std::array<Lockfile, 5> lockfiles_of(const json& package) {
  std::array<Lockfile, 5> order = kLockfiles;
  const std::string said = package.value("packageManager", json()).is_string() ? package["packageManager"] : json("");
  const std::string_view name = std::string_view(said).substr(0, said.find('@'));
  std::stable_partition(order.begin(), order.end(),
      [&](const Lockfile& lockfile) { return lockfile.manager == "bun" || lockfile.manager == name; });
  return order;
}

Error no_lockfile(const fs::path& project) {
  Error error = unsatisfied("package.json names dependencies and there is no lockfile that fixes them");
  std::error_code failure;
  for (fs::path above = fs::absolute(project, failure).lexically_normal().parent_path(); !failure;
       above = above.parent_path()) {
    for (const auto& [name, manager] : kLockfiles) {
      if (!fs::exists(above / name, failure)) continue;
      return Error(std::move(error).hint(
          fmt::format("{} lies in {}: run guard there, it takes in all workspaces", name, printable(above.native()))));
    }
    if (above == above.root_path()) break;
  }
  return std::move(error).hint(fmt::format("run `bun install` in {} and commit bun.lock", printable(project.native())));
}

}  // namespace

Result<Dependencies> read_dependencies(const fs::path& project) {
  Dependencies dependencies;
  auto& files = dependencies.files;
  auto root = read_file(project / "package.json", kPackageBytesMax, FollowLinks::no);
  if (!root && root.error().code() == ErrorCode::file_not_found) {
    // Distinct from a missing project, where nothing at all would be right.
    std::error_code failure;
    if (fs::is_directory(project, failure)) return dependencies;
  }
  if (!root) return std::move(root).error();
  GUARD_TRY_ASSIGN(const json package, parse_object(*root, "package.json"));
  files["package.json"] = std::move(*root);

  std::vector<std::string> globs = workspace_globs(package);
  if (auto pnpm = read_file(project / kPnpmWorkspaces, kPackageBytesMax, FollowLinks::no)) {
    const auto further = pnpm_values(*pnpm, "packages");
    globs.insert(globs.end(), further.begin(), further.end());
    files[std::string(kPnpmWorkspaces)] = std::move(*pnpm);
  }
  GUARD_TRY_ASSIGN(dependencies.workspaces, Workspaces(project, globs).find());
  auto& places = dependencies.workspaces;
  bool needed = false;
  for (std::size_t at = 0; at < places.size(); ++at) {  // grows by the folders that they name
    const std::string place = places[at];
    const std::string path = place.empty() ? "package.json" : place + "/package.json";
    if (!place.empty()) {
      GUARD_TRY_ASSIGN(files[path], read_file(project / path, kPackageBytesMax, FollowLinks::no));
    }
    GUARD_TRY_ASSIGN(NamedDependencies named, named_dependencies(files[path], place));
    needed = needed || named.any;
    for (const std::string& archive : named.archives) {
      if (!lies_in_project(project, archive))
        return unsatisfied(
            fmt::format("{} asks for \"{}\", which is no file of the project", path, printable(archive)));
      GUARD_TRY_ASSIGN(files[archive], read_file(project / archive, kArchiveBytesMax, FollowLinks::no));
      dependencies.archives.push_back(archive);
    }
    for (std::string& folder : named.folders) {
      if (std::find(places.begin(), places.end(), folder) != places.end()) continue;
      std::error_code failure;
      if (!lies_in_project(project, folder) ||
          !fs::is_regular_file(fs::symlink_status(project / folder / "package.json", failure))) {
        return unsatisfied(
            fmt::format("{} asks for the folder \"{}\", in which there is no package.json of the project", path,
                printable(folder)));
      }
      dependencies.folders.push_back(folder);
      places.push_back(std::move(folder));
    }
  }
  if (!needed) return dependencies;
  GUARD_TRY(read_patches(project, package,
      files.count(std::string(kPnpmWorkspaces)) != 0 ? files[std::string(kPnpmWorkspaces)] : std::string(), files));

  for (const auto& [name, manager] : lockfiles_of(package)) {
    auto text = read_file(project / name, kLockfileBytesMax, FollowLinks::no);
    if (!text && text.error().code() == ErrorCode::file_not_found) continue;
    if (!text) return std::move(text).error();
    if (name == "bun.lock") GUARD_TRY(check_lockfile(*text, "bun.lock", dependencies.places()));
    dependencies.lockfile = name;
    files[dependencies.lockfile] = std::move(*text);
    return dependencies;
  }
  return no_lockfile(project);
}

namespace {

// What brings a lockfile up to date.
std::string update_command(std::string_view lockfile) {
  const auto* const row = std::ranges::find(kLockfiles, lockfile, &Lockfile::name);
  return fmt::format("{} install", row == kLockfiles.end() ? "bun" : row->manager);
}

class Installer {
 public:
  Installer(const fs::path& bun, const fs::path& folder, const std::string& lockfile, const CancelToken& cancel)
      : bun_(bun), lockfile_(lockfile), cancel_(cancel) {
    spec_.cwd = folder.string();
    spec_.env = install_environment(folder);
    spec_.grace = std::chrono::seconds(2);
  }

  // `failed`: what it says when bun can't.
  Result<void> run(std::vector<std::string> arguments, std::string_view failed) {
    spec_.argv = std::move(arguments);
    spec_.argv.insert(spec_.argv.begin(), bun_.string());
    spec_.deadline = Deadline::after(kInstallDeadline);
    GUARD_TRY_ASSIGN(const CollectedProcess done, collect_process(spec_, kBunWordsMax, cancel_));
    const Outcome& outcome = done.result.outcome;
    if (outcome.kind == OutcomeKind::cancelled)
      return Error(ErrorCode::cancelled, "stopped while installing dependencies");
    if (outcome.kind == OutcomeKind::timed_out) {
      return unsatisfied(fmt::format("bun install was not done after {} minutes", kInstallDeadline.count()))
          .hint("check the way to the npm registry and its settings in ~/.npmrc");
    }
    if (outcome.kind == OutcomeKind::exited && outcome.value == 0) return ok();
    const std::string words = words_of(done.err);
    return unsatisfied(fmt::format("{} {}: {}", failed, lockfile_,
                           words.empty() ? fmt::format("{} {}", to_string(outcome.kind), outcome.value) : words))
        .hint(fmt::format("if package.json has changed, run `{}` in the project and commit {}; else check the way to "
                          "the npm registry",
            update_command(lockfile_), lockfile_))
        .detail("stderr", printable(done.err));
  }

 private:
  const fs::path& bun_;
  const std::string& lockfile_;
  const CancelToken& cancel_;
  ProcessSpec spec_;
};

// "a@1.2.3 sha512-..." of each package of a registry in a checked bun.lock.
Result<std::set<std::string>> locked_packages(const std::string& text) {
  GUARD_TRY_ASSIGN(const json lock, parse_object(without_trailing_commas(text), "bun.lock"));
  std::set<std::string> packages;
  for (const json& entry : lock.value("packages", json::object())) {
    if (is_registry_package(entry)) packages.insert(entry[0].dump() + " " + entry.back().dump());
  }
  return packages;
}

// ".../node_modules/@s/a" -> ".../node_modules"
fs::path modules_around(const fs::path& package) {
  const fs::path parent = package.parent_path();
  return parent.filename().native().starts_with('@') ? parent.parent_path() : parent;
}

// A folder `to` with a link to each entry of `from`.
std::error_code link_all(const fs::path& from, const fs::path& to) {
  std::error_code failure;
  fs::create_directories(to, failure);
  for (fs::directory_iterator entry(from, failure), end; !failure && entry != end; entry.increment(failure)) {
    fs::create_directory_symlink(entry->path().lexically_relative(to), to / entry->path().filename(), failure);
    if (failure) break;
  }
  return failure;
}

// bun copies a folder of the project as it copies a package, and of these folders the private one holds package.json
// alone. So each copy becomes a link to the folder, like a workspace's, and the packages that lie beside or below the
// copy move to it.
Result<void> link_folders(const fs::path& install, const Dependencies& dependencies) {
  std::vector<fs::path> copies;
  for (const std::string& place : dependencies.workspaces) {
    std::error_code failure;
    const fs::path modules = install / place / "node_modules";
    if (!fs::is_directory(fs::symlink_status(modules, failure))) continue;
    for (fs::recursive_directory_iterator entry(modules, failure), end; !failure && entry != end;
         entry.increment(failure)) {
      if (entry->path().filename() == kFolderMark) copies.push_back(entry->path().parent_path());
    }
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(modules.native()), failure.value());
  }
  for (const fs::path& copy : copies) {
    GUARD_TRY_ASSIGN(const std::string folder, read_file(copy / kFolderMark, kPackageBytesMax, FollowLinks::no));
    // A package of a registry may bring a file of that name.
    if (std::find(dependencies.folders.begin(), dependencies.folders.end(), folder) == dependencies.folders.end())
      continue;
    const fs::path to = install / folder / "node_modules";
    std::error_code failure;
    if (fs::is_directory(copy / "node_modules") && !fs::exists(to)) {
      fs::rename(copy / "node_modules", to, failure);
    } else if (const fs::path beside = modules_around(copy);
               beside.parent_path().parent_path().filename() == ".bun" && !fs::exists(to)) {
      failure = link_all(beside, to);
    }
    if (!failure) fs::remove_all(copy, failure);
    if (!failure)
      fs::create_directory_symlink((install / folder).lexically_relative(copy.parent_path()), copy, failure);
    if (failure) return Error::from_errno(ErrorCode::io_error, printable(copy.native()), failure.value());
  }
  return ok();
}

}  // namespace

Result<std::vector<std::string>> install_dependencies(
    const Dependencies& dependencies, const fs::path& bun, const fs::path& folder, const CancelToken& cancel) {
  std::vector<std::string> notes;
  for (const auto& [path, bytes] : dependencies.files) {
    GUARD_TRY(make_folders((folder / path).parent_path(), 0700));
    GUARD_TRY(write_file_atomically(folder / path, bytes));
  }
  for (const std::string& place : dependencies.folders)
    GUARD_TRY(write_file_atomically(folder / place / kFolderMark, place));
  GUARD_TRY(make_folders(folder / ".tmp", 0700));
  Installer installer(bun, folder, dependencies.lockfile, cancel);
  std::string fixed;  // the bun.lock that another lockfile was made into
  const auto read_made = [&]() -> Result<std::size_t> {
    GUARD_TRY_ASSIGN(fixed, read_file(folder / "bun.lock", kLockfileBytesMax, FollowLinks::no));
    return check_lockfile(fixed, dependencies.lockfile, dependencies.places());
  };
  if (dependencies.lockfile != "bun.lock") {
    const bool binary = dependencies.lockfile == "bun.lockb";
    GUARD_TRY(installer.run(binary ? std::vector<std::string>{"install", "--lockfile-only", "--save-text-lockfile",
                                         "--frozen-lockfile", "--ignore-scripts"}
                                   : std::vector<std::string>{"pm", "migrate"},
        "bun cannot read"));
    GUARD_TRY_ASSIGN(const std::size_t unhashed, read_made());
    if (unhashed > 0) {
      notes.push_back(fmt::format("{} has no hash for {} {}: their versions alone are fixed; `{}` may add the hashes",
          dependencies.lockfile, unhashed, unhashed == 1 ? "package" : "packages",
          update_command(dependencies.lockfile)));
    }
  }
  // copyfile: the other ways link the packages to bun's cache.
  const std::vector<std::string> install = {
      "install", "--frozen-lockfile", "--ignore-scripts", "--no-progress", "--backend=copyfile"};
  constexpr std::string_view kFailed = "bun cannot install what is fixed by";
  if (auto installed = installer.run(install, kFailed); !installed) {
    // bun does not always make of another lockfile what it takes for up to date (ranges of workspaces, resolutions). It
    // may fix that as long as no package comes in which the lockfile does not fix.
    if (dependencies.lockfile == "bun.lock" || installed.error().code() != ErrorCode::dependency_unsatisfied)
      return std::move(installed).error();
    GUARD_TRY_ASSIGN(const auto before, locked_packages(fixed));
    if (!installer.run({"install", "--lockfile-only", "--ignore-scripts", "--no-progress"}, kFailed))
      return std::move(installed).error();
    GUARD_TRY(read_made());
    GUARD_TRY_ASSIGN(const auto after, locked_packages(fixed));
    if (!std::includes(before.begin(), before.end(), after.begin(), after.end())) return std::move(installed).error();
    GUARD_TRY(installer.run(install, kFailed));
  }
  if (!dependencies.folders.empty()) GUARD_TRY(link_folders(folder, dependencies));
  return notes;
}

}  // namespace guard
