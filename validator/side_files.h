// Files whose mere presence beside the tests changes what runs: configuration that bun loads by itself, dependencies,
// native code, secrets.
#pragma once

#include <optional>
#include <string_view>

namespace guard {

struct SideFile {
  std::string_view rule;  // id of the finding
  std::string_view title;
  std::string_view fix;
};

// By name alone; the content does not matter.
std::optional<SideFile> side_file(std::string_view path);

}  // namespace guard
