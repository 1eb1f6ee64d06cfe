// What the project's bunfig.toml has bun load before each test file: happy-dom, matchers, mocks.
//
// bun would load it before guard's own script, which has to come first. So bun is given a bunfig.toml without it, and
// the files by name. They decide what every test means: they count only as HEAD has them.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "common/cancel.h"
#include "common/result.h"

namespace guard {

struct Preload {
  std::vector<std::string>
      names;  // in order, as bun is given them: "./test/setup.ts", "@happy-dom/global-registrator/register.js"
  std::vector<std::string>
      files;           // of the project: bunfig.toml, and those that `names` means; empty where nothing is preloaded
  std::string config;  // bunfig.toml without it, and without [install]
};

// CONFIG_INVALID where bunfig.toml can't be read as bun reads it, or names what is no file of the project.
Result<Preload> read_preload(const std::filesystem::path& project);

// SHA-256 in hex of each of the files. CONFIG_INVALID where one is not, byte for byte, what HEAD has at the same place
// in `committed`, a folder of a work tree, or where that can't be told. git is started only where there is one.
Result<std::map<std::string, std::string>> committed_preload(const Preload& preload,
    const std::filesystem::path& project, const std::filesystem::path& committed, const CancelToken& cancel);

// Preload::names, as they stand in a command that test_command() made.
std::vector<std::string> recorded_preload(const std::vector<std::string>& command);

// Preload::files of them.
std::vector<std::string> preloaded_files(const std::vector<std::string>& names);

}  // namespace guard
