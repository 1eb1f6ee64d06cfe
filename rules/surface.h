// What stands behind the members of the objects and behind the modules that a runtime offers (runtime_api.toml), and
// the lists of names that guard's own code asks for (word_lists.toml).
//
// Pure look-ups in tables that the build makes; safe from any thread.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace guard {

enum class SurfaceClass : std::uint8_t {
  unlisted,  // the object or family is known, the name is not: refused
  free,
  named,  // judged by patterns
  host,
  docker,
  always,
  foreign,  // not of the surface: another object, a package
};
std::string_view to_string(SurfaceClass surface) noexcept;

// `object` is "process", "Bun", "import.meta" or "module"; any other is foreign.
SurfaceClass member_class(std::string_view object, std::string_view member) noexcept;

// A module specifier as written. Foreign: a package, a path or an address; unlisted: `node:` or `bun:` and an unknown
// name.
SurfaceClass module_class(std::string_view specifier) noexcept;

// The file system under any of the names that packages.toml lists, or a part of it: "node:fs/promises", "fs-extra/esm".
bool is_file_system(std::string_view specifier) noexcept;

// Is `function` (its last name: "spyOn") one that may be handed a root object?
bool is_free_handler(std::string_view function) noexcept;

// A name of one of the lists, beside what stands behind it.
struct SurfaceRow {
  std::string_view object;  // or list
  std::string_view name;
  SurfaceClass surface = SurfaceClass::free;
};

// Is it one of a list of word_lists.toml, letter by letter? There must be such a list.
bool is_word_of(std::string_view list, std::string_view name) noexcept;

// A list of word_lists.toml, sorted by name. There must be such a list: an empty one would let everything pass.
std::span<const SurfaceRow> word_list(std::string_view list) noexcept;

}  // namespace guard
