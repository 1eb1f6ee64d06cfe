#include "rules/surface.h"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <iterator>
#include <utility>

namespace guard {
namespace {

// kSurfaceRows, sorted.
#include "rules/surface_table.inc"

// The first row that does not stand before this one.
const SurfaceRow* place_of(std::string_view object, std::string_view name) noexcept {
  return std::lower_bound(std::begin(kSurfaceRows), std::end(kSurfaceRows), std::pair(object, name),
      [](const SurfaceRow& row, const auto& sought) { return std::pair(row.object, row.name) < sought; });
}

SurfaceClass find(std::string_view object, std::string_view name, SurfaceClass otherwise) noexcept {
  const SurfaceRow* const place = place_of(object, name);
  return place != std::end(kSurfaceRows) && place->object == object && place->name == name ? place->surface : otherwise;
}

}  // namespace

std::string_view to_string(SurfaceClass surface) noexcept {
  constexpr std::array<std::string_view, 7> kNames = {
      "unlisted", "free", "named", "host", "docker", "always", "foreign"};
  return kNames[static_cast<std::size_t>(surface)];
}

SurfaceClass member_class(std::string_view object, std::string_view member) noexcept {
  const bool known = object == "process" || object == "Bun" || object == "import.meta" || object == "module";
  // Many things are called module; only what is known of Node's is judged.
  const SurfaceClass otherwise = object == "module" ? SurfaceClass::foreign : SurfaceClass::unlisted;
  return known ? find(object, member, otherwise) : SurfaceClass::foreign;
}

SurfaceClass module_class(std::string_view specifier) noexcept {
  const bool node = specifier.substr(0, 5) == "node:";
  const bool bun = specifier.substr(0, 4) == "bun:";
  return find(
      "modules", node ? specifier.substr(5) : specifier, node || bun ? SurfaceClass::unlisted : SurfaceClass::foreign);
}

bool is_file_system(std::string_view specifier) noexcept {
  for (const std::string_view prefix : {"node:", "npm:"}) {
    if (specifier.starts_with(prefix)) specifier.remove_prefix(prefix.size());
  }
  while (find("file_system", specifier, SurfaceClass::foreign) == SurfaceClass::foreign) {
    const std::size_t slash = specifier.rfind('/');
    if (slash == std::string_view::npos) return false;
    specifier = specifier.substr(0, slash);
  }
  return true;
}

bool is_free_handler(std::string_view function) noexcept {
  return find("handlers", function, SurfaceClass::foreign) == SurfaceClass::free;
}

std::span<const SurfaceRow> word_list(std::string_view list) noexcept {
  const auto by_object = [](const SurfaceRow& a, const SurfaceRow& b) { return a.object < b.object; };
  const auto [first, last] =
      std::equal_range(std::begin(kSurfaceRows), std::end(kSurfaceRows), SurfaceRow{list, {}}, by_object);
  if (first == last) std::abort();
  return {first, last};
}

bool is_word_of(std::string_view list, std::string_view name) noexcept {
  const SurfaceRow* const place = place_of(list, name);
  if (place != std::end(kSurfaceRows) && place->object == list) return place->name == name;
  if (place == std::begin(kSurfaceRows) || std::prev(place)->object != list) std::abort();  // no such list
  return false;
}

}  // namespace guard
