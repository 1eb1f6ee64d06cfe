// The packages a project's tests import: what package.json and bun.lock ask for, whether guard will install it, and the
// installing. Install scripts never run.
//
// Only packages of a registry, each with its integrity hash in the lockfile, are taken: what is named by a path, a git
// address or a URL is not fixed by the lockfile's text, and a path would also have to be trusted.
#pragma once

#include <filesystem>
#include <string>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct Dependencies {
  std::string package_json;  // the bytes of the file
  std::string lockfile;      // the bytes of bun.lock; empty when package.json names no dependencies
};

// Reads and checks. DEPENDENCY_UNSATISFIED where package.json names dependencies and no bun.lock holds them, or where
// one of the two asks for what guard does not install. A project without package.json has no dependencies.
Result<Dependencies> read_dependencies(const std::filesystem::path& project);

// The checks alone, for text from elsewhere. `name` is what messages call it.
Result<bool> names_dependencies(const std::string& package_json, const std::string& name);
Result<void> check_lockfile(const std::string& lockfile, const std::string& name);

// Installs into `folder`, an empty private folder, which then holds node_modules. Nothing of the project but the two
// files is there: no .npmrc, no bunfig.toml. The person's own npm settings (in HOME and npm_config_*) are used. bun's
// cache is private too, so that every package is fetched and its integrity checked. DEPENDENCY_UNSATISFIED with bun's
// words.
Result<void> install_dependencies(const Dependencies& dependencies, const std::filesystem::path& bun,
                                  const std::filesystem::path& folder, const CancelToken& cancel);

}  // namespace guard
