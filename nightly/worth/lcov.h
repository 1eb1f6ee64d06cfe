// Which lines ran, as bun's lcov report says. What the tests print and write can forge it, so it is information and
// never a proof: whatever cannot be read is left out.
#pragma once

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace guard::nightly {

using CoveredLines = std::map<std::string, std::set<std::uint32_t>>;  // "src/add.ts" -> lines, from 1

// `line_counts`: the files that there are, with their lines; nothing else is taken in.
CoveredLines covered_lines(std::string_view report, const std::map<std::string, std::uint32_t>& line_counts);

std::uint64_t count_lines(const CoveredLines& lines);

// Of `lines`, those that `known` does not have.
std::uint64_t count_new_lines(const CoveredLines& lines, const CoveredLines& known);

}  // namespace guard::nightly
