// Names under which files of a project may be imported that are no paths: packages of a workspace (package.json `name`
// and `exports`), `#name` (package.json `imports`) and aliases (tsconfig.json `paths` and `baseUrl`).
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace guard {

// One name and the files that it may stand for. A `*` in the name stands for any text, and in a target for the same
// one.
struct ModuleName {
  std::string name;
  std::vector<std::string> targets;  // paths, joined to the folder of the file that says so
  std::string folder;                // of a package: all of it, where no target is known
};

struct ModuleNames {
  std::string root;  // what relative paths of checked files start from; empty: they are compared as they are
  std::vector<ModuleName> names;
};

// True for package.json, tsconfig.json and jsconfig.json.
bool tells_module_names(std::string_view file_name) noexcept;

// Appends what the text of such a file says; text that is no JSON says what can be read of it. Returns files that it
// extends, joined to its folder.
std::vector<std::string> add_module_names(std::string_view path, std::string_view text, std::vector<ModuleName>& names);

// "a/./b/../c" -> "a/c". What climbs above the beginning stays.
std::string normal_path(std::string_view path);
// `name` seen from `folder`, normalised.
std::string joined_path(std::string_view folder, std::string_view name);

}  // namespace guard
