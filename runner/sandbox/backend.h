// The backends: one row each. What the rest of guard has to know of a backend is asked of its row, not of its name.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "common/enum_names.h"

namespace guard {

enum class Backend : std::uint8_t { docker, namespace_sandbox, host, container_use };

struct BackendRow {
  Backend backend;
  std::string_view name;   // in guard.toml, on the command line and in every document
  bool isolates;           // the program under test can reach neither the machine nor the checked files
  bool takes_image;        // runs on an image that guard makes; otherwise in the staged folder, with a bun of its own
  bool limits_resources;   // memory, processes, network and files are limited by guard, not by promise alone
  std::string_view words;  // in a sentence
};

// In the order of Backend, which is the order in which names are listed.
inline constexpr std::array<BackendRow, 4> kBackends = {{
    {Backend::docker, "docker", true, true, true, "the container engine"},
    {Backend::namespace_sandbox, "namespace", true, true, true, "the embedded sandbox"},
    {Backend::host, "host", false, false, false, "the host"},
    {Backend::container_use, "container-use", true, false, false, "container-use"},
}};

constexpr const BackendRow& backend_row(Backend backend) noexcept {
  return kBackends[static_cast<std::size_t>(backend)];
}

template <>
inline constexpr std::array<std::string_view, kBackends.size()> kNamesOf<Backend> = [] {
  std::array<std::string_view, kBackends.size()> names = {};
  for (const BackendRow& row : kBackends) names[static_cast<std::size_t>(row.backend)] = row.name;
  return names;
}();

}  // namespace guard
