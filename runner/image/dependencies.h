// The packages a project's tests import: what package.json and the lockfile ask for, whether guard will install it, and
// the installing. Install scripts never run.
//
// Taken are the project's own workspaces, folders and archives of the project that a package.json names (file:, link:,
// portal:), and packages of a registry. What is named by a git address, a URL or a path outside is not fixed by the
// lockfile's text, and a path outside would also have to be trusted. bun.lock has an integrity hash for each package.
// Old lockfiles of npm and yarn lack some: then the version is what is fixed, and a note says so.
//
// bun.lock is read as it is. Lockfiles of other programs (and bun.lockb) are made into one by bun, in the private
// folder of the install; what comes of it has to pass the same checks.
#pragma once

#include <cstddef>
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
  std::vector<std::string>
      workspaces;  // folders with a package.json: "" (the project itself), "packages/a"; `folders` too
  std::vector<std::string> folders;   // those that are no workspaces: named by path
  std::vector<std::string> archives;  // of packages, among `files`: "vendor/a.tgz"

  // All that an entry of the lockfile may name by path.
  std::vector<std::string> places() const;
};

// Reads and checks. DEPENDENCY_UNSATISFIED where a package.json names dependencies and no lockfile holds them, or where
// one of the two asks for what guard does not install. A project without package.json has no dependencies. Of several
// lockfiles bun's counts, then that of the program which `packageManager` names.
Result<Dependencies> read_dependencies(const std::filesystem::path& project);

// The checks alone, for text from elsewhere.
struct NamedDependencies {
  bool any = false;
  std::vector<std::string> folders;  // of the project, which they name by path, relative to it
  std::vector<std::string> archives;
};
// `place`: where the package.json lies, relative to the project: "", "packages/a".
Result<NamedDependencies> named_dependencies(const std::string& package_json, const std::string& place);
// `name`: of the lockfile that the text is, or was made of. Gives the number of packages without a hash.
Result<std::size_t> check_lockfile(
    const std::string& lockfile, const std::string& name, const std::vector<std::string>& places = {""});

// Installs into `folder`, an empty private folder, which then holds node_modules, as may the workspaces in it. Nothing
// of the project but `files` is there: no .npmrc, no bunfig.toml. The person's own npm settings (in HOME and
// npm_config_*) are used. bun's cache is private too, so that every package is fetched and its integrity checked.
// DEPENDENCY_UNSATISFIED with bun's words. Gives notes for the person.
Result<std::vector<std::string>> install_dependencies(const Dependencies& dependencies,
    const std::filesystem::path& bun, const std::filesystem::path& folder, const CancelToken& cancel);

}  // namespace guard
