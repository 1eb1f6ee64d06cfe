// Names of an enum's values, said once: to_string() and all that reads or lists such names come from one array.
//
//   enum class PullPolicy : std::uint8_t { never, missing };
//   template <>
//   inline constexpr std::array<std::string_view, 2> kNamesOf<PullPolicy> = {"never", "missing"};
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <string_view>

namespace guard {

// In the order of the enumerators, which count from 0.
template <typename Enum>
inline constexpr std::array<std::string_view, 0> kNamesOf = {};

template <typename Enum>
concept NamedEnum = kNamesOf<Enum>
.size() > 0;

template <NamedEnum Enum>
constexpr std::string_view to_string(Enum value) noexcept {
  const auto index = static_cast<std::size_t>(value);
  return index < kNamesOf<Enum>.size() ? kNamesOf<Enum>[index] : "?";
}

template <NamedEnum Enum>
constexpr std::optional<Enum> named(std::string_view name) noexcept {
  const auto found = std::find(kNamesOf<Enum>.begin(), kNamesOf<Enum>.end(), name);
  if (found == kNamesOf<Enum>.end()) return std::nullopt;
  return static_cast<Enum>(found - kNamesOf<Enum>.begin());
}

}  // namespace guard
