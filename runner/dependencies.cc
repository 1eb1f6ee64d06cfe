#include "runner/dependencies.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>
#include <vector>

#include "common/file_io.h"
#include "common/foreign_json.h"
#include "common/text.h"
#include "runner/subprocess.h"

namespace guard {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint64_t kPackageBytesMax = 4ull << 20;
constexpr std::uint64_t kLockfileBytesMax = 64ull << 20;
constexpr std::uint64_t kBunWordsMax = 64 * 1024;
// A cold install of a large project over a slow line; whoever waits can interrupt.
constexpr std::chrono::minutes kInstallDeadline{15};

constexpr std::array<std::string_view, 4> kDependencyTables = {"dependencies", "devDependencies",
                                                               "optionalDependencies", "peerDependencies"};

Error unsatisfied(std::string message) {
  return Error(ErrorCode::dependency_unsatisfied, std::move(message));
}

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

// A range of versions or a tag ("^1.2.0 || 2.x", "latest"), also under another name ("npm:other@^1"). Everything else
// that package.json may say (file:, link:, workspace:, git+ssh:, https:, user/repository, catalog:) has a ':' or a '/'.
bool is_registry_range(std::string_view range) {
  constexpr std::string_view kAlias = "npm:";
  if (range.starts_with(kAlias)) {
    range.remove_prefix(kAlias.size());
    const auto at = range.rfind('@');
    const bool versioned = at != std::string_view::npos && at != 0;
    if (!is_package_name(versioned ? range.substr(0, at) : range)) return false;
    range = versioned ? range.substr(at + 1) : std::string_view();
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
// place of the version.
bool is_registry_package(const json& entry) {
  if (!entry.is_array() || entry.size() != 4 || !entry[0].is_string() || !entry[1].is_string() || !entry[2].is_object())
    return false;
  const auto& named = entry[0].get_ref<const std::string&>();
  const auto at = named.rfind('@');
  return at != std::string::npos && at != 0 && is_package_name(std::string_view(named).substr(0, at)) &&
         is_version(std::string_view(named).substr(at + 1)) && is_integrity(entry[3]);
}

// Settings of npm, its registries and proxies. Everything else stays outside: install scripts do not run, yet bun reads
// many variables.
bool may_pass_to_install(std::string_view name) {
  static constexpr std::array<std::string_view, 17> kNames = {"PATH",
                                                              "HOME",
                                                              "HTTP_PROXY",
                                                              "HTTPS_PROXY",
                                                              "ALL_PROXY",
                                                              "NO_PROXY",
                                                              "http_proxy",
                                                              "https_proxy",
                                                              "all_proxy",
                                                              "no_proxy",
                                                              "SSL_CERT_FILE",
                                                              "SSL_CERT_DIR",
                                                              "NODE_EXTRA_CA_CERTS",
                                                              "NPM_TOKEN",
                                                              "NODE_AUTH_TOKEN",
                                                              "BUN_CONFIG_REGISTRY",
                                                              "BUN_CONFIG_TOKEN"};
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

// bun says much about its progress; what went wrong is in the lines that begin so.
std::string words_of(std::string_view err) {
  std::string words;
  std::string last;
  while (!err.empty()) {
    const auto line = err.substr(0, err.find('\n'));
    err.remove_prefix(std::min(err.size(), line.size() + 1));
    if (line.empty()) continue;
    last = printable(line);
    if (line.starts_with("error:") || line.starts_with("note:") || line.starts_with("warn:")) {
      words += (words.empty() ? "" : "; ") + last;
    }
  }
  return words.empty() ? last : words;
}

}  // namespace

Result<bool> names_dependencies(const std::string& package_json, const std::string& name) {
  GUARD_TRY_ASSIGN(const json package, parse_object(package_json, name));
  for (const std::string_view key : {"workspaces", "patchedDependencies", "catalog", "catalogs"}) {
    if (package.contains(key)) {
      return unsatisfied(fmt::format("{} uses \"{}\", which reaches beyond package.json and bun.lock", name, key))
          .hint("give the tests a package.json of their own that names packages of a registry only");
    }
  }
  bool any = false;
  for (const std::string_view table : kDependencyTables) {
    const auto entries = package.find(table);
    if (entries == package.end()) continue;
    if (!entries->is_object()) return unsatisfied(fmt::format("\"{}\" in {} is not an object", table, name));
    for (const auto& [package_name, range] : entries->items()) {
      any = true;
      if (is_package_name(package_name) && range.is_string() && is_registry_range(range.get_ref<const std::string&>()))
        continue;
      const std::string shown =
          range.is_string() ? fmt::format("\"{}\"", printable(range.get_ref<const std::string&>())) : range.type_name();
      return unsatisfied(fmt::format("{} asks for \"{}\" as {}, which is no package of a registry", name,
                                     printable(package_name), shown))
          .hint(
              "guard installs from a registry only: a path, link, workspace, git address or URL is not fixed by the "
              "lockfile");
    }
  }
  return any;
}

Result<void> check_lockfile(const std::string& lockfile, const std::string& name) {
  GUARD_TRY_ASSIGN(const json lock, parse_object(without_trailing_commas(lockfile), name));
  const auto workspaces = lock.find("workspaces");
  const auto packages = lock.find("packages");
  if (!lock.contains("lockfileVersion") || workspaces == lock.end() || !workspaces->is_object() ||
      packages == lock.end() || !packages->is_object()) {
    return unsatisfied(fmt::format("{} is not a lockfile of bun", name)).hint("make a new one with `bun install`");
  }
  if (workspaces->size() != 1 || !workspaces->contains("") || lock.contains("patchedDependencies")) {
    return unsatisfied(fmt::format("{} belongs to several workspaces or to patched packages", name))
        .hint("give the tests a package.json of their own that names packages of a registry only");
  }
  for (const auto& [key, entry] : packages->items()) {
    if (is_registry_package(entry)) continue;
    const std::string shown =
        entry.is_array() && !entry.empty() && entry[0].is_string() ? entry[0].get<std::string>() : key;
    return unsatisfied(fmt::format("{} holds \"{}\", which is no package of a registry with an integrity hash", name,
                                   printable(shown)))
        .hint(
            "guard installs from a registry only: a path, link, workspace, git address or URL is not fixed by the "
            "lockfile");
  }
  return ok();
}

Result<Dependencies> read_dependencies(const fs::path& project) {
  Dependencies dependencies;
  auto package = read_file(project / "package.json", kPackageBytesMax, FollowLinks::no);
  if (!package && package.error().code() == ErrorCode::file_not_found) {
    // Distinct from a missing project, where nothing at all would be right.
    std::error_code failure;
    if (fs::is_directory(project, failure)) return dependencies;
  }
  if (!package) return std::move(package).error();
  dependencies.package_json = std::move(*package);
  GUARD_TRY_ASSIGN(const bool needed, names_dependencies(dependencies.package_json, "package.json"));
  if (!needed) return dependencies;

  auto lockfile = read_file(project / "bun.lock", kLockfileBytesMax, FollowLinks::no);
  if (!lockfile && lockfile.error().code() == ErrorCode::file_not_found) {
    std::error_code failure;
    const bool binary = fs::exists(project / "bun.lockb", failure);
    return unsatisfied("package.json names dependencies and there is no bun.lock that fixes them")
        .hint(binary ? "bun.lockb is not read by guard; run `bun install --save-text-lockfile` and commit bun.lock"
                     : fmt::format("run `bun install` in {} and commit bun.lock", printable(project.native())));
  }
  if (!lockfile) return std::move(lockfile).error();
  GUARD_TRY(check_lockfile(*lockfile, "bun.lock"));
  dependencies.lockfile = std::move(*lockfile);
  return dependencies;
}

Result<void> install_dependencies(const Dependencies& dependencies, const fs::path& bun, const fs::path& folder,
                                  const CancelToken& cancel) {
  GUARD_TRY(write_file_atomically(folder / "package.json", dependencies.package_json));
  GUARD_TRY(write_file_atomically(folder / "bun.lock", dependencies.lockfile));
  GUARD_TRY(make_folders(folder / ".tmp", 0700));
  ProcessSpec spec;
  // copyfile: the other ways link the packages to bun's cache.
  spec.argv = {bun.string(), "install", "--frozen-lockfile", "--ignore-scripts", "--no-progress", "--backend=copyfile"};
  spec.cwd = folder.string();
  spec.env = install_environment(folder);
  spec.deadline = Deadline::after(kInstallDeadline);
  spec.grace = std::chrono::seconds(2);
  GUARD_TRY_ASSIGN(const CollectedProcess installed, collect_process(spec, kBunWordsMax, cancel));
  const Outcome& outcome = installed.result.outcome;
  if (outcome.kind == OutcomeKind::cancelled)
    return Error(ErrorCode::cancelled, "stopped while installing dependencies");
  if (outcome.kind == OutcomeKind::timed_out) {
    return unsatisfied(fmt::format("bun install was not done after {} minutes", kInstallDeadline.count()))
        .hint("check the way to the npm registry and its settings in ~/.npmrc");
  }
  if (outcome.kind == OutcomeKind::exited && outcome.value == 0) return ok();
  const std::string words = words_of(installed.err);
  return unsatisfied(fmt::format("bun cannot install what bun.lock fixes: {}",
                                 words.empty() ? fmt::format("{} {}", to_string(outcome.kind), outcome.value) : words))
      .hint(
          "if package.json has changed, run `bun install` in the project and commit bun.lock; else check the way to "
          "the npm registry")
      .detail("stderr", printable(installed.err));
}

}  // namespace guard
