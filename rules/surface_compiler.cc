// Runs while guard is built: runtime_api.toml, and the packages of packages.toml that are a file system, become the
// sorted table of surface.cc. Fails on unknown classes, names that stand in two lists, and empty lists.
//
//   surface_compiler runtime_api.toml packages.toml OUT

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
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
    if (section.key == "packages") {
      const TomlValue* names = section.value.find("file_system");
      if (names == nullptr) return complain(section, "a list file_system is expected");
      for (const TomlValue& name : names->items) rows.emplace(std::pair("file_system", name.text), "named");
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

int run(const char* members, const char* packages, const char* to) {
  Rows rows;
  if (!add_file(members, rows) || !add_file(packages, rows)) return 1;
  std::string out = "constexpr SurfaceRow kSurfaceRows[] = {\n";
  for (const auto& [key, surface] : rows)
    out += fmt::format("  {{\"{}\", \"{}\", SurfaceClass::{}}},\n", key.first, key.second, surface);
  out += "};\n";
  std::FILE* file = std::fopen(to, "w");
  if (file == nullptr || std::fwrite(out.data(), 1, out.size(), file) != out.size() || std::fclose(file) != 0) {
    fmt::print(stderr, "cannot write {}\n", to);
    return 1;
  }
  return 0;
}

}  // namespace
}  // namespace guard

int main(int argc, char** argv) {
  if (argc != 4) return 64;
  return guard::run(argv[1], argv[2], argv[3]);
}
