#include "validator/side_files.h"

#include <array>
#include <string>

#include "common/text/characters.h"
#include "validator/change/path_names.h"

namespace guard {
namespace {

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

struct Kind {
  std::string_view list;  // of word_lists.toml
  const SideFile& finding;
};
constexpr std::array<Kind, 5> kKinds = {{{"side_runner_config", kRunnerConfig}, {"side_manifest", kManifest},
    {"side_repository", kRepository}, {"side_env_file", kEnvFile}, {"side_native", kNative}}};

}  // namespace

std::optional<SideFile> side_file(std::string_view path) {
  // Names are compared without case: some file systems don't tell bunfig.toml from BunFig.toml.
  const std::string lower = lower_case(path);
  const std::string_view name = std::string_view(lower).substr(lower.rfind('/') + 1);
  for (std::string_view folders = std::string_view(lower).substr(0, lower.size() - name.size()); !folders.empty();) {
    const std::string_view segment = folders.substr(0, folders.find('/'));
    if (segment == "node_modules") return kDependencies;
    if (segment == ".git" || segment == ".githooks" || segment == ".husky") return kRepository;
    folders.remove_prefix(segment.size() + 1);
  }
  for (const Kind& kind : kKinds) {
    if (is_listed(name, kind.list)) return kind.finding;
  }
  return std::nullopt;
}

}  // namespace guard
