#include "validator/side_files.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

namespace guard {
namespace {

struct NamedFile {
  std::string_view name;
  SideFile finding;
};

constexpr SideFile kRunnerConfig = {"side_file.runner_config", "a configuration file that bun loads by itself",
    "Remove it; bun's settings belong to the project, not to the sandbox folder."};
constexpr SideFile kManifest = {"side_file.manifest", "a package or compiler manifest beside the tests",
    "Remove it; package.json and tsconfig.json of the project are the ones that count."};
constexpr SideFile kEnvFile = {"side_file.env_file", "an .env file, which bun loads by itself",
    "Remove it; set made-up values in the test: process.env.MODE = \"test\"."};
constexpr SideFile kDependencies = {"side_file.node_modules", "a module folder of the test's own",
    "Remove it; only packages that package.json lists may be imported."};
constexpr SideFile kNative = {
    "side_file.native_code", "compiled code that no rule can read", "Remove it; use a fake written in TypeScript."};
constexpr SideFile kRepository = {"side_file.repository", "files of a git repository or of its hooks",
    "Remove it; the sandbox folder holds tests, fixtures and helpers only."};

constexpr std::array<NamedFile, 20> kNames = {{{"bunfig.toml", kRunnerConfig}, {".bunfig.toml", kRunnerConfig},
    {"package.json", kManifest}, {"bun.lock", kManifest}, {"bun.lockb", kManifest}, {"package-lock.json", kManifest},
    {"yarn.lock", kManifest}, {"pnpm-lock.yaml", kManifest}, {"pnpm-workspace.yaml", kManifest},
    {"tsconfig.json", kManifest}, {"jsconfig.json", kManifest}, {".npmrc", kRunnerConfig}, {".yarnrc", kRunnerConfig},
    {".yarnrc.yml", kRunnerConfig}, {".pnpmfile.cjs", kRunnerConfig}, {".gitmodules", kRepository},
    {".gitattributes", kRepository}, {".envrc", kEnvFile}, {".env", kEnvFile}, {"macros.toml", kRunnerConfig}}};

std::optional<SideFile> by_name(std::string_view name) noexcept {
  for (const NamedFile& known : kNames) {
    if (name == known.name) return known.finding;
  }
  if (name.substr(0, 5) == ".env.") return kEnvFile;
  const bool compiler_config =
      (name.substr(0, 9) == "tsconfig." || name.substr(0, 9) == "jsconfig.") && name.ends_with(".json");
  if (compiler_config) return kManifest;
  for (const std::string_view ending : {".wasm", ".node", ".so", ".dylib", ".dll", ".exe", ".jsc"}) {
    if (name.ends_with(ending)) return kNative;
  }
  if (name.find(".so.") != std::string_view::npos) return kNative;
  return std::nullopt;
}

}  // namespace

std::optional<SideFile> side_file(std::string_view path) noexcept {
  // Names are compared without case: some file systems don't tell bunfig.toml from BunFig.toml.
  std::array<char, 4096> lower{};
  if (path.size() > lower.size()) path.remove_prefix(path.size() - lower.size());
  std::transform(path.begin(), path.end(), lower.begin(),
      [](char c) { return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c); });
  const std::string_view whole(lower.data(), path.size());
  std::size_t at = 0;
  for (;;) {
    const std::size_t slash = whole.find('/', at);
    const std::string_view segment = whole.substr(at, slash - at);
    if (slash == std::string_view::npos) return by_name(segment);
    if (segment == "node_modules") return kDependencies;
    if (segment == ".git" || segment == ".githooks" || segment == ".husky") return kRepository;
    at = slash + 1;
  }
}

}  // namespace guard
