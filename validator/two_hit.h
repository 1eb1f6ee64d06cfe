// Which environment variables may be read beside output: names that hold no secret.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace guard {

// NODE_ENV, CI, TZ and their kin.
const std::vector<std::string>& shipped_harmless_variables();

// `read` is what a hit of fact.reads_variable spans: a name, or the list of names in { A, B: c = 1 }. True if every
// name in it is harmless; false for anything that can't be told.
bool reads_only_harmless(std::string_view read, std::span<const std::string> harmless) noexcept;

}  // namespace guard
