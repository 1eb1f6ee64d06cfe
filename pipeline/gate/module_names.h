// Reads which names files of a project may be imported by, from the package.json and tsconfig.json files around checked
// files.
#pragma once

#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "validator/views/module_names.h"

namespace guard {

// Of all folders of `paths` and those above. Relative paths start from `root` (empty: the current folder). What can't
// be read gives no names, nor does a path in `absent`: then only paths and the ends of aliases tell which files load
// each other.
ModuleNames read_module_names(
    const std::filesystem::path& root, const std::vector<std::string>& paths, const std::set<std::string>& absent = {});

// The nearest folder at or above `folder` (empty: the current one) that has a .git, or else `folder`.
std::filesystem::path repository_above(const std::filesystem::path& folder);

}  // namespace guard
