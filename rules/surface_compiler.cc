// Runs while guard is built: runtime_api.toml, word_lists.toml, and the packages of packages.toml that are a file
// system, become the sorted table of surface.cc. Fails on unknown classes, names that stand twice, and empty lists.
//
//   surface_compiler TOML... OUT

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <span>
#include <string>
#include <utility>

#include "common/file_io.h"
#include "common/text/toml_file.h"

namespace guard {
namespace {

constexpr std::array<std::string_view, 5> kClasses = {"free", "named", "host", "docker", "always"};

using Rows = std::map<std::pair<std::string, std::string>, std::string>;

bool complain(const TomlMember& at, std::string_view sentence) {
  fmt::print(stderr, "{}\n", toml_complaint("runtime_api.toml", at.line, at.column, sentence));
  return false;
}

bool add_object(const std::string& object, const TomlValue& table, Rows& rows) {
  for (const TomlMember& list : table.members) {
    const bool known = std::find(kClasses.begin(), kClasses.end(), list.key) != kClasses.end();
    if (!known || list.value.items.empty())
      return complain(list, "a class (free, named, host, docker, always) with names is expected");
    for (const TomlValue& name : list.value.items) {
      if (!rows.emplace(std::pair(object, name.text), list.key).second) {
        return complain(list, fmt::format("{} stands twice under {}", name.text, object));
      }
    }
  }
  return true;
}

// The lists of one file.
bool add_file(const char* from, Rows& rows) {
  const auto text = read_file(from, 1u << 20);
  const auto root = text ? parse_toml(*text, from) : Result<TomlValue>(text.error());
  if (!root) {
    fmt::print(stderr, "{}\n", root.error().to_string());
    return false;
  }
  for (const TomlMember& section : root->members) {
    if (section.key == "packages" || section.key == "lists") {
      for (const TomlMember& list : section.value.members) {
        // Other lists of packages are for patterns.
        if (section.key == "packages" && list.key != "file_system") continue;
        TomlValue named;
        named.members.push_back({"named", list.line, list.column, list.value});
        if (!add_object(list.key, named, rows)) return false;
      }
    } else if (section.key != "objects") {
      if (!add_object(section.key, section.value, rows)) return false;
    } else {
      for (const TomlMember& object : section.value.members) {
        if (!add_object(object.key, object.value, rows)) return false;
      }
    }
  }
  return true;
}

int run(std::span<char*> from, const char* to) {
  Rows rows;
  for (const char* file : from) {
    if (!add_file(file, rows)) return 1;
  }
  std::string out = "constexpr SurfaceRow kSurfaceRows[] = {\n";
  for (const auto& [key, surface] : rows)
    out += fmt::format("  {{\"{}\", \"{}\", SurfaceClass::{}}},\n", key.first, key.second, surface);
  const auto written = write_file_atomically(to, out + "};\n");
  if (!written) fmt::print(stderr, "{}\n", written.error().to_string());
  return written ? 0 : 1;
}

}  // namespace
}  // namespace guard

int main(int argc, char** argv) {
  if (argc < 3) return 64;
  return guard::run(std::span(argv + 1, argv + argc - 1), argv[argc - 1]);
}
