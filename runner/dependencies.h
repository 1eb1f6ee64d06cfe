// The packages a project's tests import: what package.json and the lockfile ask for, whether guard will install it, and the
// installing. Install scripts never run.
//
// Only the project's own workspaces and packages of a registry, each with its integrity hash in the lockfile, are taken: what
// is named by a git address, a URL or another path is not fixed by the lockfile's text, and a path would also have to be trusted.
//
// bun.lock is read as it is. Lockfiles of other programs (and bun.lockb) are made into one by bun, in the private folder of the
// install; what comes of it has to pass the same checks.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct Dependencies {
  std::map<std::string, std::string> files;  // all that the install reads: path in the project -> bytes
  std::string lockfile;                      // the one among `files`; empty when no package.json names dependencies
  std::vector<std::string> workspaces;       // folders with a package.json: "" (the project itself), "packages/a"
};

// Reads and checks. DEPENDENCY_UNSATISFIED where a package.json names dependencies and no lockfile holds them, or where
// one of the two asks for what guard does not install. A project without package.json has no dependencies.
Result<Dependencies> read_dependencies(const std::filesystem::path& project);

// The checks alone, for text from elsewhere. `name` is what messages call it.
Result<bool> names_dependencies(const std::string& package_json, const std::string& name);
Result<void> check_lockfile(const std::string& lockfile, const std::string& name, const std::vector<std::string>& workspaces = {""});

// Installs into `folder`, an empty private folder, which then holds node_modules, as may the workspaces in it. Nothing of the
// project but `files` is there: no .npmrc, no bunfig.toml. The person's own npm settings (in HOME and npm_config_*) are used. bun's
// cache is private too, so that every package is fetched and its integrity checked. DEPENDENCY_UNSATISFIED with bun's
// words.
Result<void> install_dependencies(const Dependencies& dependencies, const std::filesystem::path& bun,
                                  const std::filesystem::path& folder, const CancelToken& cancel);

}  // namespace guard
